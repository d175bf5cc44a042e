"""Every kind of panel that an experiment file may name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from omegaconf import DictConfig

from cams.errors import InputError, lookup
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


def check_panels(experiment: DictConfig) -> None:
    """Refuse an experiment without panels, and panels of what does not exist, before anything is computed for them."""
    if not (experiment.panels or experiment.compose):
        raise InputError("experiment.panels is [], expected at least one")
    labels = [
        entry if isinstance(entry, str) else entry.get("label", entry.get("name")) for entry in experiment.learners
    ]
    for i, panel in enumerate(experiment.panels):
        here = f"in experiment.panels[{i}]"
        lookup(KINDS, panel.get("kind", ""), "kind of panel")
        for name in panel.get("learners", []):
            lookup(dict.fromkeys(labels), name, f"learner of the experiment's, {here},")
        for name in [*panel.get("references", []), *panel.get("series", [])]:
            lookup(panels.GROUPS, name, f"group of references, {here},")
