"""One queue for everything that is to be computed, so that no core idles while another is busy.

A work is opened (its bundle is loaded and prepared), falls into pieces that run side by side, and is closed. Workers
are threads: compiled code runs without Python's lock. They take the pieces of the oldest open work first and open the
next only when none is left, so that few works, and few bundles, are open at a time.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from tqdm import tqdm

Piece = Callable[[], object]

# A worker opens the next work while others finish the last pieces of the one before.
MOST_OPEN = 3


class Work(Protocol):
    """Something to compute; `size` is the number of its rounds, for the progress display."""

    size: int

    def open(self) -> Sequence[Piece]:
        """Make ready, and return what can run side by side."""

    def close(self) -> Any:
        """Return the result, once all pieces have run, and let go of what was needed for it."""


class Finished(NamedTuple):
    """A work that is done or given up, the seconds that workers spent on it, and its result or what went wrong."""

    work: Any
    seconds: float
    result: Any
    error: Exception | None


class _Open:
    """A work that was opened: how many of its pieces are not yet done."""

    def __init__(self, work: Work) -> None:
        self.work, self.seconds, self.left, self.pieces = work, 0.0, 0, 0
        self.result: Any = None
        self.error: Exception | None = None


def work_off(works: Sequence[Work], workers: int, progress: bool | None = False) -> Iterator[Finished]:
    """Yield every work as it is finished; one that fails is yielded with its error, and the others go on.

    Who stops asking (an interruption, say) stops the workers too, after the pieces that they are at.
    """
    total = sum(work.size for work in works)
    silent = None if progress is None else not progress
    with tqdm(total=total, desc="replay", unit="round", unit_scale=True, disable=silent, leave=False) as bar:
        state = _Queue(works, bar)
        for _ in range(min(workers, max(total, len(works)))):
            # Daemons, so that an interrupted program need not wait for them.
            threading.Thread(target=state.serve, daemon=True).start()
        try:
            for _ in works:
                yield state.finished.get()
        finally:
            state.stop()


class _Queue:
    """What the workers share; every field but `finished` is read and written under the lock."""

    def __init__(self, works: Sequence[Work], bar: tqdm[Any]) -> None:
        self.waiting, self.ready = deque(works), deque[tuple[_Open, Piece]]()
        self.open, self.bar, self.stopped = 0, bar, False
        self.changed = threading.Condition()
        self.finished: queue.SimpleQueue[Finished] = queue.SimpleQueue()

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def serve(self) -> None:
        """Take one task after another until there is none."""
        while task := self._next():
            task()

    def _next(self) -> Callable[[], None] | None:
        with self.changed:
            while not self.stopped:
                if self.ready:
                    opened, piece = self.ready.popleft()
                    return lambda: self._run(opened, piece)
                if self.waiting and self.open < MOST_OPEN:
                    self.open += 1
                    opened = _Open(self.waiting.popleft())
                    return lambda: self._start(opened)
                if not self.waiting and not self.open:
                    break
                self.changed.wait()
        return None

    def _start(self, opened: _Open) -> None:
        pieces = _timed(opened, opened.work.open) or []
        with self.changed:
            opened.left = opened.pieces = len(pieces)
            self.ready.extend((opened, piece) for piece in pieces)
            self.changed.notify_all()
        if not pieces:
            self._finish(opened)

    def _run(self, opened: _Open, piece: Piece) -> None:
        if opened.error is None:
            _timed(opened, piece)
        with self.changed:
            opened.left -= 1
            self.bar.update(opened.work.size / opened.pieces)
            last = opened.left == 0
        if last:
            self._finish(opened)

    def _finish(self, opened: _Open) -> None:
        if opened.error is None:
            opened.result = _timed(opened, opened.work.close)
        self.finished.put(Finished(opened.work, opened.seconds, opened.result, opened.error))
        with self.changed:
            self.open -= 1
            self.changed.notify_all()


def _timed(opened: _Open, step: Callable[[], Any]) -> Any:
    """Return what a step of a work returns, None if it fails, and note its time and its error."""
    start = time.perf_counter()
    try:
        return step()
    except Exception as error:
        opened.error = opened.error or error
        return None
    finally:
        opened.seconds += time.perf_counter() - start
