"""One instance as a caller gives it: predictions and advice, checked and copied into arrays that are used again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.advice import SUM_TOLERANCE
from cams.checks import as_array, distinct
from cams.classes import ABSTAINS, as_plain, is_missing
from cams.engine.one_round import BAD_PREDICTION, NORMALISED, take_in
from cams.errors import InputError
from cams.online.options import Options

Array = npt.NDArray[Any]

_NO_ADVICE = np.empty(0)
# How far the sum of a row may be from 1 and still be left alone, by the precision in which it came.
_SINGLE, _DOUBLE = (4 * float(np.finfo(kind).eps) for kind in (np.float32, np.float64))


class Intake:
    """Takes in instances of k models and n policies; what `take` returns is overwritten by the next instance."""

    def __init__(self, options: Options) -> None:
        self.options = options
        n, k = len(options.policies), len(options.models)
        self.votes = np.zeros(k, dtype=np.int32)
        self.advice = np.zeros((n, k))
        self.some_abstain = False
        self._given = np.zeros(k, dtype=np.int64)
        self._single = False

    def take(self, predictions: npt.ArrayLike, advice: Any, at: str = "") -> None:
        """Write an instance to `votes` (k,) and `advice` (n, k); `at` is where in a batch it stands, for errors."""
        given = self._class_numbers(predictions, at)
        if isinstance(advice, pd.DataFrame):
            advice = self._named_advice(advice, at)
        elif _has_names(advice):
            place, models = f"advice{_brackets(at)}", self.options.models
            advice = [in_order(f"{place}[{i}]", row, models) for i, row in enumerate(advice)]
        pi = _NO_ADVICE if advice is None else as_array("advice", advice)
        self._check_advice(pi, at)
        # A number too large for the buffer becomes negative and is refused like any other that is no class.
        np.copyto(self._given, given, casting="unsafe")
        if self.options.policies:
            np.copyto(self.advice, pi)
        wide = pi.dtype.itemsize >= 8 and pi.dtype.kind == "f"
        exact, least = _DOUBLE if wide else _SINGLE, ABSTAINS if self.some_abstain else 0
        found = take_in(self._given, least, self.options.num_classes, self.votes, self.advice, exact, SUM_TOLERANCE)
        if found >= BAD_PREDICTION:
            self._refuse(found, given, at)
        self._single = not wide
        if found == NORMALISED and self._single:
            np.copyto(self.advice, self.advice_as_given())  # rounded, as in a bundle

    def advice_as_given(self) -> Array:
        """Return a copy of the advice in the precision in which it came."""
        return self.advice.astype(np.float32 if self._single else np.float64)

    def _class_numbers(self, predictions: npt.ArrayLike, at: str) -> Array:
        """Return predictions (k,) as class numbers; whole numbers stay as they are, to be checked by compiled code."""
        if type(predictions) is not np.ndarray:
            predictions = in_order(f"predictions{_brackets(at)}", predictions, self.options.models)
        plain = self.options.classes is None and self.options.abstain is None
        given = as_array("predictions", predictions) if plain else _listed(predictions)
        if given.shape != self.votes.shape:
            place, k = f"predictions{_brackets(at)}", len(self.votes)
            raise InputError(f"{place} has shape {given.shape}, expected ({k},), one label per model")
        if given.dtype.kind not in "iufO":
            raise InputError(f"predictions has type {given.dtype}, expected integers")
        numbers = self._all_at_once(given)
        if numbers is None:
            numbers = np.array([self._class_number(value, at, j) for j, value in enumerate(given.tolist())])
        self.some_abstain = numbers is not given and bool((numbers == ABSTAINS).any())
        if self.some_abstain and (numbers == ABSTAINS).all():
            raise InputError(f"predictions{_brackets(at)} has no answer at all, expected that of one model or more")
        return numbers

    def _all_at_once(self, given: Array) -> Array | None:
        """Return class numbers (k,), or None where some value is no plain class and each must be looked at."""
        named, abstain = self.options.classes, self.options.abstain
        if named is not None:
            return named.plain_numbers(given.tolist())
        if given.dtype.kind == "O":
            return None
        if given.dtype.kind != "f" and abstain is None:
            return given
        silent = np.isnan(given) | (given == abstain)
        plain = silent | ((given >= 0) & (given < self.options.num_classes) & (given == np.floor(given)))
        # Among unsigned numbers there is none that says "no answer".
        signed = given.astype(np.int64) if given.dtype.kind == "u" else given
        return np.where(silent, ABSTAINS, signed) if plain.all() else None

    def _class_number(self, value: Any, at: str, j: int) -> int:
        if is_missing(value) or (self.options.abstain is not None and value == self.options.abstain):
            return ABSTAINS
        place = f"predictions{_brackets(at, j)}"
        if self.options.classes is not None:
            return self.options.classes.number(value, place)
        return class_number(place, value, self.options.num_classes)

    def _named_advice(self, advice: pd.DataFrame, at: str) -> pd.DataFrame:
        """Return a table of advice in the order of the models (columns) and of the policies (rows)."""
        place = f"advice{_brackets(at)}"
        if not isinstance(advice.columns, pd.RangeIndex):
            advice = advice[_sorted_names(place, advice.columns, self.options.models)]
        if not isinstance(advice.index, pd.RangeIndex):
            advice = advice.loc[_sorted_names(place, advice.index, self.options.policies, "policy")]
        return advice

    def _check_advice(self, pi: Array, at: str) -> None:
        n, k = self.advice.shape
        if pi.shape != (n, k) and (n or pi.size):
            raise InputError(f"advice{_brackets(at)} has shape {pi.shape}, expected ({n}, {k}), one row per policy")
        if n and pi.dtype.kind not in "fiu":
            raise InputError(f"advice has type {pi.dtype}, expected real numbers")

    def _refuse(self, found: int, given: Array, at: str) -> NoReturn:
        """Say what `take_in` found wrong, and where."""
        if found == BAD_PREDICTION:
            c = self.options.num_classes
            j = int(np.argmax((self._given < 0) | (self._given >= c)))
            raise InputError(f"predictions{_brackets(at, j)} is {given[j]}, expected a class in 0..{c - 1}")
        pi = self.advice
        wrong = ~(pi >= 0) | ~np.isfinite(pi)
        if wrong.any():
            i, j = (int(position) for position in np.argwhere(wrong)[0])
            place, value = f"advice{_brackets(at, i, j)}", pi[i, j]
            raise InputError(f"{place} is {value:g}, expected a probability (policy '{self.options.policies[i]}')")
        with np.errstate(over="ignore"):
            sums = pi.sum(axis=1)
        i = int(np.argmax(np.abs(sums - 1) > SUM_TOLERANCE))
        raise InputError(
            f"advice{_brackets(at, i)} sums to {sums[i]:.4g}, expected 1 (policy '{self.options.policies[i]}')"
        )


def in_order(place: str, values: Any, names: list[str], what: str = "model") -> Any:
    """Return values that have names, of a dict or a series, in the order of `names`; others as they are."""
    if isinstance(values, pd.Series):
        if not isinstance(values.index, pd.RangeIndex):
            distinct(place, values.index.map(str).tolist())
        values = values.tolist() if isinstance(values.index, pd.RangeIndex) else values.to_dict()
    # Their gaps are missing values, as those of a series are; numpy would see a mask.
    if isinstance(values, pd.api.extensions.ExtensionArray):
        values = values.tolist()
    if not isinstance(values, Mapping):
        return values
    if set(values) != set(names):
        values = {str(name): value for name, value in values.items()}
    if set(values) != set(names):
        odd = sorted(map(str, set(values) ^ set(names)))[0]
        raise InputError(f"{place} {'lacks' if odd in names else f'has no {what}'} '{odd}'")
    return [values[name] for name in names]


def _sorted_names(place: str, found: pd.Index, names: list[str], what: str = "model") -> list[Any]:
    """Return the names of a table's rows or columns in the order of `names`, each of which must be there once."""
    listed: list[Any] = in_order(place, pd.Series(found, index=found), names, what)
    return listed


def batch(
    predictions: Any, advice: npt.ArrayLike | None, models: list[str]
) -> tuple[Sequence[Any] | Array, Sequence[Any] | Array]:
    """Return N instances' predictions and their advice, None each where there is none."""
    if isinstance(predictions, pd.DataFrame):
        if not isinstance(predictions.columns, pd.RangeIndex):
            predictions = predictions[_sorted_names("predictions", predictions.columns, models)]
        predictions = predictions.to_numpy()
    # A list stays one: numpy would make words of ["x", 1].
    rows = list(predictions) if isinstance(predictions, list | tuple) else as_array("predictions", predictions)
    if not isinstance(rows, list) and rows.ndim != 2:
        raise InputError(f"predictions has {rows.ndim} dimension(s), expected 2, a row per instance")
    pi = [None] * len(rows) if advice is None else _advice_by_instance(advice)
    if len(pi) != len(rows):
        raise InputError(f"advice has {len(pi)} instances, expected {len(rows)} as in predictions")
    return rows, pi


def _advice_by_instance(advice: Any) -> Sequence[Any] | Array:
    """Return advice an instance at a time; a list of tables stays one, for an array would lose their names."""
    if isinstance(advice, list | tuple) and any(isinstance(one, pd.DataFrame) or _has_names(one) for one in advice):
        return advice
    return np.atleast_1d(as_array("advice", advice))


def _has_names(rows: Any) -> bool:
    """Say whether rows of advice come with the models' names."""
    return isinstance(rows, list | tuple) and any(isinstance(row, pd.Series | Mapping) for row in rows)


def _listed(values: Any) -> Array:
    """Return a list of anything as an array (k,): numpy by itself would look into tuples, and make words of 1."""
    if hasattr(values, "__array__"):
        array = as_array("predictions", values)
        return array if array.dtype.kind in "iuf" else array.astype(object)
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise InputError(f"predictions is {values!r}, expected one class per model")
    listed = np.empty(len(values), dtype=object)
    for j, value in enumerate(values):
        listed[j] = value
    return listed


def class_number(place: str, value: Any, num_classes: int) -> int:
    """Return a class that is its own number; 2.0 is 2."""
    value = as_plain(value)
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    whole = whole or (isinstance(value, float | np.floating) and float(value).is_integer())
    if not whole or not 0 <= value < num_classes:
        raise InputError(f"{place} is {value!r}, expected a class in 0..{num_classes - 1}")
    return int(value)


def _brackets(at: str, *position: int) -> str:
    """Return `[2]`, or `[5, 2]` within a batch, or nothing where the whole instance is meant."""
    inside = ", ".join([*([at] if at else []), *map(str, position)])
    return f"[{inside}]" if inside else ""
