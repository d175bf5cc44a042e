"""A command that is told to stop ends in order: what is half-written is removed, and its exit code says so."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

INTERRUPTED = 130


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, the word of batch systems and of `timeout`, end a block as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def forget_output() -> None:
    """Print nowhere from now on: Python would complain at its end of a reader that is gone."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt
