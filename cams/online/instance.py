"""One instance as a caller gives it: predictions and advice, checked and copied into arrays that are used again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.advice import SUM_TOLERANCE
from cams.checks import as_array
from cams.classes import Classes
from cams.engine.one_round import BAD_PREDICTION, SOUND, take_in
from cams.errors import InputError

Array = npt.NDArray[Any]

_NO_ADVICE = np.empty(0)
# How far the sum of a row may be from 1 and still be left alone, by the precision in which it came.
_SINGLE, _DOUBLE = (4 * float(np.finfo(kind).eps) for kind in (np.float32, np.float64))


class Intake:
    """Takes in instances of k models and n policies; what `take` returns is overwritten by the next instance."""

    def __init__(self, models: list[str], policies: list[str], num_classes: int, classes: Classes | None) -> None:
        self.models, self.policies, self.num_classes, self.classes = models, policies, num_classes, classes
        num_models = len(models)
        self.votes = np.zeros(num_models, dtype=np.int32)
        self.advice = np.zeros((len(policies), num_models))
        self._given = np.zeros(num_models, dtype=np.int64)
        self._single = False

    def take(self, predictions: npt.ArrayLike, advice: npt.ArrayLike | None, at: str = "") -> None:
        """Write an instance to `votes` (k,) and `advice` (n, k); `at` is where in a batch it stands, for errors."""
        given = self._given_numbers(predictions, at)
        pi = _NO_ADVICE if advice is None else as_array("advice", advice)
        self._check_kinds(given, pi, at)
        # A number too large for the buffer becomes negative and is refused like any other that is no class.
        np.copyto(self._given, given, casting="unsafe")
        if len(self.policies):
            np.copyto(self.advice, pi, casting="unsafe")
        wide = pi.dtype.itemsize >= 8 and pi.dtype.kind == "f"
        exact = _DOUBLE if wide else _SINGLE
        found = take_in(self._given, self.num_classes, self.votes, self.advice, exact, SUM_TOLERANCE)
        if found >= BAD_PREDICTION:
            self._refuse(found, given, at)
        self._single = found == SOUND and not wide

    def kept(self) -> tuple[npt.NDArray[np.int32], Array]:
        """Return copies of votes and advice to keep, in single precision where that loses nothing."""
        return self.votes.copy(), self.advice.astype(np.float32 if self._single else np.float64)

    def _given_numbers(self, predictions: npt.ArrayLike, at: str) -> Array:
        """Return predictions as an array, of class numbers where classes have names."""
        if type(predictions) is not np.ndarray:
            predictions = in_order(f"predictions{_brackets(at)}", predictions, self.models)
        if self.classes is None:
            return as_array("predictions", predictions)
        values = predictions.tolist() if isinstance(predictions, np.ndarray) else predictions
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise InputError(f"predictions{_brackets(at)} is {values!r}, expected one class per model")
        return np.array([self.classes.number(v, f"predictions{_brackets(at, j)}") for j, v in enumerate(values)])

    def _check_kinds(self, given: Array, pi: Array, at: str) -> None:
        n, k = self.advice.shape
        if given.shape != (k,):
            raise InputError(
                f"predictions{_brackets(at)} has shape {given.shape}, expected ({k},), one label per model"
            )
        if given.dtype.kind not in "iu":
            _refuse_kind(given, at)
        if pi.shape != (n, k) and (n or pi.size):
            raise InputError(f"advice{_brackets(at)} has shape {pi.shape}, expected ({n}, {k}), one row per policy")
        if n and pi.dtype.kind not in "fiu":
            raise InputError(f"advice has type {pi.dtype}, expected real numbers")

    def _refuse(self, found: int, given: Array, at: str) -> NoReturn:
        """Say what `take_in` found wrong, and where."""
        if found == BAD_PREDICTION:
            j = int(np.argmax((self._given < 0) | (self._given >= self.num_classes)))
            expected = f"a class in 0..{self.num_classes - 1}"
            raise InputError(f"predictions{_brackets(at, j)} is {given[j]}, expected {expected}")
        pi = self.advice
        wrong = ~(pi >= 0) | ~np.isfinite(pi)
        if wrong.any():
            i, j = (int(position) for position in np.argwhere(wrong)[0])
            place, value = f"advice{_brackets(at, i, j)}", pi[i, j]
            raise InputError(f"{place} is {value:g}, expected a probability (policy '{self.policies[i]}')")
        sums = pi.sum(axis=1, dtype=np.float64)
        i = int(np.argmax(np.abs(sums - 1) > SUM_TOLERANCE))
        raise InputError(f"advice{_brackets(at, i)} sums to {sums[i]:.4g}, expected 1 (policy '{self.policies[i]}')")


def in_order(place: str, values: Any, names: list[str]) -> Any:
    """Return values that have names, of a dict or a series, in the order of `names`; others as they are."""
    if isinstance(values, pd.Series):
        values = values.tolist() if isinstance(values.index, pd.RangeIndex) else values.to_dict()
    if not isinstance(values, Mapping):
        return values
    if set(values) != set(names):
        odd = sorted(map(str, set(values) ^ set(names)))[0]
        raise InputError(f"{place} {'lacks' if odd in names else 'has no model'} '{odd}'")
    return [values[name] for name in names]


def batch(
    predictions: Any, advice: npt.ArrayLike | None, models: list[str]
) -> tuple[Sequence[Any] | Array, Sequence[Any] | Array]:
    """Return N instances' predictions and their advice, None each where there is none."""
    if isinstance(predictions, pd.DataFrame):
        if not isinstance(predictions.columns, pd.RangeIndex):
            columns = in_order("predictions", {name: name for name in predictions.columns}, models)
            predictions = predictions[columns]
        predictions = predictions.to_numpy()
    rows = predictions if isinstance(predictions, list) else as_array("predictions", predictions)
    if not isinstance(rows, list) and rows.ndim != 2:
        raise InputError(f"predictions has {rows.ndim} dimension(s), expected 2, a row per instance")
    pi = [None] * len(rows) if advice is None else as_array("advice", advice)
    if len(pi) != len(rows):
        raise InputError(f"advice has {len(pi)} instances, expected {len(rows)} as in predictions")
    return rows, pi


def _refuse_kind(given: Array, at: str) -> None:
    """Refuse predictions that are not whole numbers, naming the first; 2.0 is whole."""
    if given.dtype.kind != "f":
        raise InputError(f"predictions has type {given.dtype}, expected integers")
    broken = ~np.isfinite(given) | (given != np.floor(given)) | (np.abs(given) >= 2.0**62)
    if broken.any():
        j = int(np.argmax(broken))
        raise InputError(f"predictions{_brackets(at, j)} is {given[j]:g}, expected a class number")


def _brackets(at: str, *position: int) -> str:
    """Return `[2]`, or `[5, 2]` within a batch, or nothing where the whole instance is meant."""
    inside = ", ".join([*([at] if at else []), *map(str, position)])
    return f"[{inside}]" if inside else ""
