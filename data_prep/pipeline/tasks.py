"""Many tasks side by side: in processes of this machine, or on the workers that somebody has put in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed

Result = TypeVar("Result")
Job = tuple[Any, ...]


class Workers(Protocol):
    """Workers elsewhere: how many tasks they run at a time, and how to have tasks run."""

    def width(self) -> int: ...

    def run(self, function: Callable[..., Result], jobs: Sequence[Job]) -> Iterator[Result]: ...


_elsewhere: list[Workers] = []


@contextmanager
def sent_to(workers: Workers) -> Iterator[None]:
    """Have the tasks of this block run by other workers."""
    _elsewhere.append(workers)
    try:
        yield
    finally:
        _elsewhere.remove(workers)


def width_elsewhere() -> int:
    """Return how many tasks run elsewhere at a time, 0 where all run on this machine."""
    return _elsewhere[-1].width() if _elsewhere else 0


def in_parallel(function: Callable[..., Result], jobs: Sequence[Job], n_jobs: int) -> Iterator[Result]:
    """Yield function(*job) for every job, in their order; results do not depend on where and in how many processes."""
    if _elsewhere:
        return _elsewhere[-1].run(function, jobs)
    results: Iterator[Result] = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(*job) for job in jobs)
    return results
