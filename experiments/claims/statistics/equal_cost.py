"""Two learners compared where they have bought the same number of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

import cams
from experiments.claims.evidence import Array, Evidence, Measure
from experiments.claims.statistics.base import (
    Check,
    Statistic,
    at_full_budget,
    labels,
    percent,
    title,
    two_curves,
)
from experiments.statistics.bands import band
from experiments.statistics.label_cost import (
    Curve,
    area_between,
    common_costs,
    equal_cost_gaps,
    gap_at,
    leading_ranges,
    mean_gap,
    share_leading,
)


def difference(evidence: Evidence, check: Check) -> Measure:
    """Errors of the learner minus the baseline's, averaged over the costs that both reach."""
    first, second, points = check["learner"], check["baseline"], check["points"]
    return lambda weights: mean_gap(evidence.curve(first, weights), evidence.curve(second, weights), points)


def relative_difference(evidence: Evidence, check: Check) -> Measure:
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


def share_within_bands(evidence: Evidence, check: Check) -> Measure:
    """Share of the common cost axis on which each learner's mean lies inside the other's 90 % band."""
    first, second, points = check["learner"], check["baseline"], check["points"]

    def limits(name: str, weights: Array, costs: Array) -> list[Array]:
        curve = evidence.curve(name, weights)
        queries, loss = evidence.runs(name)
        _, kept = np.unique(np.round(queries @ weights, 9), return_index=True)
        low, high = band(loss[kept])[1:]
        return [np.interp(costs, curve.cost, values) for values in (curve.loss, low, high)]

    def measure(weights: Array) -> float:
        costs = common_costs(evidence.curve(first, weights), evidence.curve(second, weights), points)
        mine, theirs = limits(first, weights, costs), limits(second, weights, costs)
        inside = (theirs[1] <= mine[0]) & (mine[0] <= theirs[2]) & (mine[1] <= theirs[0]) & (theirs[0] <= mine[2])
        return float(inside.mean())

    return measure


def who_leads_where(evidence: Evidence, check: Check) -> dict[str, Any]:
    """Where on the cost axis the learner leads, and the area between the curves."""
    mine, other = two_curves(evidence, check)
    points = check["points"]
    low, high = max(mine.cost[0], other.cost[0]), min(mine.cost[-1], other.cost[-1])
    share, area = share_leading(mine, other, points), area_between(mine, other, points)
    note = f"labels {low:,.0f} to {high:,.0f}: leads on {percent(share)}, area {area:,.0f}"
    return {
        "note": note if high > low else "no common cost",
        "common_costs": [float(low), float(high)],
        "share_leading": share,
        "leading_ranges": leading_ranges(mine, other, points),
        "area": area,
    }


def _what_context_is_worth(evidence: Evidence) -> str:
    """The best policy against the best classifier: the room that contextual learners have."""
    try:
        policy, classifier = evidence.errors("best_policy").mean(), evidence.errors("best_classifier").mean()
    except cams.InputError:
        return ""
    return f" The best policy alone makes {policy:,.1f} errors, the best classifier {classifier:,.1f}."


def _what_bad_advice_costs(evidence: Evidence, check: Check, mine: Curve, other: Curve) -> str:
    """Why a learner with policies starts behind one without: what both do before any label, and who advises."""
    bad, good = evidence.policy_errors(bad=True), evidence.policy_errors(bad=False)
    starts_behind = mine.cost[0] == other.cost[0] == 0 and mine.loss[0] > other.loss[0]
    if not (starts_behind and len(bad) and len(good) and evidence.starts_even(check["learner"])):
        return ""
    classifiers = evidence.classifier_errors()
    costs, gap = equal_cost_gaps(mine, other, check["points"])
    caught_up = np.flatnonzero(gap <= 0)
    last = f" up to {labels(costs[caught_up[0] - 1])}" if len(caught_up) else ""
    return (
        f" With no label {title(check['learner'])} makes {mine.loss[0]:,.1f} errors and {title(check['baseline'])} "
        f"{other.loss[0]:,.1f}, and it stays behind{last}: it first gives the same weight to {len(bad)} malicious or "
        f"random policies ({bad.mean():,.1f} errors each on average), {len(good)} others ({good.mean():,.1f}) and "
        f"{len(classifiers)} classifiers ({classifiers.mean():,.1f}), and needs labels to tell them apart."
    )


def analyse_difference(evidence: Evidence, check: Check) -> str:
    mine, other = two_curves(evidence, check)
    costs, gap = equal_cost_gaps(mine, other, check["points"])
    ends = f"{at_full_budget(evidence, check['learner'])}, {at_full_budget(evidence, check['baseline'])}"
    if len(costs) == 0:
        return f"The two never buy the same number of labels: {ends}."
    worst = int(gap.argmax())
    where = ", ".join(f"{low:,.0f} to {high:,.0f}" for low, high in leading_ranges(mine, other, check["points"]))
    share = percent(share_leading(mine, other, check["points"]))
    leads = f"leads on {share} of the common range (labels {where})" if where else "leads nowhere on the common range"
    furthest = "furthest behind" if gap[worst] > 0 else "least ahead"
    return (
        f"Against {title(check['baseline'])} {title(check['learner'])} {leads} and is {furthest} at "
        f"{labels(costs[worst])}, by {abs(gap[worst]):,.1f} errors; at full budget {ends}."
        f"{_what_context_is_worth(evidence)}{_what_bad_advice_costs(evidence, check, mine, other)}"
    )


def analyse_at_cost(evidence: Evidence, check: Check) -> str:
    mine, other = two_curves(evidence, check)
    costs, gap = equal_cost_gaps(mine, other, check["points"])
    ahead = np.flatnonzero(gap < 0)
    passing = f"is first ahead at {labels(costs[ahead[0]])}" if len(ahead) else "is never ahead"
    last = f"{gap[-1]:+,.2f} errors at {costs[-1]:,.0f} labels" if len(costs) else "no common range"
    return (
        f"{title(check['learner'])} {passing} of {title(check['baseline'])} on the common range and ends it at {last}."
        f"{_what_context_is_worth(evidence)}"
    )


def analyse_bands(evidence: Evidence, check: Check) -> str:
    mine, other = two_curves(evidence, check)
    costs, gap = equal_cost_gaps(mine, other, check["points"])
    relative = gap / np.interp(costs, other.cost, other.loss)
    largest = int(np.abs(relative).argmax())
    return (
        f"The largest difference is {100 * relative[largest]:+.1f} % at {costs[largest]:,.0f} labels; at full budget "
        f"{at_full_budget(evidence, check['learner'])}, {at_full_budget(evidence, check['baseline'])}."
    )


STATISTICS: dict[str, Statistic] = {
    "equal_cost_difference": Statistic(
        difference,
        "errors",
        "{learner} minus {baseline}, mean errors at equal cost",
        analyse_difference,
        who_leads_where,
    ),
    "relative_equal_cost_difference": Statistic(
        relative_difference, "share", "{learner} minus {baseline} at equal cost, relative", analyse_bands
    ),
    "difference_at_cost": Statistic(
        difference_at_cost, "errors", "{learner} minus {baseline}, errors at {cost} labels", analyse_at_cost
    ),
    "share_within_bands": Statistic(
        share_within_bands,
        "share",
        "cost axis on which {learner} and {baseline} are in each other's bands",
        analyse_bands,
        has_interval=False,
    ),
}
