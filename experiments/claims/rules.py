"""The rules of conf/claims.yaml: whether a check holds, and what verdict checks add up to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any

import cams
from experiments.claims.evidence import Estimate

HOLDS, LEANS, FAILS = "holds", "leans", "fails"
REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_MEASURED = "reproduced", "partly", "not reproduced", "not measured"
SCORES = {HOLDS: 1.0, LEANS: 0.5, FAILS: 0.0}


def _below(e: Estimate, x: float) -> str:
    return HOLDS if e.high < x else LEANS if e.value < x else FAILS


def _above(e: Estimate, x: float) -> str:
    return HOLDS if e.low > x else LEANS if e.value > x else FAILS


def _not_below(e: Estimate, x: float) -> str:
    return FAILS if e.high < x else HOLDS


def _not_above(e: Estimate, x: float) -> str:
    return FAILS if e.low > x else HOLDS


def _within(e: Estimate, limits: Sequence[float]) -> str:
    low, high = limits
    return HOLDS if low <= e.low and e.high <= high else LEANS if low <= e.value <= high else FAILS


def _covers(e: Estimate, x: float) -> str:
    return HOLDS if e.low <= x <= e.high else FAILS


def _share_above(e: Estimate, x: float) -> str:
    return HOLDS if e.value >= x else LEANS if e.value >= x / 2 else FAILS


CONDITIONS: dict[str, tuple[Callable[[Estimate, Any], str], str]] = {
    "below": (_below, "below {}"),
    "above": (_above, "above {}"),
    "not_below": (_not_below, "not below {}"),
    "not_above": (_not_above, "not above {}"),
    "within": (_within, "within {}"),
    "covers": (_covers, "{} inside the interval"),
    "share_above": (_share_above, "at least {}"),
}


def condition_of(check: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the one condition of a check, by name, and its limit."""
    found = [(name, check[name]) for name in CONDITIONS if name in check]
    if len(found) != 1:
        raise cams.InputError(f"check '{check['statistic']}' has {len(found)} conditions, expected one")
    return found[0]


def is_judged(check: Mapping[str, Any]) -> bool:
    """Tell whether a check has a condition; a further measurement beside the verdict has none."""
    return any(name in check for name in CONDITIONS)


def condition_in_words(check: Mapping[str, Any], unit: str) -> str | None:
    """Return the condition with its limit in the unit of the value it is compared with."""
    if not is_judged(check):
        return None
    name, limit = condition_of(check)
    limits = limit if isinstance(limit, (list, tuple)) else [limit]
    return CONDITIONS[name][1].format(" to ".join(limit_in_words(value, unit) for value in limits))


def limit_in_words(limit: float, unit: str) -> str:
    return f"{100 * limit:g} %" if unit == "share" else f"{limit:g}"


def outcome(estimate: Estimate, check: Mapping[str, Any]) -> str | None:
    """Return holds, leans or fails, or None where nothing is asked. What could not be computed (NaN) fails."""
    if not is_judged(check):
        return None
    name, limit = condition_of(check)
    return FAILS if isnan(estimate.value) else CONDITIONS[name][0](estimate, limit)


def verdict(outcomes: Sequence[str], thresholds: Mapping[str, float]) -> str:
    """Return the verdict of a list of outcomes (checks of a data set), by their mean score."""
    return _by_score([SCORES[name] for name in outcomes], thresholds)


def joint_verdict(verdicts: Sequence[str], thresholds: Mapping[str, float]) -> str:
    """Return the verdict of a claim over its data sets by the same rule; unmeasured ones do not count."""
    worth = {REPRODUCED: 1.0, PARTLY: 0.5, NOT_REPRODUCED: 0.0}
    return _by_score([worth[name] for name in verdicts if name in worth], thresholds)


def _by_score(scores: list[float], thresholds: Mapping[str, float]) -> str:
    if not scores:
        return NOT_MEASURED
    mean = sum(scores) / len(scores)
    if mean >= thresholds["reproduced"]:
        return REPRODUCED
    return PARTLY if mean >= thresholds["partly"] else NOT_REPRODUCED
