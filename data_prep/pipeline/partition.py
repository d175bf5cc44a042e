"""Dividing rows so that copies of one row never end up on two sides."""

from collections.abc import Sequence

import numpy as np

from cams.errors import InputError


def duplicate_clusters(rows: np.ndarray) -> np.ndarray:
    """Give equal rows equal cluster ids: (M, d) or (M,) to (M,) int."""
    _, clusters = np.unique(np.ascontiguousarray(rows), axis=0, return_inverse=True)
    return clusters.reshape(-1)


def divide(clusters: np.ndarray, sizes: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Draw disjoint parts of exactly the given sizes at random, every cluster whole in at most one part.

    A cluster that no longer fits into the current part is passed over and offered to the next ones.
    """
    if sum(sizes) > len(clusters):
        raise InputError(f"a split of {list(sizes)} rows was asked for, but there are only {len(clusters)}")
    members = np.argsort(clusters, kind="stable")
    counts = np.bincount(clusters)
    starts = np.cumsum(counts) - counts
    waiting = rng.permutation(np.flatnonzero(counts))
    parts = []
    for size in sizes:
        taken = fill(counts[waiting], size)
        rows = [members[starts[c] : starts[c] + counts[c]] for c in waiting[taken]]
        parts.append(np.sort(np.concatenate(rows)) if rows else np.empty(0, dtype=np.int64))
        waiting = waiting[~taken]
    return parts


def fill(counts: np.ndarray, size: int) -> np.ndarray:
    """Mark items in order, passing over those that no longer fit, until they add up to `size` exactly."""
    taken = np.zeros(len(counts), dtype=bool)
    left = size
    # Almost every item counts 1, so a whole run is taken at once up to the first that does not fit.
    position = 0
    while left > 0 and position < len(counts):
        run = np.cumsum(counts[position:])
        fits = int(np.searchsorted(run, left, side="right"))
        taken[position : position + fits] = True
        left -= int(run[fits - 1]) if fits else 0
        position += fits + 1
    if left:
        raise InputError(f"duplicated rows leave no way to draw exactly {size} rows")
    return taken
