"""The statistics that conf/claims.yaml names: each takes evidence and a check, and returns a measure.

A measure is a function of weights over realizations, so that one bootstrap serves them all and differences between
learners stay paired. `STATISTICS` says beside each how its value is to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from experiments.claims.evidence import Array, Evidence, Measure, TooLittle
from experiments.statistics.bands import band
from experiments.statistics.label_cost import common_costs, gap_at, labels_to_reach, mean_gap

Check = Mapping[str, Any]


def equal_cost_difference(evidence: Evidence, check: Check) -> Measure:
    """Errors of the learner minus the baseline's, averaged over the costs that both reach."""
    first, second, points = check["learner"], check["baseline"], check["points"]
    return lambda weights: mean_gap(evidence.curve(first, weights), evidence.curve(second, weights), points)


def relative_equal_cost_difference(evidence: Evidence, check: Check) -> Measure:
    """The same as a share of the baseline's mean errors over these costs."""
    first, second, points = check["learner"], check["baseline"], check["points"]

    def measure(weights: Array) -> float:
        mine, other = evidence.curve(first, weights), evidence.curve(second, weights)
        level = np.interp(common_costs(mine, other, points), other.cost, other.loss).mean()
        return mean_gap(mine, other, points) / float(level)

    return measure


def difference_at_cost(evidence: Evidence, check: Check) -> Measure:
    """Errors of the learner minus the baseline's at one number of labels."""
    first, second, cost = check["learner"], check["baseline"], check["cost"]
    return lambda weights: gap_at(evidence.curve(first, weights), evidence.curve(second, weights), cost)


def best_baseline(evidence: Evidence, baselines: list[str]) -> str:
    """Return the baseline with the least mean errors at its full budget."""
    return min(baselines, key=lambda name: float(evidence.errors(name).mean()))


def label_ratio_to_match(evidence: Evidence, check: Check) -> Measure:
    """Labels the learner needs for the final loss of the best baseline, over those that this baseline needs."""
    learner, best = check["learner"], best_baseline(evidence, check["baselines"])

    def measure(weights: Array) -> float:
        theirs = evidence.curve(best, weights)
        target = float(theirs.loss[-1])
        return labels_to_reach(evidence.curve(learner, weights), target) / labels_to_reach(theirs, target)

    return measure


def fewest_labels_ratio(evidence: Evidence, check: Check) -> Measure:
    """Mean labels the learner buys at the full budget, over those of the baseline that buys fewest."""
    learner, baselines = check["learner"], check["baselines"]
    mine = evidence.labels(learner)
    others = np.stack([evidence.labels(name) for name in baselines])
    return lambda weights: float(mine @ weights / (others @ weights).min())


def label_ratio(evidence: Evidence, check: Check) -> Measure:
    """Mean labels of the learner over those of the baseline, at the full budget."""
    mine, others = (evidence.labels(check[who]) for who in ("learner", "baseline"))
    return lambda weights: float(mine @ weights / (others @ weights))


def label_saving(evidence: Evidence, check: Check) -> Measure:
    """One minus the ratio of labels."""
    ratio = label_ratio(evidence, check)
    return lambda weights: 1 - ratio(weights)


def share_within_bands(evidence: Evidence, check: Check) -> Measure:
    """Share of the common cost axis on which each learner's mean lies inside the other's 90 % band."""
    first, second, points = check["learner"], check["baseline"], check["points"]

    def limits(name: str, weights: Array, costs: Array) -> tuple[Array, Array, Array]:
        curve = evidence.curve(name, weights)
        queries, loss = evidence.runs(name)
        _, kept = np.unique(np.round(queries @ weights, 9), return_index=True)
        low, high = band(loss[kept])[1:]
        return tuple(np.interp(costs, curve.cost, values) for values in (curve.loss, low, high))  # type: ignore

    def measure(weights: Array) -> float:
        costs = common_costs(evidence.curve(first, weights), evidence.curve(second, weights), points)
        mine, theirs = limits(first, weights, costs), limits(second, weights, costs)
        inside = (theirs[1] <= mine[0]) & (mine[0] <= theirs[2]) & (mine[1] <= theirs[0]) & (theirs[0] <= mine[2])
        return float(inside.mean())

    return measure


def final_difference(evidence: Evidence, check: Check) -> Measure:
    """Errors of the learner minus the reference's at the full budget, on the same realizations."""
    difference = evidence.errors(check["learner"]) - evidence.errors(check["reference"])
    return lambda weights: float(difference @ weights)


def relative_final_difference(evidence: Evidence, check: Check) -> Measure:
    """The same as a share of the reference's errors."""
    mine, other = evidence.errors(check["learner"]), evidence.errors(check["reference"])
    return lambda weights: float((mine - other) @ weights / (other @ weights))


def excess_over_best_classifier(evidence: Evidence, check: Check) -> Measure:
    """Errors above those of the best single classifier, as a share of these."""
    return relative_final_difference(evidence, {**check, "reference": "best_classifier"})


def share_of_gap_closed(evidence: Evidence, check: Check) -> Measure:
    """How much of the way from the baseline's errors down to the best classifier's the learner goes."""
    mine, trapped = evidence.errors(check["learner"]), evidence.errors(check["baseline"])
    best = evidence.errors("best_classifier")

    def measure(weights: Array) -> float:
        gap = float((trapped - best) @ weights)
        # Nothing to close: the learner that should be trapped is not.
        return float((trapped - mine) @ weights) / gap if gap > 0 else float("nan")

    return measure


def largest_ratio_to_bound(evidence: Evidence, check: Check) -> Measure:
    """Measured regret (or labels) over its bound, where this is largest over cases and horizons."""
    quantity = check["quantity"]
    rows = evidence.bounded()
    by = {"index": ["case", "round"], "columns": "realization"}
    measured = rows.pivot_table(values=quantity, observed=True, **by).to_numpy(dtype=np.float64)
    bound = rows.pivot_table(values=f"{quantity}_bound", observed=True, **by).to_numpy(dtype=np.float64)
    return lambda weights: float(((measured @ weights) / (bound @ weights)).max())


def exponents(evidence: Evidence) -> dict[str, Measure]:
    """Return for each case the slope of log mean regret against log T, over the horizons marked for the fit."""
    rows = evidence.bounded()
    slopes: dict[str, Measure] = {}
    for case, group in rows[rows["fitted"]].groupby("case", observed=True):
        regret = group.pivot(index="round", columns="realization", values="regret").sort_index()
        log_t, values = np.log(regret.index.to_numpy(dtype=np.float64)), regret.to_numpy(dtype=np.float64)
        slopes[str(case)] = lambda weights, x=log_t, y=values: float(np.polyfit(x, np.log(y @ weights), 1)[0])
    return slopes


def regret_exponent(evidence: Evidence, check: Check) -> Measure:
    """The largest of these slopes over cases."""
    slopes = exponents(evidence)
    if not slopes:
        raise TooLittle("no horizon of the record is long enough for the fit")
    return lambda weights: max(slope(weights) for slope in slopes.values())


class Statistic(NamedTuple):
    make: Callable[[Evidence, Check], Measure]
    unit: str
    template: str


STATISTICS: dict[str, Statistic] = {
    "equal_cost_difference": Statistic(
        equal_cost_difference, "errors", "{learner} minus {baseline}, mean errors at equal cost"
    ),
    "relative_equal_cost_difference": Statistic(
        relative_equal_cost_difference, "share", "{learner} minus {baseline} at equal cost, relative"
    ),
    "difference_at_cost": Statistic(
        difference_at_cost, "errors", "{learner} minus {baseline}, errors at {cost} labels"
    ),
    "label_ratio_to_match": Statistic(
        label_ratio_to_match, "share", "labels {learner} needs for the best baseline's loss, of that baseline's"
    ),
    "fewest_labels_ratio": Statistic(
        fewest_labels_ratio, "share", "labels of {learner}, of those of the baseline that buys fewest"
    ),
    "label_ratio": Statistic(label_ratio, "share", "labels of {learner}, of those of {baseline}"),
    "label_saving": Statistic(label_saving, "share", "labels {learner} saves against {baseline}, budget {budget}"),
    "share_within_bands": Statistic(
        share_within_bands, "share", "cost axis on which {learner} and {baseline} are in each other's bands"
    ),
    "final_difference": Statistic(final_difference, "errors", "{learner} minus {reference}, errors at full budget"),
    "relative_final_difference": Statistic(
        relative_final_difference, "share", "{learner} minus {reference} at full budget, relative"
    ),
    "excess_over_best_classifier": Statistic(
        excess_over_best_classifier, "share", "{learner} above the best classifier, relative"
    ),
    "share_of_gap_closed": Statistic(
        share_of_gap_closed, "share", "way from {baseline} to the best classifier that {learner} goes"
    ),
    "largest_ratio_to_bound": Statistic(largest_ratio_to_bound, "ratio", "largest measured {quantity} over its bound"),
    "regret_exponent": Statistic(regret_exponent, "ratio", "exponent of regret in the horizon"),
}
