"""What a statistic is: how it is measured, how its value reads, and what is said where it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from cams.plotting.appearance import title_of
from experiments.claims.evidence import Array, Evidence, Measure
from experiments.statistics.label_cost import Curve

Check = Mapping[str, Any]


def no_details(evidence: Evidence, check: Check) -> dict[str, Any]:
    return {}


class Statistic(NamedTuple):
    """One statistic that a check may name.

    `measure` gives a function of weights over realizations, so that one bootstrap serves all statistics and differences
    between learners stay paired. `details` are further numbers beside the value, with a `note` for the page.
    """

    measure: Callable[[Evidence, Check], Measure]
    unit: str  # errors, share or ratio
    text: str  # may name {learner}, {baseline}, {reference}, {quantity}, {cost}, {margin} and {budget}
    analysis: Callable[[Evidence, Check], str]
    details: Callable[[Evidence, Check], dict[str, Any]] = no_details
    has_interval: bool = True


def title(name: str) -> str:
    return title_of(name).replace("_", " ")


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def evenly(evidence: Evidence) -> Array:
    """Return the weights that make a measure the estimate itself."""
    return np.full(evidence.realizations, 1 / evidence.realizations)


def two_curves(evidence: Evidence, check: Check) -> tuple[Curve, Curve]:
    weights = evenly(evidence)
    return evidence.curve(check["learner"], weights), evidence.curve(check["baseline"], weights)


def labels(count: float) -> str:
    return "no number of labels" if np.isinf(count) else f"{count:,.0f} label{'s' if round(count) != 1 else ''}"


def at_full_budget(evidence: Evidence, name: str) -> str:
    return f"{title(name)} {evidence.errors(name).mean():,.1f} errors with {evidence.labels(name).mean():,.0f} labels"
