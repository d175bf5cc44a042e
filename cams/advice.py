"""Checking advice (N, n, k): every row [i, p] must be a distribution over the classifiers, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.checks import as_array
from cams.errors import InputError

Array = npt.NDArray[Any]

# Rows of advice whose sum is off by more than this are wrong, not rounded.
SUM_TOLERANCE = 0.01
# Rows checked at a time: large enough to be fast, small enough not to need a second copy of the advice.
CHUNK_ROWS = 256


def working_dtype(stored: np.dtype[Any]) -> type[np.float32 | np.float64]:
    """Return the precision in which stored advice is worked with."""
    return np.float64 if stored.kind == "f" and stored.itemsize >= 8 else np.float32


def copy_of(given: npt.ArrayLike) -> Array:
    """Return advice as a new array in its working precision."""
    if isinstance(given, list | tuple) and any(hasattr(one, "columns") for one in given):
        raise InputError("advice is a list of tables, whose names nobody would look at, expected arrays (n, k)")
    array = as_array("advice", given)
    if array.dtype.kind not in "fiu":
        raise InputError(f"advice has type {array.dtype}, expected real numbers")
    return np.array(array, dtype=working_dtype(array.dtype), order="C")


def normalise(pi: Array, policy_names: Sequence[str]) -> None:
    """Check advice (N, n, k) and make every row sum to 1 as exactly as its precision allows, in place."""
    exact = 4 * float(np.finfo(pi.dtype).eps)
    off = [start for start, part in _chunks(pi) if largest_deviation(part, policy_names, start) > exact]
    # All or none: which rows are divided must not depend on how they are cut into chunks.
    if off:
        for _, part in _chunks(pi):
            divide(part)


def divide(part: Array) -> None:
    """Divide every row of advice by its sum, in place."""
    part /= part.sum(axis=2, dtype=np.float64, keepdims=True)


def _chunks(pi: Array) -> Iterator[tuple[int, Array]]:
    for start in range(0, len(pi), CHUNK_ROWS):
        yield start, pi[start : start + CHUNK_ROWS]


def largest_deviation(part: Array, policy_names: Sequence[str], start: int) -> float:
    """Return how far a sum of these rows, from `start` on, is from 1 at most; refuse what is no distribution."""
    if part.size == 0:
        return 0.0
    with np.errstate(over="ignore"):  # a sum that overflows is refused below
        sums = part.sum(axis=2, dtype=np.float64)
    if not (np.isfinite(part).all() and part.min() >= 0):
        i, p, j = np.argwhere(~np.isfinite(part) | (part < 0))[0]
        raise InputError(
            f"advice[{start + i}, {p}, {j}] is {part[i, p, j]:g}, expected a probability (policy '{policy_names[p]}')"
        )
    deviations = np.abs(sums - 1)
    if deviations.max() > SUM_TOLERANCE:
        i, p = np.argwhere(deviations > SUM_TOLERANCE)[0]
        raise InputError(f"advice[{start + i}, {p}] sums to {sums[i, p]:.4g}, expected 1 (policy '{policy_names[p]}')")
    return float(deviations.max())
