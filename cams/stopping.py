"""A command ends in order: what is half-written is removed, what it says can be printed, its exit code says how."""

from __future__ import annotations

import errno
import io
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


def prepare_output() -> None:
    """Let what is printed be printed: letters that an output does not have are spelt out, and words for an error
    output that is closed go nowhere, where they, or a progress bar, would be an error themselves."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        # For processes that this one starts.
        os.set_inheritable(sys.stderr.fileno(), True)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def flush_output() -> None:
    """Print what is left to print; an output that is full, gone or closed is an `OSError`, at the latest here."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    sys.stdout.flush()


def forget_output() -> None:
    """Print nowhere from now on: Python would complain at its end of a reader that is gone."""
    if sys.stdout is None:
        return
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt
