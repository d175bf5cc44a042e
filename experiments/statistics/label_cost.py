"""Learners compared at the same number of labels actually bought, and labels needed to reach a loss.

A learner's budgets give one curve: mean labels bought against mean errors over realizations. Learners
stop buying at different costs, so two curves are compared only over the range of costs that both reach.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Curve(NamedTuple):
    """Mean labels bought (B,), strictly ascending, and the mean errors (B,) they go with."""

    cost: Array
    loss: Array


def mean_curve(queries: npt.ArrayLike, loss: npt.ArrayLike, weights: Array | None = None) -> Curve:
    """Return the curve of queries and loss (B, R), realizations weighted by weights (R,) that sum to 1.

    Rounded, so that the order in which this machine's linear algebra adds does not show.
    """
    bought, errors = np.asarray(queries, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if weights is None:
        weights = np.full(bought.shape[1], 1 / bought.shape[1])
    cost, mean = np.round(bought @ weights, 9), np.round(errors @ weights, 9)
    # A learner that has stopped buying repeats its last point at every larger budget: keep the first.
    new = np.ones(len(cost), dtype=np.bool_)
    new[1:] = cost[1:] > cost[:-1]
    return Curve(cost[new], mean[new])


def common_costs(first: Curve, second: Curve, points: int) -> Array:
    """Return evenly spaced costs (points,) over the range both curves reach, or none if they do not
    overlap."""
    low, high = max(first.cost[0], second.cost[0]), min(first.cost[-1], second.cost[-1])
    return np.linspace(low, high, points) if high > low else np.empty(0)


def equal_cost_gaps(first: Curve, second: Curve, points: int) -> tuple[Array, Array]:
    """Return common costs (points,) and errors of the first curve minus those of the second there."""
    costs = common_costs(first, second, points)
    gap = np.interp(costs, first.cost, first.loss) - np.interp(costs, second.cost, second.loss)
    return costs, gap


def mean_gap(first: Curve, second: Curve, points: int) -> float:
    """Return the mean over the common costs of first minus second, NaN if there are none."""
    costs, gap = equal_cost_gaps(first, second, points)
    return float(np.trapezoid(gap, costs) / (costs[-1] - costs[0])) if len(costs) else float("nan")


def area_between(first: Curve, second: Curve, points: int) -> float:
    """Return the signed area between the curves over their common costs, in errors times labels."""
    costs, gap = equal_cost_gaps(first, second, points)
    return float(np.trapezoid(gap, costs)) if len(costs) else float("nan")


def gap_at(first: Curve, second: Curve, cost: float) -> float:
    """Return first minus second at one cost, NaN where one of them does not reach it."""
    inside = all(curve.cost[0] <= cost <= curve.cost[-1] for curve in (first, second))
    if not inside:
        return float("nan")
    return float(np.interp(cost, first.cost, first.loss) - np.interp(cost, second.cost, second.loss))


def leading_ranges(first: Curve, second: Curve, points: int) -> list[tuple[float, float]]:
    """Return the stretches of the common cost axis, as (from, to), on which the first curve has less loss."""
    costs, gap = equal_cost_gaps(first, second, points)
    ahead = np.concatenate([[False], gap < 0, [False]])
    starts, ends = np.flatnonzero(~ahead[:-1] & ahead[1:]), np.flatnonzero(ahead[:-1] & ~ahead[1:]) - 1
    return [(float(costs[start]), float(costs[end])) for start, end in zip(starts, ends, strict=True)]


def share_leading(first: Curve, second: Curve, points: int) -> float:
    """Return the share of the common cost axis on which the first curve has less loss."""
    _, gap = equal_cost_gaps(first, second, points)
    return float((gap < 0).mean()) if len(gap) else float("nan")


def labels_to_reach(curve: Curve, target: float) -> float:
    """Return the least cost at which the curve is at or below the target, interpolated; infinite if never."""
    reached = np.flatnonzero(curve.loss <= target)
    if len(reached) == 0:
        return float("inf")
    after = int(reached[0])
    if after == 0:
        return float(curve.cost[0])
    before = after - 1
    share = (curve.loss[before] - target) / (curve.loss[before] - curve.loss[after])
    return float(curve.cost[before] + share * (curve.cost[after] - curve.cost[before]))
