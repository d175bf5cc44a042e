"""How many labels a learner buys, or needs to be as good as others."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.claims.evidence import Array, Evidence, Measure
from experiments.claims.statistics.base import Check, Statistic, at_full_budget, evenly, labels, title
from experiments.statistics.label_cost import labels_to_reach

# A target this much looser shows whether a learner misses it by little or by much.
LOOSER = 1.05


def best_baseline(evidence: Evidence, baselines: list[str]) -> str:
    """Return the baseline with the least mean errors at its full budget."""
    return min(baselines, key=lambda name: float(evidence.errors(name).mean()))


def _share(mine: float, theirs: float) -> float:
    """Return mine over theirs; two who need no label are level, and so are two who never get there."""
    return 1.0 if mine == theirs else mine / theirs if theirs > 0 else float("inf")


def share_to_match(evidence: Evidence, check: Check) -> Measure:
    """Labels the learner needs for the final loss of the best baseline, over those that this baseline needs."""
    learner, best = check["learner"], best_baseline(evidence, check["baselines"])

    def measure(weights: Array) -> float:
        theirs = evidence.curve(best, weights)
        target = float(theirs.loss[-1])
        return _share(labels_to_reach(evidence.curve(learner, weights), target), labels_to_reach(theirs, target))

    return measure


def needed_to_come_near(evidence: Evidence, check: Check, weights: Array) -> dict[str, float]:
    """Return the labels each learner needs to come within the margin of the least final loss of all of them."""
    curves = {name: evidence.curve(name, weights) for name in [check["learner"], *check["baselines"]]}
    target = (1 + check["margin"]) * min(float(curve.loss[-1]) for curve in curves.values())
    return {name: labels_to_reach(curve, target) for name, curve in curves.items()}


def share_to_come_near(evidence: Evidence, check: Check) -> Measure:
    """The learner's labels to come within the margin, over those of the rival that needs fewest."""

    def measure(weights: Array) -> float:
        needed = needed_to_come_near(evidence, check, weights)
        mine, rivals = needed[check["learner"]], min(needed[name] for name in check["baselines"])
        return _share(mine, rivals)

    return measure


def who_needs_how_many(evidence: Evidence, check: Check) -> dict[str, Any]:
    needed = needed_to_come_near(evidence, check, evenly(evidence))
    ranked = sorted(needed, key=needed.__getitem__)
    words = ("never" if np.isinf(needed[name]) else f"{needed[name]:,.0f}" for name in ranked)
    listed = ", ".join(f"{title(name)} {word}" for name, word in zip(ranked, words, strict=True))
    return {"note": f"labels needed: {listed}", "labels_needed": needed}


def share_of_own_labels(evidence: Evidence, check: Check) -> Measure:
    """Labels the learner needs to come within the margin of the baseline's final loss, over the baseline's own."""

    def measure(weights: Array) -> float:
        mine, theirs = evidence.curve(check["learner"], weights), evidence.curve(check["baseline"], weights)
        target = (1 + check["margin"]) * float(theirs.loss[-1])
        needed, own = labels_to_reach(mine, target), labels_to_reach(theirs, target)
        return _share(needed, own)

    return measure


def fewest_ratio(evidence: Evidence, check: Check) -> Measure:
    """Mean labels the learner buys at the full budget, over those of the baseline that buys fewest."""
    learner, baselines = check["learner"], check["baselines"]
    mine = evidence.labels(learner)
    others = np.stack([evidence.labels(name) for name in baselines])
    return lambda weights: float(mine @ weights / (others @ weights).min())


def bought_ratio(evidence: Evidence, check: Check) -> Measure:
    """Mean labels of the learner over those of the baseline, at the full budget."""
    mine, others = (evidence.labels(check[who]) for who in ("learner", "baseline"))
    return lambda weights: float(mine @ weights / (others @ weights))


def saving(evidence: Evidence, check: Check) -> Measure:
    """One minus the ratio of labels."""
    ratio = bought_ratio(evidence, check)
    return lambda weights: 1 - ratio(weights)


def analyse_match(evidence: Evidence, check: Check) -> str:
    best, weights = best_baseline(evidence, check["baselines"]), evenly(evidence)
    mine, theirs = evidence.curve(check["learner"], weights), evidence.curve(best, weights)
    target, least = float(theirs.loss[-1]), int(mine.loss.argmin())
    return (
        f"The best baseline is {title(best)}, {target:,.1f} errors, reached with "
        f"{labels(labels_to_reach(theirs, target))} of the {theirs.cost[-1]:,.0f} it buys in all; "
        f"{title(check['learner'])} reaches that with {labels(labels_to_reach(mine, target))}, its own least is "
        f"{mine.loss[least]:,.1f} errors with {mine.cost[least]:,.0f} labels. A target 5 % looser takes it "
        f"{labels(labels_to_reach(mine, target * LOOSER))}."
    )


def analyse_nearness(evidence: Evidence, check: Check) -> str:
    needed = needed_to_come_near(evidence, check, evenly(evidence))
    first = min(needed, key=needed.__getitem__)
    return (
        f"{title(first)} comes within {100 * check['margin']:g} % of the least final loss first, with "
        f"{labels(needed[first])}; {title(check['learner'])} needs {labels(needed[check['learner']])}."
    )


def analyse_own_labels(evidence: Evidence, check: Check) -> str:
    weights = evenly(evidence)
    mine, theirs = (evidence.curve(check[who], weights) for who in ("learner", "baseline"))
    target = (1 + check["margin"]) * float(theirs.loss[-1])
    return (
        f"{target:,.1f} errors, {100 * check['margin']:g} % above the final loss of {title(check['baseline'])}, take "
        f"{title(check['learner'])} {labels(labels_to_reach(mine, target))} and {title(check['baseline'])} "
        f"{labels(labels_to_reach(theirs, target))}."
    )


def analyse_fewest(evidence: Evidence, check: Check) -> str:
    counts = {name: float(evidence.labels(name).mean()) for name in [check["learner"], *check["baselines"]]}
    ranked = sorted(counts, key=counts.__getitem__)
    listed = ", ".join(f"{title(name)} {counts[name]:,.0f}" for name in ranked)
    errors = evidence.errors(ranked[0]).mean()
    return f"Labels at full budget: {listed}. {title(ranked[0])} pays for it with {errors:,.1f} errors."


def analyse_bought(evidence: Evidence, check: Check) -> str:
    names = (check["learner"], check["baseline"])
    return f"At full budget {' and '.join(at_full_budget(evidence, name) for name in names)}."


def analyse_saving(evidence: Evidence, check: Check) -> str:
    floor = float((1 / np.sqrt(np.arange(1, evidence.horizon + 1))).sum())
    return (
        f"At budget {evidence.budget:,}: {at_full_budget(evidence, check['learner'])}, "
        f"{at_full_budget(evidence, check['baseline'])}. The floor 1/sqrt(t) alone asks for at most {floor:,.0f}."
    )


STATISTICS: dict[str, Statistic] = {
    "label_ratio_to_match": Statistic(
        share_to_match,
        "share",
        "labels {learner} needs for the best baseline's loss, of that baseline's",
        analyse_match,
    ),
    "label_ratio_to_come_near": Statistic(
        share_to_come_near,
        "share",
        "labels {learner} needs to come within {margin} of the least final loss of all, of the best rival's",
        analyse_nearness,
        who_needs_how_many,
    ),
    "label_ratio_to_come_near_baseline": Statistic(
        share_of_own_labels,
        "share",
        "labels {learner} needs to come within {margin} of the final loss of {baseline}, of {baseline}'s own",
        analyse_own_labels,
    ),
    "fewest_labels_ratio": Statistic(
        fewest_ratio, "share", "labels of {learner}, of those of the baseline that buys fewest", analyse_fewest
    ),
    "label_ratio": Statistic(bought_ratio, "share", "labels of {learner}, of those of {baseline}", analyse_bought),
    "label_saving": Statistic(
        saving, "share", "labels {learner} saves against {baseline}, budget {budget}", analyse_saving
    ),
}
