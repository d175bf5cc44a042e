"""Randomness of torch, in one place: inside these blocks everything follows from the seed."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed: int, threads: int = 1) -> Iterator[None]:
    """Initial weights, batches and dropout follow from the seed; the caller's torch state comes back afterwards.

    The number of threads is fixed too, because the order of sums, and so their last digits, depends on it.
    """
    previous = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(previous)


@contextmanager
def reproducible(seed: int, threads: int = 1) -> Iterator[None]:
    """As `seeded`, with deterministic kernels alone."""
    previous = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        with seeded(seed, threads):
            yield
    finally:
        torch.use_deterministic_algorithms(previous)
