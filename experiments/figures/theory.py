"""Panels of the experiments about regret: measured against bounds, over horizons or over rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from cams.plotting.appearance import (
    BLACK,
    BLUE,
    DOTTED,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Look,
    look_of,
)
from cams.plotting.panel import Panel, Series
from experiments.figures.panels import ROUND_LABEL
from experiments.records.record import Record
from experiments.statistics.bands import band

HORIZON_LABEL = "Horizon T"
_COLOURS = (VERMILION, BLUE, GREEN, PURPLE, ORANGE, SKY, GREY)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def regret_against_horizon(record: Record, options: dict[str, Any]) -> Panel:
    """Mean regret against T for every case, each with its bound."""
    table = record.table.assign(regret=record.table["loss"] - record.table["reference"])
    return _against_horizon(table, "regret", "Regret")


def labels_against_horizon(record: Record, options: dict[str, Any]) -> Panel:
    """Mean labels bought against T for every case, each with its bound."""
    return _against_horizon(record.table, "queries", "Labels bought")


def _against_horizon(table: pd.DataFrame, quantity: str, y_label: str) -> Panel:
    lines = []
    for position, (case, rows) in enumerate(table.groupby("case", observed=True, sort=False)):
        colour = _COLOURS[position % len(_COLOURS)]
        measured = pivot(rows, quantity, "round")
        horizons = measured.index.to_numpy(dtype=np.float64)
        look = Look(str(case), colour, _MARKERS[position % len(_MARKERS)], "-")
        lines.append(Series(str(case), str(case), look, horizons, *band(measured.to_numpy())))
        limit = pivot(rows, f"{quantity}_bound", "round").mean(axis=1).to_numpy(dtype=np.float64)
        if np.isfinite(limit).all():
            # One legend entry, in black, stands for the bounds of all cases.
            lines.append(Series(f"{case} bound", "", Look("", colour, "", DOTTED), horizons, limit, limit, limit))
    entry = np.array([np.nan])
    lines.append(Series("bound", "Bound, same colour", Look("", BLACK, "", DOTTED), entry, entry, entry, entry))
    return Panel(HORIZON_LABEL, y_label, tuple(lines), scales=("log", "log"))


def regret_over_time(record: Record, options: dict[str, Any]) -> Panel:
    """Regret of every learner up to round t on one order, against the best policy up to t, beside Theorem 3."""
    table = record.table.assign(regret=record.table["loss"] - record.table["reference"])
    order = list(table["case"].unique())[options["order"]]
    table = table[table["case"] == order]
    lines = []
    for position, (name, rows) in enumerate(table.groupby("series", observed=True, sort=False)):
        regret = pivot(rows, "regret", "round")
        rounds = regret.index.to_numpy(dtype=np.float64)
        look = look_of(str(name), position)
        lines.append(Series(str(name), look.title, look, rounds, *band(regret.to_numpy())))
    bounded = table[table["regret_bound"].notna()]
    limit = pivot(bounded, "regret_bound", "round").mean(axis=1)
    rounds, values = limit.index.to_numpy(dtype=np.float64), limit.to_numpy(dtype=np.float64)
    lines.append(Series("theorem 3", "Theorem 3", Look("", BLACK, "", DOTTED), rounds, values, values, values))
    # The bound is far above what happens: a linear axis would show nothing else.
    return Panel(ROUND_LABEL, "Regret against best policy", tuple(lines), scales=("linear", "symlog"))


def pivot(rows: pd.DataFrame, values: str, index: str) -> pd.DataFrame:
    """Return values as a table with one row per entry of `index` (ascending) and one column per realization."""
    return rows.pivot(index=index, columns="realization", values=values).sort_index()
