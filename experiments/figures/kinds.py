"""Every kind of panel that an experiment file may name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cams.errors import lookup
from cams.plotting.panel import Panel
from experiments.figures import panels, theory
from experiments.records.record import Record

KINDS: dict[str, Callable[[Record, dict[str, Any]], Panel]] = {
    "loss_against_cost": panels.loss_against_cost,
    "queries_over_time": panels.queries_over_time,
    "relative_loss_over_time": panels.relative_loss_over_time,
    "loss_against_case": panels.loss_against_case,
    "labels_to_recover": panels.labels_to_recover,
    "regret_over_time": theory.regret_over_time,
    "regret_against_horizon": theory.regret_against_horizon,
    "labels_against_horizon": theory.labels_against_horizon,
    "regret_of_learners": theory.regret_of_learners,
    "labels_of_learners": theory.labels_of_learners,
}


def make_panel(record: Record, options: dict[str, Any]) -> Panel:
    """Build one panel of an experiment file from a record."""
    return lookup(KINDS, options["kind"], "kind of panel")(record, options)


def check_panels(panels: Iterable[Mapping[str, Any]]) -> None:
    """Refuse a kind that does not exist before anything is computed for it."""
    for panel in panels:
        lookup(KINDS, panel.get("kind", ""), "kind of panel")
