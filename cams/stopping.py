"""A command that is told to stop ends in order: what is half-written is removed, and its exit code says so."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt
