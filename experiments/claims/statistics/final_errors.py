"""Errors at the end of the stream: with the full budget, or without any label."""

from __future__ import annotations

from experiments.claims.evidence import Array, Evidence, Measure
from experiments.claims.statistics.base import Check, Statistic, at_full_budget, title


def difference(evidence: Evidence, check: Check) -> Measure:
    """Errors of the learner minus the reference's at the full budget, on the same realizations."""
    gap = evidence.errors(check["learner"]) - evidence.errors(check["reference"])
    return lambda weights: float(gap @ weights)


def relative_difference(evidence: Evidence, check: Check) -> Measure:
    """The same as a share of the reference's errors."""
    mine, other = evidence.errors(check["learner"]), evidence.errors(check["reference"])
    return lambda weights: float((mine - other) @ weights / (other @ weights))


def unlabelled_difference(evidence: Evidence, check: Check) -> Measure:
    """Errors of the learner with no label above the baseline's at full budget, as a share of these."""
    mine, other = evidence.errors_without_labels(check["learner"]), evidence.errors(check["baseline"])
    return lambda weights: float((mine - other) @ weights / (other @ weights))


def excess_over_best_classifier(evidence: Evidence, check: Check) -> Measure:
    """Errors above those of the best single classifier, as a share of these."""
    return relative_difference(evidence, {**check, "reference": "best_classifier"})


def share_of_gap_closed(evidence: Evidence, check: Check) -> Measure:
    """How much of the way from the baseline's errors down to the best classifier's the learner goes."""
    mine, trapped = evidence.errors(check["learner"]), evidence.errors(check["baseline"])
    best = evidence.errors("best_classifier")

    def measure(weights: Array) -> float:
        gap = float((trapped - best) @ weights)
        # Nothing to close: the learner that should be trapped is not.
        return float((trapped - mine) @ weights) / gap if gap > 0 else float("nan")

    return measure


def analyse_difference(evidence: Evidence, check: Check) -> str:
    mine, other = evidence.errors(check["learner"]), evidence.errors(check["reference"])
    ahead, level = (mine < other).mean(), (mine == other).mean()
    return (
        f"{title(check['learner'])} makes {mine.mean():,.1f} errors, {title(check['reference'])} {other.mean():,.1f}; "
        f"it is ahead on {100 * ahead:.0f} % of realizations and level on {100 * level:.0f} %."
    )


def analyse_unlabelled(evidence: Evidence, check: Check) -> str:
    mine, other = check["learner"], check["baseline"]
    without = {name: evidence.errors_without_labels(name).mean() for name in (mine, other)}
    return (
        f"With no label {title(mine)} makes {without[mine]:,.1f} errors and {title(other)} {without[other]:,.1f}; "
        f"at full budget {at_full_budget(evidence, mine)}, {at_full_budget(evidence, other)}."
    )


def analyse_recovery(evidence: Evidence, check: Check) -> str:
    names = [name for name in evidence.learners() if name in ("cams", "cams_conventional")]
    made = ", ".join(at_full_budget(evidence, name) for name in names)
    classifier, bad = (evidence.errors(name).mean() for name in ("best_classifier", "best_bad_policy"))
    return (
        f"At full budget {made}; the best classifier makes {classifier:,.1f} errors and the best of the bad policies "
        f"{bad:,.1f}, over {evidence.horizon:,} rounds."
    )


STATISTICS: dict[str, Statistic] = {
    "final_difference": Statistic(
        difference, "errors", "{learner} minus {reference}, errors at full budget", analyse_difference
    ),
    "relative_final_difference": Statistic(
        relative_difference, "share", "{learner} minus {reference} at full budget, relative", analyse_difference
    ),
    "relative_unlabelled_difference": Statistic(
        unlabelled_difference,
        "share",
        "{learner} with no label minus {baseline} at full budget, relative",
        analyse_unlabelled,
    ),
    "excess_over_best_classifier": Statistic(
        excess_over_best_classifier, "share", "{learner} above the best classifier, relative", analyse_recovery
    ),
    "share_of_gap_closed": Statistic(
        share_of_gap_closed,
        "share",
        "way from {baseline} to the best classifier that {learner} goes",
        analyse_recovery,
    ),
}
