"""From a record to the numbers of a panel: the step between statistics and drawing.

An experiment file lists its panels by kind (experiments/figures/kinds.py has them all), with options:

    panels:
      - {kind: loss_against_cost, references: [best_classifier]}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import cams
from cams.plotting.appearance import (
    BEST_CLASSIFIER_LOOK,
    BEST_REFERENCE,
    OTHER_REFERENCE,
    SECOND_CASE_LINE,
    Look,
    look_of,
)
from cams.plotting.panel import Panel, Reference, Series
from experiments.records.columns import BAD_KINDS, CLASSIFIER, ORACLE_DRAWN, POLICY_KINDS, TRAINED_KINDS
from experiments.records.record import Record
from experiments.statistics.bands import band
from experiments.statistics.label_cost import labels_to_reach, mean_curve

COST_LABEL = "Labels bought"
ROUND_LABEL = "Round t"
ERRORS_LABEL = "Errors in T rounds"
FAR_APART = 3
# How near to CAMS's final loss counts as recovered.
RECOVERED = 1.05
# "Only top performance policies" are worth a line of their own.
TOP_POLICIES = 5


def loss_against_cost(record: Record, options: dict[str, Any]) -> Panel:
    """Mean final loss against mean labels bought, one point per budget; `learners` draws only some."""
    lines = []
    for who in _learners(record, options.get("learners")):
        queries, loss = record.runs(who.learner, who.case)
        lines.append(_line(who, queries.mean(axis=1), loss))
    # The first labels matter most, and learners that stop early would otherwise share the leftmost millimetre.
    scales = ("from_zero", "log" if _far_apart(lines) else "linear")
    return Panel(COST_LABEL, ERRORS_LABEL, tuple(lines), tuple(_references(record, options)), scales=scales)


def _far_apart(lines: list[Series]) -> bool:
    """Tell whether some learners lose several times as much as others: only ratios can be read then."""
    losses = np.concatenate([line.mean for line in lines])
    return bool(losses.min() > 0 and losses.max() > FAR_APART * losses.min())


def queries_over_time(record: Record, options: dict[str, Any]) -> Panel:
    """Labels bought up to round t with the largest recorded budget (or the budget in the options)."""
    lines = []
    for who in _learners(record):
        queries = record.course(who.learner, "queries", options.get("budget"), who.case)
        lines.append(_line(who, queries.index, queries))
    return Panel(ROUND_LABEL, "Labels bought by t", tuple(lines))


def relative_loss_over_time(record: Record, options: dict[str, Any]) -> Panel:
    """Errors up to round t less those of the classifier that is best on the whole realization."""
    lines = []
    for who in _learners(record):
        loss = record.course(who.learner, "loss", options.get("budget"), who.case)
        lines.append(_line(who, loss.index, loss - record.best_classifier_course(who.case)))
    zero = Reference("best_classifier", "Best classifier in hindsight", BEST_CLASSIFIER_LOOK, 0.0, 0.0, 0.0)
    return Panel(ROUND_LABEL, "Relative loss (errors)", tuple(lines), (zero,))


def loss_against_case(record: Record, options: dict[str, Any]) -> Panel:
    """Final loss of every learner at the largest budget, or at that of the options, one position per case.

    `cases` takes those whose labels begin with a word and leaves the word out; `series: [oracle_drawn]` adds a line for
    what was recorded beside the learners.
    """
    cases, ticks = _cases(record, options)
    positions = np.arange(len(cases), dtype=np.float64)
    lines = []
    for place, name in enumerate(record.learners()):
        look = look_of(name, place)
        budgets = record.budgets(name)
        at = _position(budgets, options.get("budget", budgets[-1]))
        errors = np.stack([record.runs(name, case)[1][at] for case in cases])
        lines.append(Series(name, look.title, look, positions, *band(errors)))
    for name in options.get("series", ()):
        look = look_of(name)
        errors = np.stack([record.references([name], case).to_numpy()[0] for case in cases])
        lines.append(Series(name, look.title, look, positions, *band(errors)))
    return Panel(
        options.get("x_label", ""),
        "Errors with no label" if options.get("budget") == 0 else ERRORS_LABEL,
        tuple(lines),
        tuple(_references(record, options)),
        tick_labels=ticks,
        scales=("linear", "log" if _far_apart(lines) else "linear"),
    )


def _position(budgets: list[int], budget: int) -> int:
    if budget not in budgets:
        raise cams.InputError(f"a panel is about the budget {budget}, expected one of {', '.join(map(str, budgets))}")
    return budgets.index(budget)


def labels_to_recover(record: Record, options: dict[str, Any]) -> Panel:
    """Labels every learner needs to come within 5 % of CAMS's final loss, one position per case; no point: never."""
    cases, ticks = _cases(record, options)
    targets = {case: RECOVERED * record.errors("cams", case).mean() for case in cases}
    lines = []
    for place, name in enumerate(record.learners()):
        look = look_of(name, place)
        needed = [labels_to_reach(mean_curve(*record.runs(name, case)), targets[case]) for case in cases]
        values = np.where(np.isfinite(needed), needed, np.nan)
        lines.append(Series(name, look.title, look, np.arange(len(cases), dtype=np.float64), values, values, values))
    return Panel(options.get("x_label", ""), "Labels to recover", tuple(lines), tick_labels=ticks)


def _cases(record: Record, options: dict[str, Any]) -> tuple[list[str], tuple[str, ...]]:
    """Return the cases that a panel is about, and how they are called under it."""
    word = options.get("cases", "")
    cases = [case for case in record.cases() if case.startswith(word)]
    if not cases:
        raise cams.InputError(f"no case of {record.plan['experiment']} begins with '{word}': {record.cases()}")
    return cases, tuple(case.removeprefix(word).strip() for case in cases)


class _Learner(NamedTuple):
    """A learner in a case, and how it appears."""

    learner: str
    case: str
    label: str
    look: Look

    @property
    def name(self) -> str:
        return f"{self.learner} {self.case}".strip()


def _line(who: _Learner, x: npt.ArrayLike, values: npt.ArrayLike) -> Series:
    """Return the line of a learner from values (points, R)."""
    return Series(who.name, who.label, who.look, np.asarray(x, dtype=np.float64), *band(values))


def _learners(record: Record, wanted: Sequence[str] | None = None) -> Iterator[_Learner]:
    """Yield every learner in every case, as the experiment lists them."""
    cases = record.cases()
    for case in cases:
        for position, name in enumerate(record.learners()):
            if wanted is not None and name not in wanted:
                continue
            look = look_of(name, position)
            # A learner keeps its colour and marker in every case; the line tells the cases apart.
            look = look if case == cases[0] else look._replace(line=SECOND_CASE_LINE)
            yield _Learner(name, case, f"{look.title}, {case}" if case else look.title, look)


class _Group(NamedTuple):
    """Classifiers or policies drawn as levels: which, what the best of them is called, and how many are shown."""

    kinds: tuple[str, ...]
    title: str
    look: Look
    most: int | None


GROUPS: dict[str, _Group] = {
    "best_classifier": _Group((CLASSIFIER,), "Best classifier", BEST_CLASSIFIER_LOOK, 1),
    "classifiers": _Group((CLASSIFIER,), "Best reference", BEST_REFERENCE, None),
    "best_policy": _Group(TRAINED_KINDS, "Best policy", BEST_REFERENCE, 1),
    "policies": _Group(POLICY_KINDS, "Best policy", BEST_REFERENCE, TOP_POLICIES),
    "normal": _Group(TRAINED_KINDS, "Best reference", BEST_REFERENCE, None),
    "bad_policies": _Group(BAD_KINDS, "Best reference", BEST_REFERENCE, None),
    "oracle_drawn": _Group((ORACLE_DRAWN,), "Oracle, drawn", look_of(ORACLE_DRAWN), 1),
}


def _references(record: Record, options: dict[str, Any]) -> Iterator[Reference]:
    """Yield levels: the best of a group first and labelled, then the others in one grey.

    They are those of the first case: what a classifier or a policy's favourite model loses is the same in every case.
    """
    for entry in options.get("references", ()):
        group = GROUPS[entry]
        if record.final(group.kinds, record.cases()[0]).empty:
            continue
        for rank, (name, values) in enumerate(record.references(group.kinds)[: group.most].iterrows()):
            limits = (float(limit) for limit in band(values.to_numpy()))
            label, look = (group.title, group.look) if rank == 0 else ("Other references", OTHER_REFERENCE)
            yield Reference(str(name), label, look, *limits)
