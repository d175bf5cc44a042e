"""Numbers from arrays: bands over realizations, paired differences, loss at equal cost.

Shapes: R realizations, B budgets, G rounds at which something was recorded. Nothing here reads files or
draws; a band is always Student's t interval of the mean over realizations, 90 % unless told otherwise.
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


def paired_difference(first: npt.ArrayLike, second: npt.ArrayLike, confidence: float = CONFIDENCE) -> Band:
    """Return the band of mean(first - second), both (..., R).

    The learners of one realization share its stream and its coins, so what is common to both cancels and
    the band is much narrower than the two separate ones suggest.
    """
    return band(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64), confidence)


def loss_at_cost(queries: npt.ArrayLike, loss: npt.ArrayLike, costs: npt.ArrayLike) -> Array:
    """Return the loss (C, R) a learner has at given mean costs (C,), from queries and loss (B, R).

    Budgets are turned into mean labels bought, and every realization's loss is interpolated linearly
    between the two nearest budgets. NaN below the cheapest and above the dearest budget: a learner that
    stops buying has no loss at a cost it never reaches.
    """
    cost = np.asarray(queries, dtype=np.float64).mean(axis=1)
    losses = np.asarray(loss, dtype=np.float64)
    # A learner that has stopped buying repeats its last cost at every larger budget: keep the first.
    cost, first = np.unique(cost, return_index=True)
    wanted = np.asarray(costs, dtype=np.float64)
    columns = [np.interp(wanted, cost, column, left=np.nan, right=np.nan) for column in losses[first].T]
    return np.stack(columns, axis=-1)


def cost_to_reach(queries: npt.ArrayLike, loss: npt.ArrayLike, target: float) -> float:
    """Return the least mean number of labels at which the mean loss is at most target, or infinity.

    queries and loss are (B, R), budgets ascending; between two budgets the mean loss is taken as linear.
    """
    cost = np.asarray(queries, dtype=np.float64).mean(axis=1)
    mean = np.asarray(loss, dtype=np.float64).mean(axis=1)
    reached = np.flatnonzero(mean <= target)
    if len(reached) == 0:
        return float("inf")
    i = int(reached[0])
    if i == 0 or mean[i] == mean[i - 1]:
        return float(cost[i])
    share = (mean[i - 1] - target) / (mean[i - 1] - mean[i])
    return float(cost[i - 1] + share * (cost[i] - cost[i - 1]))


def best_in_hindsight(final_loss: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """Return for each realization (R,) which of the candidates (R, k) lost least, the first if several did."""
    return np.asarray(final_loss).argmin(axis=1)


def relative_loss(loss: npt.ArrayLike, best_loss: npt.ArrayLike) -> Array:
    """Return the loss (..., R, G) less that of the realization's best classifier (R, G)."""
    return np.asarray(loss, dtype=np.float64) - np.asarray(best_loss, dtype=np.float64)


def budget_grid(budget: int, points: int, power: float = 2.0) -> list[int]:
    """Return 0 and at most `points` budgets up to `budget`, dense where curves bend: budget * (i / points)^power."""
    return [0, *_dense_at_first(budget, points, power)]


def round_grid(horizon: int, points: int) -> list[int]:
    """Return at most `points` rounds in 1..horizon, quadratically spaced like the budgets, ending at horizon."""
    return _dense_at_first(horizon, points, 2.0)


def _dense_at_first(last: int, points: int, power: float) -> list[int]:
    steps = np.arange(1, points + 1) / points
    return sorted({max(1, round(last * step**power)) for step in steps})
