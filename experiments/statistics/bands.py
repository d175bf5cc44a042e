"""Bands over realizations, and the grids of budgets and rounds on which learners are recorded.

R is the number of realizations. A band is always Student's t interval of the mean over realizations, 90 % unless told
otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cams.outcome import CONFIDENCE, confidence_band

Array = npt.NDArray[np.float64]


class Band(NamedTuple):
    """Mean and confidence limits, each shaped like the input without its realizations axis."""

    mean: Array
    low: Array
    high: Array


def band(values: npt.ArrayLike, confidence: float = CONFIDENCE, axis: int = -1) -> Band:
    """Return the Student t band of the mean of values (..., R) over realizations.

    One realization says nothing about spread: its band is the value itself.
    """
    sample = np.moveaxis(np.asarray(values, dtype=np.float64), axis, -1)
    return Band(sample.mean(axis=-1), *confidence_band(sample, confidence))


def budget_grid(budget: int, points: int, power: float = 2.0) -> list[int]:
    """Return 0 and at most `points` budgets up to `budget`, dense where curves bend: budget * (i / points)^power."""
    return [0, *_dense_at_first(budget, points, power)]


def round_grid(horizon: int, points: int) -> list[int]:
    """Return at most `points` rounds in 1..horizon, quadratically spaced like the budgets, ending at horizon."""
    return _dense_at_first(horizon, points, 2.0)


def _dense_at_first(last: int, points: int, power: float) -> list[int]:
    steps = np.arange(1, points + 1) / points
    return sorted({max(1, round(last * step**power)) for step in steps})
