"""Rows of a table of any kind: an array, a DataFrame, a sparse matrix or a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from cams.errors import InputError

# A neighbour search or a kernel on all rows at once would need memory for every pair.
CHUNK_ROWS = 2_000


def num_rows(X: Any) -> int:
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputError("X has masked entries, expected a value in each")
    if hasattr(X, "shape") and X.shape:
        return int(X.shape[0])
    if not (hasattr(X, "__len__") and hasattr(X, "__getitem__")):
        raise InputError(f"X is {X!r}, expected rows")
    return len(X)


def require_one_order(**tables: Any) -> None:
    """Refuse tables whose rows have names, by an index that is no mere count, and do not come in one order.

    Rows belong together by position; of two tables with other indices one has been shuffled or sorted.
    """
    indices = {what: table.index for what, table in _single(tables) if isinstance(table, pd.DataFrame | pd.Series)}
    # A count that runs backwards is an order of its own, which differs from one that runs forwards.
    reversed_ = any(isinstance(index, pd.RangeIndex) and index.step < 0 for index in indices.values())
    named = {what: index for what, index in indices.items() if reversed_ or not isinstance(index, pd.RangeIndex)}
    for what, index in named.items():
        first = next(iter(named))
        if len(index) == len(named[first]) and not index.equals(named[first]):
            raise InputError(
                f"{what} has another index than {first}; bring both into one order, "
                "or drop the index (reset_index(drop=True)) if row i of one belongs to row i of the other"
            )


def _single(tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each table, and each column of those that are given by name, with what it is called in a sentence."""
    for what, table in tables.items():
        if isinstance(table, Mapping):
            yield from ((f"{what}['{name}']", column) for name, column in table.items())
        else:
            yield what, table


def take(X: Any, rows: Any) -> Any:
    """Return some rows, by an array of numbers or a slice."""
    # Not every sparse matrix can be cut into rows.
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[i] for i in np.arange(len(X))[rows]]


def row_chunks(X: Any) -> Iterator[Any]:
    for start in range(0, num_rows(X), CHUNK_ROWS):
        yield take(X, slice(start, start + CHUNK_ROWS))
