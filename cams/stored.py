"""A bundle that is larger than memory: a folder of arrays, read part by part.

    stored = cams.StoredBundle("clicks")
    cams.replay(stored, ["cams", "mp"], order="stream", horizon=10_000_000, budgets=[1000], realizations=1, seed=0)

| file            | holds                                                                                    |
|-----------------|------------------------------------------------------------------------------------------|
| predictions.npy | (N, k) class numbers, of any integer type                                                |
| labels.npy      | (N,) class numbers                                                                       |
| advice.npy      | (N, n, k), half, single or double precision; may be missing                              |
| bundle.json     | `num_classes`, and if you like `model_names`, `policy_names`, `policy_kinds`              |

`numpy.lib.format.open_memmap` writes such arrays bit by bit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from cams.advice import divide, largest_deviation, working_dtype
from cams.checks import MOST_CLASSES, in_range, integers, whole_number
from cams.errors import InputError
from cams.naming import Described, listed_kinds, listed_names

Array = npt.NDArray[Any]

# Rounds in a part: at 20 models and 20 policies some 7 MB of advice, far more than a round's own work needs.
PART_ROWS = 4096

_FACTS = {"num_classes", "model_names", "policy_names", "policy_kinds"}


class Part(NamedTuple):
    """Consecutive rows as the engine wants them."""

    start: int
    predictions: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32]
    advice: Array


class StoredBundle(Described):
    """Predictions, labels and advice on disk. Headers are compared at once, rows checked whenever they are read."""

    # Every model has an answer on every row; a part with a negative class is refused.
    abstains = False

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not isinstance(folder, str | os.PathLike):
            raise InputError(f"the folder's name is {folder!r}, expected text or a path")
        self.folder = Path(folder)
        self._predictions, self._labels = self._mapped("predictions", 2), self._mapped("labels", 1)
        rows, k = self._predictions.shape
        if rows == 0 or k == 0:
            raise self._error(f"predictions has shape {(rows, k)}, expected at least one row and one model")
        # A link to nowhere is advice that cannot be read, not a bundle without any.
        has_advice = os.path.lexists(self.folder / "advice.npy")
        self._advice = self._mapped("advice", 3) if has_advice else np.zeros((rows, 0, k), dtype=np.float32)
        if self._labels.shape != (rows,):
            raise self._error(f"labels has {len(self._labels)} rows, expected {rows} as in predictions")
        if (self._advice.shape[0], self._advice.shape[2]) != (rows, k):
            raise self._error(f"advice has shape {self._advice.shape}, expected ({rows}, n, {k}) to match predictions")
        if self._advice.dtype.kind not in "fiu":
            raise self._error(f"advice has type {self._advice.dtype}, expected real numbers")
        facts = self._facts()
        try:
            self._num_classes = whole_number("num_classes", facts.get("num_classes"), 1, MOST_CLASSES)
            self._model_names = listed_names("model_names", facts.get("model_names"), k, "model")
            self._policy_names = listed_names("policy_names", facts.get("policy_names"), self.num_policies, "policy")
            self._policy_kinds = listed_kinds(facts.get("policy_kinds"), self.num_policies)
        except InputError as error:
            raise self._error(f"bundle.json: {error}") from None

    @property
    def num_rows(self) -> int:
        return int(self._predictions.shape[0])

    @property
    def num_models(self) -> int:
        return int(self._predictions.shape[1])

    @property
    def num_policies(self) -> int:
        return int(self._advice.shape[1])

    def __repr__(self) -> str:
        return (
            f"StoredBundle({self.num_rows} rows, {self.num_models} models, {self.num_policies} policies, "
            f"{self.num_classes} classes, in {self.folder})"
        )

    def parts(self, horizon: int) -> Iterator[Part]:
        """Read the first `horizon` rows, some at a time, checked and with every row of advice divided by its sum."""
        for start in range(0, horizon, PART_ROWS):
            yield self._part(start, min(start + PART_ROWS, horizon))

    def _part(self, start: int, stop: int) -> Part:
        try:
            votes, labels = (
                in_range(f"{name}[{start}:]", integers(f"{name}[{start}:]", array[start:stop], ndim), self.num_classes)
                for name, array, ndim in (("predictions", self._predictions, 2), ("labels", self._labels, 1))
            )
            advice = np.array(self._advice[start:stop], dtype=working_dtype(self._advice.dtype), order="C")
            largest_deviation(advice, self.policy_names, start)
        except InputError as error:
            raise self._error(str(error)) from None
        divide(advice)
        return Part(start, votes, labels, advice)

    def _mapped(self, name: str, ndim: int) -> Array:
        path = self.folder / f"{name}.npy"
        try:
            # A view of the plain class: a memmap's own indexing is slow.
            array = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except FileNotFoundError:
            raise InputError(f"there is no file {path}") from None
        except (OSError, ValueError, EOFError, SyntaxError, BadZipFile) as error:
            raise InputError(f"{path} is no array that can be read ({' '.join(str(error).split())})") from None
        if array.ndim != ndim:
            raise self._error(f"{name} has {array.ndim} dimension(s), expected {ndim}")
        return array

    def _facts(self) -> dict[str, Any]:
        path = self.folder / "bundle.json"
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"there is no file {path}") from None
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{path} cannot be read ({error})") from None
        if not isinstance(facts, dict) or not facts.keys() <= _FACTS:
            raise InputError(f"{path} must map {', '.join(sorted(_FACTS))} to values, and nothing else")
        return facts

    def _error(self, message: str) -> InputError:
        return InputError(f"{self.folder}: {message}")
