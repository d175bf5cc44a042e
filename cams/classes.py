"""Classes as people have them: strings, numbers, anything hashable, to class numbers 0..c-1 and back.

A value that is missing (None, NaN) is a model that has no answer: it abstains.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.checks import as_array, is_listed
from cams.errors import InputError, nearest

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

# The class number of a model that has no answer.
ABSTAINS = -1

# What pandas calls columns of numbers; a column of missing values alone may be one.
_NUMBERS = ("integer", "floating", "mixed-integer-float", "empty")


class Classes(Sequence[Any]):
    """The classes of a problem in their order; the position of a class is its number."""

    def __init__(self, classes: Iterable[Hashable]) -> None:
        if isinstance(classes, str):
            raise InputError(f"classes is '{classes}', expected a list of classes")
        # A set has no order, and class numbers have one.
        if isinstance(classes, bytes | set | frozenset) or not is_listed(classes):
            raise InputError(f"classes is {classes!r}, expected a list of classes")
        listed = [as_plain(value) for value in classes]
        if not listed:
            raise InputError("classes is empty, expected at least one")
        if any(is_missing(value) for value in listed):
            raise InputError("classes has a missing value (None or NaN), which stands for a model without an answer")
        try:
            self._number = {value: i for i, value in enumerate(listed)}
        except TypeError as error:
            raise InputError(f"classes has a value that cannot be a class ({error})") from None
        if len(self._number) < len(listed):
            twice = next(value for value in listed if listed.count(value) > 1)
            raise InputError(f"classes has {twice!r} twice")
        self._listed = listed

    def __getitem__(self, number: Any) -> Any:
        return self._listed[number]

    def __len__(self) -> int:
        return len(self._listed)

    def __repr__(self) -> str:
        return f"Classes({self._listed!r})"

    def number(self, value: Any, name: str = "label") -> int:
        """Return the number of one class."""
        try:
            return self._number[as_plain(value)]
        except (KeyError, TypeError):
            raise self._unknown(value, name) from None

    def plain_numbers(self, values: list[Any]) -> Integers | None:
        """Return the numbers of a list of classes as fast as can be, None if any value is missing or unknown."""
        try:
            return np.array([self._number[value] for value in values])
        except (KeyError, TypeError):
            return None

    def numbers(self, values: Any, name: str) -> Integers:
        """Return the class numbers of an array of classes of any shape, `ABSTAINS` where a value is missing."""
        given = objects(values)
        flat = given.ravel()
        missing = np.asarray(pd.isna(flat))
        found = np.array([self._find(value) for value in flat], dtype=np.int64)
        unknown = (found < 0) & ~missing
        if unknown.any():
            at = np.unravel_index(int(unknown.argmax()), given.shape)
            place = f"{name}[{', '.join(map(str, at))}]" if given.ndim else name
            raise self._unknown(given[at], place)
        return np.where(missing, ABSTAINS, found).reshape(given.shape)

    def _find(self, value: Any) -> int:
        """Return the number of a class, -1 if it is none; 1, 1.0 and numpy's 1 are one class."""
        try:
            return self._number.get(as_plain(value), -1)
        except TypeError:  # a list, which no class can be
            return -1

    def _unknown(self, value: Any, place: str) -> InputError:
        words = [str(known) for known in self._listed]
        shown = ", ".join(map(repr, self._listed[:8])) + (", ..." if len(self) > 8 else "")
        return InputError(
            f"{place} is {as_plain(value)!r}, expected one of the classes {shown}{nearest(str(value), words)}"
        )


def learn_classes(*arrays: Any) -> Classes:
    """Return every class that occurs, in sorted order where the classes have one, else as they first appear."""
    seen: dict[Any, None] = {}
    for values in arrays:
        for value in objects(values).ravel():
            if not is_missing(value):
                seen[as_plain(value)] = None
    try:
        return Classes(sorted(seen))
    except TypeError:
        return Classes(seen)


def abstentions(given: Array, abstain: Any = None) -> npt.NDArray[np.bool_]:
    """Say for each prediction whether the model had no answer: a missing value, or one equal to `abstain`."""
    # numpy would compare a list column by column, and find no value that is equal to a set.
    if isinstance(abstain, Iterable) and not isinstance(abstain, str | bytes):
        raise InputError(f"abstain is {abstain!r}, expected a single value")
    # Whole numbers are never missing, and a large array of them need not be looked through.
    missing = np.zeros(given.shape, dtype=np.bool_) if given.dtype.kind in "iu" else np.asarray(pd.isna(given))
    if is_missing(abstain):
        return missing
    # Whether a missing value of pandas' own is equal to anything is unknown, which is no truth value.
    if given.dtype.kind == "O" and missing.any():
        given = given.copy()
        given[missing] = None
    return missing | np.asarray(given == abstain, dtype=np.bool_)


def named_columns(predictions: Any) -> tuple[list[str] | None, Array]:
    """Return the models' names, where the columns have some, and the predictions (N, k) as an array."""
    if isinstance(predictions, Mapping):
        columns = [answers_of("predictions", as_column(column)) for column in predictions.values()]
        if len({column.shape for column in columns}) > 1:
            shapes = ", ".join(f"'{name}' {column.shape}" for name, column in zip(predictions, columns, strict=True))
            raise InputError(f"predictions has columns of different lengths: {shapes}")
        if not columns:
            raise InputError("predictions has no column, expected one for each model")
        if columns[0].ndim == 0:
            raise InputError("predictions has columns without rows, expected one class per row")
        return [str(name) for name in predictions], np.stack(columns, axis=1)
    names = [str(name) for name in predictions.columns] if hasattr(predictions, "columns") else None
    answers = answers_of("predictions", predictions)
    if answers.ndim != 2:
        raise InputError(f"predictions has {answers.ndim} dimension(s), expected 2, rows and models")
    return names, answers


def answers_of(name: str, values: Any) -> Array:
    """Return predictions or labels as an array; of ["a", nan] and ["1", 1] numpy would make words throughout."""
    answers = as_array(name, values)
    return objects(values) if answers.dtype.kind in "US" else answers


def as_column(values: Any) -> Any:
    """Return classes, one per row, of which some are tuples as an array (N,); others as they are."""
    if not isinstance(values, list | tuple) or not any(isinstance(value, tuple) for value in values):
        return values
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def named_classes(predictions: Any, labels: Any, classes: Iterable[Hashable] | None) -> Classes | None:
    """Return the classes that predictions and labels speak in, None if they are class numbers already."""
    if classes is not None:
        return Classes(classes)
    given = [values for values in (predictions, labels) if values is not None]
    in_numbers = [_are_numbers(values) for values in given]
    if all(in_numbers):
        return None
    if any(in_numbers):
        what = ("predictions are numbers and labels are not", "labels are numbers and predictions are not")
        raise InputError(f"{what[in_numbers.index(False) == 0]}, so nobody could be right")
    if {_kind_of_words(values) for values in given} == {"bytes", "string"}:
        raise InputError("of predictions and labels one is text and the other bytes, so nobody could be right")
    return learn_classes(*given)


def check_speech(predictions: Array, silent: npt.NDArray[np.bool_], labels: Any, names: Sequence[str] | None) -> None:
    """Refuse a model that answers in numbers where others, and the labels if there are any, speak in words."""
    if predictions.dtype.kind != "O" or _are_numbers(predictions[~silent]):
        return
    if labels is not None and _kind_of_words(labels) != "string":
        return
    for j in range(predictions.shape[1]):
        answers = predictions[~silent[:, j], j]
        if answers.size and _are_numbers(answers):
            who = f"model {j}" if names is None else f"model '{names[j]}'"
            raise InputError(f"{who} answers in numbers and others in words, so they could never agree")


def _are_numbers(values: Any) -> bool:
    """Say whether values are numbers, missing ones aside."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values.dtype.kind in "iuf"
    return _kind_of_words(values) in _NUMBERS


def _kind_of_words(values: Any) -> str:
    """Return what pandas calls values of one type, missing ones aside."""
    return str(pd.api.types.infer_dtype(objects(values).ravel(), skipna=True))


def objects(values: Any) -> Array:
    """Return values of any type as an array of Python objects: numpy would make words of [1, "one"]."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        # numpy makes plain numbers of some dates, which are equal to no date.
        return np.asarray(pd.Series(values.ravel()).astype(object)).reshape(values.shape)
    return np.array(values, dtype=object)


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN or one of pandas' missing values."""
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float | np.floating) and bool(value != value))
    )


def as_plain(value: Any) -> Any:
    """Return a scalar of numpy's or of a tensor as Python's own: what a user gets back looks as it was given."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return objects(np.array([value]))[0]
    is_scalar = isinstance(value, np.generic) or (getattr(value, "ndim", None) == 0 and hasattr(value, "item"))
    return value.item() if is_scalar else value
