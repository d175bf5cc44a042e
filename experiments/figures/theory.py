"""Panels of the experiments about regret: measured against bounds, over horizons or over rounds.

A bound has the colour of the line that it is about, dotted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from cams.errors import InputError
from cams.plotting.appearance import (
    BLACK,
    BLUE,
    DOTTED,
    GREEN,
    GREY,
    OLIVE,
    ORANGE,
    SKY,
    Look,
    look_of,
)
from cams.plotting.panel import Panel, Series
from experiments.figures.panels import ROUND_LABEL
from experiments.records.record import Record
from experiments.statistics.bands import band

HORIZON_LABEL = "Horizon T"
Y_LABELS = {"regret": "Regret", "queries": "Labels bought"}
# Of cases, so that none is taken for a learner beside them.
_COLOURS = (BLUE, GREEN, GREY, OLIVE, ORANGE, SKY)
_MARKERS = ("s", "^", "X", "D", "v", "P")


def regret_against_horizon(record: Record, options: dict[str, Any]) -> Panel:
    """Mean regret of the first learner against T for every case, each with its bound."""
    return _against_horizon(_of_first_learner(record), "regret", "case", _look_of_case)


def labels_against_horizon(record: Record, options: dict[str, Any]) -> Panel:
    """Mean labels that the first learner bought against T for every case, each with its bound."""
    return _against_horizon(_of_first_learner(record), "queries", "case", _look_of_case)


def regret_of_learners(record: Record, options: dict[str, Any]) -> Panel:
    """Mean regret of every learner against T in one case, each with its bound."""
    return _against_horizon(_of_case(record, options.get("order", 0)), "regret", "series", look_of)


def labels_of_learners(record: Record, options: dict[str, Any]) -> Panel:
    """Mean labels that every learner bought against T in one case, each with its bound."""
    return _against_horizon(_of_case(record, options.get("order", 0)), "queries", "series", look_of)


def regret_over_time(record: Record, options: dict[str, Any]) -> Panel:
    """Regret of every learner up to round t on one order, against the best policy up to t, and its bound if any."""
    lines = _with_bounds(_of_case(record, options.get("order", 0)), "regret", "series", look_of)
    # The bounds are far above what happens: a linear axis would show nothing else.
    return Panel(ROUND_LABEL, "Regret against best policy", lines, scales=("linear", "symlog"))


def _against_horizon(table: pd.DataFrame, quantity: str, column: str, look: Callable[[str, int], Look]) -> Panel:
    lines = _with_bounds(table, quantity, column, look)
    return Panel(HORIZON_LABEL, Y_LABELS[quantity], lines, scales=("log", "log"))


def _with_bounds(
    table: pd.DataFrame, quantity: str, column: str, look: Callable[[str, int], Look]
) -> tuple[Series, ...]:
    """Return a line for every entry of a column, and after it its bound: the paper's, or our own."""
    lines = []
    for position, (name, rows) in enumerate(table.groupby(column, observed=True, sort=False)):
        seen = look(str(name), position)
        measured = pivot(rows, quantity, "round")
        rounds = measured.index.to_numpy(dtype=np.float64)
        lines.append(Series(str(name), seen.title, seen, rounds, *band(measured.to_numpy())))
        bound = rows.assign(bound=rows[f"{quantity}_bound"].fillna(rows[f"own_{quantity}_bound"]))
        limit = pivot(bound, "bound", "round").mean(axis=1).to_numpy(dtype=np.float64)
        if np.isfinite(limit).all():
            lines.append(Series(f"{name} bound", "", Look("", seen.colour, "", DOTTED), rounds, limit, limit, limit))
    # One legend entry, in black, stands for all bounds.
    entry = np.array([np.nan])
    lines.append(Series("bound", "Bound, same colour", Look("", BLACK, "", DOTTED), entry, entry, entry, entry))
    return tuple(lines)


def _with_regret(record: Record) -> pd.DataFrame:
    if "reference" not in record.table:
        raise InputError(f"{record} has no regret, which a panel is about")
    return record.table.assign(regret=record.table["loss"] - record.table["reference"])


def _of_first_learner(record: Record) -> pd.DataFrame:
    table = _with_regret(record)
    return table[table["series"] == table["series"].iloc[0]]


def _of_case(record: Record, number: int) -> pd.DataFrame:
    table = _with_regret(record)
    cases = list(table["case"].unique())
    if number >= len(cases):
        raise InputError(f"a panel is about order {number}, and the record has {len(cases)}: {', '.join(cases)}")
    return table[table["case"] == cases[number]]


def _look_of_case(case: str, position: int) -> Look:
    return Look(case, _COLOURS[position % len(_COLOURS)], _MARKERS[position % len(_MARKERS)], "-")


def pivot(rows: pd.DataFrame, values: str, index: str) -> pd.DataFrame:
    """Return values as a table with one row per entry of `index` (ascending) and one column per realization."""
    return rows.pivot(index=index, columns="realization", values=values).sort_index()
