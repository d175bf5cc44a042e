"""Every kind of panel that an experiment file may name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from omegaconf import DictConfig

from cams.errors import InputError, lookup
from cams.plotting.panel import Panel
from experiments.figures import panels, theory
from experiments.records.columns import ORACLE_DRAWN
from experiments.records.record import Record
from experiments.runner.plan import DEFAULT_COMPUTE


class Kind(NamedTuple):
    """How a panel is made, which options it reads, and whether from traced rounds or from regret."""

    make: Callable[[Record, dict[str, Any]], Panel]
    options: tuple[str, ...] = ()
    traced: bool = False
    regret: bool = False


KINDS: dict[str, Kind] = {
    "loss_against_cost": Kind(panels.loss_against_cost, ("learners", "references")),
    "queries_over_time": Kind(panels.queries_over_time, ("budget",), traced=True),
    "relative_loss_over_time": Kind(panels.relative_loss_over_time, ("budget",), traced=True),
    "loss_against_case": Kind(panels.loss_against_case, ("cases", "budget", "series", "references", "x_label")),
    "labels_to_recover": Kind(panels.labels_to_recover, ("cases", "x_label")),
    "regret_over_time": Kind(theory.regret_over_time, ("order",), regret=True),
    "regret_against_horizon": Kind(theory.regret_against_horizon, regret=True),
    "labels_against_horizon": Kind(theory.labels_against_horizon, regret=True),
    "regret_of_learners": Kind(theory.regret_of_learners, ("order",), regret=True),
    "labels_of_learners": Kind(theory.labels_of_learners, ("order",), regret=True),
}
# What any panel may say.
COMMON = ("kind", "title")


def make_panel(record: Record, options: dict[str, Any]) -> Panel:
    """Build one panel of an experiment file from a record."""
    return lookup(KINDS, options["kind"], "kind of panel").make(record, options)


def check_panels(experiment: DictConfig) -> None:
    """Refuse an experiment without panels, and panels that cannot be drawn, before anything is computed for them."""
    if not (experiment.panels or experiment.compose):
        raise InputError("experiment.panels is [], expected at least one")
    labels = [
        entry if isinstance(entry, str) else entry.get("label", entry.get("name")) for entry in experiment.learners
    ]
    for i, panel in enumerate(experiment.panels):
        here = f"experiment.panels[{i}]"
        _check_kind(experiment, panel, here)
        if "learners" in panel and not panel.learners:
            raise InputError(f"{here}.learners is [], expected at least one")
        for name in panel.get("learners", []):
            lookup(dict.fromkeys(labels), name, f"learner of the experiment's, in {here},")
        for name in panel.get("references", []):
            lookup(panels.GROUPS, name, f"group of references, in {here},")
        for name in panel.get("series", []):
            lookup({ORACLE_DRAWN: None}, name, f"series beside the learners, in {here},")
        drawn = {*panel.get("references", []), *panel.get("series", [])}
        if ORACLE_DRAWN in drawn and not experiment.options.get(ORACLE_DRAWN):
            raise InputError(
                f"{here} has {ORACLE_DRAWN}, which is recorded with experiment.options.{ORACLE_DRAWN}: true"
            )


def _check_kind(experiment: DictConfig, panel: DictConfig, here: str) -> None:
    """Refuse a kind of panel that the records of an experiment do not hold, and options that it does not read."""
    name = panel.get("kind", "")
    kind = lookup(KINDS, name, "kind of panel")
    if unread := [str(option) for option in panel if option not in (*COMMON, *kind.options)]:
        raise InputError(f"{here}.{unread[0]} is not read by {name}, only {', '.join((*COMMON, *kind.options))}")
    if kind.regret == (experiment.compute == DEFAULT_COMPUTE):
        fitting = [other for other, known in KINDS.items() if known.regret != kind.regret]
        raise InputError(
            f"{here}.kind is {name}, which computation {experiment.compute} has no numbers for, "
            f"expected one of {', '.join(fitting)}"
        )
    if kind.traced and not experiment.trace.points:
        raise InputError(f"{here} is about rounds on the way, and experiment.trace.points is 0, expected some")
