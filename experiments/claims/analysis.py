"""Why a check does not hold: for each statistic one or two sentences made of further measurements, not guesses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.claims.evidence import Array, Evidence
from experiments.claims.statistics import Check, best_baseline, exponents
from experiments.figures.appearance import title_of
from experiments.statistics.label_cost import Curve, equal_cost_gaps, labels_to_reach, leading_ranges, share_leading

# A target this much looser shows whether a learner misses it by little or by much.
LOOSER = 1.05


def title(name: str) -> str:
    return title_of(name).replace("_", " ")


def _even(evidence: Evidence) -> Array:
    return np.full(evidence.realizations, 1 / evidence.realizations)


def _curves(evidence: Evidence, check: Check) -> tuple[Curve, Curve]:
    weights = _even(evidence)
    return evidence.curve(check["learner"], weights), evidence.curve(check["baseline"], weights)


def _labels(count: float) -> str:
    return "no number of labels" if np.isinf(count) else f"{count:,.0f} label{'s' if round(count) != 1 else ''}"


def _at_full_budget(evidence: Evidence, name: str) -> str:
    return f"{title(name)} {evidence.errors(name).mean():,.1f} errors with {evidence.labels(name).mean():,.0f} labels"


def _what_context_is_worth(evidence: Evidence) -> str:
    """The best policy against the best classifier: the room that contextual learners have."""
    try:
        policy, classifier = evidence.errors("best_policy").mean(), evidence.errors("best_classifier").mean()
    except KeyError:
        return ""
    return f" The best policy alone makes {policy:,.1f} errors, the best classifier {classifier:,.1f}."


def equal_cost(evidence: Evidence, check: Check) -> str:
    mine, other = _curves(evidence, check)
    costs, gap = equal_cost_gaps(mine, other, check["points"])
    if len(costs) == 0:
        return (
            f"The two never buy the same number of labels: {_at_full_budget(evidence, check['learner'])}, "
            f"{_at_full_budget(evidence, check['baseline'])}."
        )
    worst = int(gap.argmax())
    where = ", ".join(f"{low:,.0f} to {high:,.0f}" for low, high in leading_ranges(mine, other, check["points"]))
    leads = (
        f"leads on {share_leading(mine, other, check['points']):.0%} of the common range (labels {where})"
        if where
        else "leads nowhere on the common range"
    )
    furthest = "furthest behind" if gap[worst] > 0 else "least ahead"
    return (
        f"Against {title(check['baseline'])} {title(check['learner'])} {leads} and is {furthest} at "
        f"{costs[worst]:,.0f} labels, by {abs(gap[worst]):,.1f} errors; at full budget "
        f"{_at_full_budget(evidence, check['learner'])}, {_at_full_budget(evidence, check['baseline'])}."
        f"{_what_context_is_worth(evidence)}"
    )


def at_cost(evidence: Evidence, check: Check) -> str:
    mine, other = _curves(evidence, check)
    costs, gap = equal_cost_gaps(mine, other, check["points"])
    ahead = np.flatnonzero(gap < 0)
    passing = f"is first ahead at {costs[ahead[0]]:,.0f} labels" if len(ahead) else "is never ahead"
    last = f"{gap[-1]:+,.2f} errors at {costs[-1]:,.0f} labels" if len(costs) else "no common range"
    return (
        f"{title(check['learner'])} {passing} of {title(check['baseline'])} on the common range and ends it at {last}."
        f"{_what_context_is_worth(evidence)}"
    )


def to_match(evidence: Evidence, check: Check) -> str:
    best, weights = best_baseline(evidence, check["baselines"]), _even(evidence)
    mine, theirs = evidence.curve(check["learner"], weights), evidence.curve(best, weights)
    target, least = float(theirs.loss[-1]), int(mine.loss.argmin())
    return (
        f"The best baseline is {title(best)}, {target:,.1f} errors, reached with "
        f"{_labels(labels_to_reach(theirs, target))} of the {theirs.cost[-1]:,.0f} it buys in all; "
        f"{title(check['learner'])} reaches that with {_labels(labels_to_reach(mine, target))}, its own least is "
        f"{mine.loss[least]:,.1f} errors with {mine.cost[least]:,.0f} labels. A target 5 % looser takes it "
        f"{_labels(labels_to_reach(mine, target * LOOSER))}."
    )


def fewest(evidence: Evidence, check: Check) -> str:
    counts = {name: float(evidence.labels(name).mean()) for name in [check["learner"], *check["baselines"]]}
    ranked = sorted(counts, key=counts.__getitem__)
    listed = ", ".join(f"{title(name)} {counts[name]:,.0f}" for name in ranked)
    errors = evidence.errors(ranked[0]).mean()
    return f"Labels at full budget: {listed}. {title(ranked[0])} pays for it with {errors:,.1f} errors."


def saving(evidence: Evidence, check: Check) -> str:
    floor = float((1 / np.sqrt(np.arange(1, evidence.horizon + 1))).sum())
    return (
        f"At budget {evidence.budget:,}: {_at_full_budget(evidence, check['learner'])}, "
        f"{_at_full_budget(evidence, check['baseline'])}. The floor 1/sqrt(t) alone asks for at most {floor:,.0f}."
    )


def bands(evidence: Evidence, check: Check) -> str:
    mine, other = _curves(evidence, check)
    costs, gap = equal_cost_gaps(mine, other, check["points"])
    relative = gap / np.interp(costs, other.cost, other.loss)
    largest = int(np.abs(relative).argmax())
    return (
        f"The largest difference is {relative[largest]:+.1%} at {costs[largest]:,.0f} labels; at full budget "
        f"{_at_full_budget(evidence, check['learner'])}, {_at_full_budget(evidence, check['baseline'])}."
    )


def recovery(evidence: Evidence, check: Check) -> str:
    names = [name for name in evidence.learners() if name in ("cams", "cams_conventional")]
    made = ", ".join(_at_full_budget(evidence, name) for name in names)
    classifier, bad = (evidence.errors(name).mean() for name in ("best_classifier", "best_bad_policy"))
    return (
        f"At full budget {made}; the best classifier makes {classifier:,.1f} errors and the best of the bad policies "
        f"{bad:,.1f}, over {evidence.horizon:,} rounds."
    )


def at_full_budget(evidence: Evidence, check: Check) -> str:
    mine, other = evidence.errors(check["learner"]), evidence.errors(check["reference"])
    ahead, level = (mine < other).mean(), (mine == other).mean()
    return (
        f"{title(check['learner'])} makes {mine.mean():,.1f} errors, {title(check['reference'])} {other.mean():,.1f}; "
        f"it is ahead on {ahead:.0%} of realizations and level on {level:.0%}."
    )


def labels_used(evidence: Evidence, check: Check) -> str:
    names = (check["learner"], check["baseline"])
    return f"At full budget {' and '.join(_at_full_budget(evidence, name) for name in names)}."


def over_bound(evidence: Evidence, check: Check) -> str:
    quantity = check["quantity"]
    rows = evidence.bounded().assign(case=lambda table: table["case"].astype(str))
    means = rows.groupby(["case", "round"])[[quantity, *[c for c in rows if c.startswith(f"{quantity}_bound")]]].mean()
    at = (means[quantity] / means[f"{quantity}_bound"]).idxmax()
    row = means.loc[at]
    sentence = (
        f"It is largest for '{at[0]}' at T = {at[1]:,}: {row[quantity]:,.0f} against a bound of "
        f"{row[f'{quantity}_bound']:,.0f}."
    )
    if f"{quantity}_bound_drawn" in row and np.isfinite(row[f"{quantity}_bound_drawn"]):
        sentence += (
            " The theorem counts the errors of the best policy's first choice, its proof sums those of the mixture, and"
            f" regularised advice keeps the mixture spread out; with the errors of the best policy's own draws the"
            f" bound is {row[f'{quantity}_bound_drawn']:,.0f}."
        )
    return sentence


def fits(evidence: Evidence, check: Check) -> str:
    fitted = {case: slope(_even(evidence)) for case, slope in exponents(evidence).items()}
    slopes = ", ".join(f"{case} {slope:.2f}" for case, slope in fitted.items())
    return f"Exponents by case: {slopes}."


ANALYSES: dict[str, Callable[[Evidence, Check], str]] = {
    "equal_cost_difference": equal_cost,
    "relative_equal_cost_difference": bands,
    "difference_at_cost": at_cost,
    "label_ratio_to_match": to_match,
    "fewest_labels_ratio": fewest,
    "label_ratio": labels_used,
    "label_saving": saving,
    "share_within_bands": bands,
    "final_difference": at_full_budget,
    "relative_final_difference": at_full_budget,
    "excess_over_best_classifier": recovery,
    "share_of_gap_closed": recovery,
    "largest_ratio_to_bound": over_bound,
    "regret_exponent": fits,
}
