"""What is the first difference between two results that should be the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import cams
from experiments.records.columns import COLUMNS
from experiments.records.store import read_record

KEYS = [column for column in COLUMNS if column not in ("loss", "queries")]


def record_difference(kept: Path, made: Path) -> str:
    """Return the first difference of a record made again from the one that was kept, or an empty string.

    Values decide. The plan and the bundle count too, the code does not: that it changed and the values did not is what
    one wants to see.
    """
    try:
        old = read_record(kept)
    except cams.InputError as error:
        return str(error)
    new = read_record(made)
    for fact in ("plan", "bundle"):
        if old.facts[fact] != new.facts[fact]:
            return f"{fact}: {value_difference(old.facts[fact], new.facts[fact])}"
    return table_difference(old.table, new.table)


def table_difference(old: pd.DataFrame, new: pd.DataFrame) -> str:
    if list(old) != list(new):
        return f"columns {', '.join(map(str, old))} are now {', '.join(map(str, new))}"
    if len(old) != len(new):
        return f"{len(old)} rows are now {len(new)}"
    for column in old:
        before, after = old[column].to_numpy(), new[column].to_numpy()
        same = (before == after) | (pd.isna(before) & pd.isna(after))
        if not same.all():
            row = int(np.argmin(same))
            place = ", ".join(f"{key} {old[key].iloc[row]}" for key in KEYS if old[key].iloc[row] != "")
            return f"{column} {before[row]} is now {after[row]} ({place})"
    return ""


def value_difference(old: Any, new: Any, where: str = "") -> str:
    """Return where two values, as JSON has them, differ first, or an empty string."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            place = f"{where}.{key}" if where else str(key)
            if key not in old or key not in new:
                return f"{place} is {'new' if key in new else 'gone'}"
            if difference := value_difference(old[key], new[key], place):
                return difference
        return ""
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f"{where} has {len(new)} entries, not {len(old)}"
        pairs = (value_difference(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(old, new, strict=True)))
        return next((difference for difference in pairs if difference), "")
    return "" if old == new else f"{where} {old!r} is now {new!r}"
