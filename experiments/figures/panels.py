"""From a record to the numbers of a panel: the step between statistics and drawing.

A `Panel` is all that a plot needs and nothing it would have to compute, so the static figures, the CSV
beside them and the interactive report show the same numbers. An experiment file lists its panels by kind:

    panels:
      - {kind: loss_against_cost, references: [best_classifier]}

A kind is a function of this module, or of another one by its dotted path; it takes (record, options).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.figures.appearance import (
    BEST_CLASSIFIER,
    BEST_REFERENCE,
    OTHER_REFERENCE,
    SECOND_CASE_LINE,
    Look,
    look_of,
)
from experiments.records.store import Record
from experiments.statistics.bands import band, relative_loss

Array = npt.NDArray[np.float64]

COST_LABEL = "Labels bought"
ROUND_LABEL = "Round t"
ERRORS_LABEL = "Errors in T rounds"
POLICY_KINDS = ("normal", "biased", "malicious", "random")
FAR_APART = 3
# "Only top performance policies" are worth a line of their own.
TOP_POLICIES = 5


@dataclass(frozen=True)
class Series:
    """A line with its band; `name` identifies it, `label` is what the legend says (empty: no entry)."""

    name: str
    label: str
    look: Look
    x: Array
    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Reference:
    """A level that does not depend on x, such as the loss of one policy."""

    name: str
    label: str
    look: Look
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Panel:
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    references: tuple[Reference, ...] = ()
    title: str = ""
    tick_labels: tuple[str, ...] = field(default=())
    # of x and y: linear, log, or symlog where values of very different size must be seen together
    scales: tuple[str, str] = ("linear", "linear")

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers in long form: series, x, mean, low, high (x is empty for references)."""
        rows = [
            {"series": line.name, "x": x, "mean": mean, "low": low, "high": high}
            for line in self.series
            for x, mean, low, high in zip(line.x, line.mean, line.low, line.high, strict=True)
        ]
        rows += [
            {"series": level.name, "x": np.nan, "mean": level.mean, "low": level.low, "high": level.high}
            for level in self.references
        ]
        return pd.DataFrame(rows, columns=["series", "x", "mean", "low", "high"])


def loss_against_cost(record: Record, options: dict[str, Any]) -> Panel:
    """Mean final loss against mean labels bought, one point per budget."""
    final = _final(record)
    lines = []
    for who, rows in _learners(final):
        queries, loss = pivot(rows, "queries", "budget"), pivot(rows, "loss", "budget")
        lines.append(_line(who, queries.mean(axis=1), loss))
    references = tuple(_references(final, options.get("references", ())))
    # The first labels matter most, and learners that stop early would otherwise share the leftmost millimetre.
    scales = ("log", "log" if _far_apart(lines) else "linear")
    return Panel(COST_LABEL, ERRORS_LABEL, tuple(lines), references, scales=scales)


def _far_apart(lines: list[Series]) -> bool:
    """Tell whether some learners lose several times as much as others: only ratios can be read then."""
    ends = [line.mean[-1] for line in lines]
    return bool(min(ends) > 0 and max(ends) > FAR_APART * min(ends))


def queries_over_time(record: Record, options: dict[str, Any]) -> Panel:
    """Labels bought up to round t with the largest recorded budget (or the budget in the options)."""
    lines = []
    for who, rows in _learners(_traced(record, options)):
        queries = pivot(rows, "queries", "round")
        lines.append(_line(who, _rounds(rows), queries))
    return Panel(ROUND_LABEL, "Labels bought by t", tuple(lines))


def relative_loss_over_time(record: Record, options: dict[str, Any]) -> Panel:
    """Errors up to round t less those of the classifier that is best on the whole realization."""
    table = record.table
    best = pivot(table[table["kind"] == "best_classifier"], "loss", "round").T
    lines = []
    for who, rows in _learners(_traced(record, options)):
        relative = relative_loss(pivot(rows, "loss", "round").T, best).T
        lines.append(_line(who, _rounds(rows), relative))
    zero = Reference("best_classifier", "Best classifier in hindsight", BEST_CLASSIFIER, 0.0, 0.0, 0.0)
    return Panel(ROUND_LABEL, "Relative loss (errors)", tuple(lines), (zero,))


def loss_against_case(record: Record, options: dict[str, Any]) -> Panel:
    """Final loss of every learner at the largest budget, one position per case (or per case whose label begins so)."""
    final = _final(record)
    final = final[(final["budget"] == final["budget"].max()) | (final["kind"] != "learner")]
    beginning = options.get("cases", "")
    cases = [case for case in record.cases() if case.startswith(beginning)]
    lines = []
    for position, name in enumerate(_learner_labels(record)):
        rows = final[(final["series"] == name) & (final["kind"] == "learner")]
        loss = pivot(rows, "loss", "case").loc[cases]
        look = look_of(name, position)
        limits = band(loss.to_numpy())
        lines.append(Series(name, look.title, look, np.arange(len(cases), dtype=float), *limits))
    return Panel(
        options.get("x_label", ""),
        ERRORS_LABEL,
        tuple(lines),
        tuple(_references(final, options.get("references", ()))),
        tick_labels=tuple(case.removeprefix(beginning).strip() for case in cases),
    )


def pivot(rows: pd.DataFrame, values: str, index: str) -> pd.DataFrame:
    """Return values as a table with one row per entry of `index` (ascending) and one column per realization."""
    return rows.pivot(index=index, columns="realization", values=values).sort_index()


class _Identity(NamedTuple):
    name: str
    label: str
    look: Look


def _line(who: _Identity, x: npt.ArrayLike, values: npt.ArrayLike) -> Series:
    """Return the line of a learner from values (points, R)."""
    return Series(*who, np.asarray(x, dtype=np.float64), *band(values))


def _learner_labels(record: Record) -> list[str]:
    return [learner["label"] for learner in record.facts["plan"]["learners"]]


def _learners(rows: pd.DataFrame) -> Iterator[tuple[_Identity, pd.DataFrame]]:
    """Yield every learner in every case with its rows, in the order in which they were recorded."""
    learners = rows[rows["kind"] == "learner"]
    cases = list(learners["case"].unique())
    groups = learners.groupby(["case", "series"], observed=True, sort=False)
    for position, ((case, name), group) in enumerate(groups):
        look = look_of(str(name), position)
        # A learner keeps its colour and marker in every case; the line tells the cases apart.
        look = look if case == cases[0] else look._replace(line=SECOND_CASE_LINE)
        label = f"{look.title}, {case}" if case else look.title
        yield _Identity(f"{name} {case}".strip(), label, look), group


def _final(record: Record) -> pd.DataFrame:
    return record.table[record.table["round"] == record.facts["plan"]["horizon"]]


def _traced(record: Record, options: dict[str, Any]) -> pd.DataFrame:
    budgets = record.facts["plan"]["trace_budgets"]
    # At reduced scale the wanted budget may be smaller than planned: the nearest recorded one stands for it.
    wanted = options.get("budget", max(budgets))
    budget = min(budgets, key=lambda b: abs(b - wanted))
    rows = record.table
    rounds = record.facts["plan"]["trace_rounds"]
    return rows[(rows["budget"] == budget) & rows["round"].isin(rounds)]


def _rounds(rows: pd.DataFrame) -> Array:
    return np.sort(rows["round"].unique()).astype(np.float64)


def _references(final: pd.DataFrame, wanted: list[str]) -> Iterator[Reference]:
    """Yield levels: the best of a group first and labelled, then the others in one grey.

    Wanted entries: best_classifier, classifiers, best_policy, policies, normal, bad_policies.
    """
    groups = {
        "best_classifier": (("classifier",), "Best classifier", BEST_CLASSIFIER, 1),
        "classifiers": (("classifier",), "Best reference", BEST_REFERENCE, None),
        "best_policy": (("normal", "biased"), "Best policy", BEST_REFERENCE, 1),
        "policies": (POLICY_KINDS, "Best policy", BEST_REFERENCE, TOP_POLICIES),
        "normal": (("normal", "biased"), "Best reference", BEST_REFERENCE, None),
        "bad_policies": (("malicious", "random"), "Best reference", BEST_REFERENCE, None),
    }
    # What a classifier or a policy's favourite model loses is the same in every case.
    final = final[final["case"] == final["case"].iloc[0]]
    for entry in wanted:
        kinds, title, best_look, count = groups[entry]
        rows = final[final["kind"].isin(kinds)]
        if rows.empty:
            continue
        losses = pivot(rows, "loss", "series")
        losses = losses.loc[losses.mean(axis=1).sort_values(kind="stable").index][:count]
        for rank, (name, values) in enumerate(losses.iterrows()):
            limits = (float(v) for v in band(values.to_numpy()))
            label, look = (title, best_look) if rank == 0 else ("Other references", OTHER_REFERENCE)
            yield Reference(str(name), label, look, *limits)
