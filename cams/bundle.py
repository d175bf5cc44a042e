"""A bundle: all that a replay needs to know about one data set's test pool.

    bundle = cams.Bundle.load("results/bundles/drift.npz")
    bundle = cams.Bundle(predictions=predictions, labels=labels, advice=advice)

| array       | shape     | meaning                                                        |
|-------------|-----------|----------------------------------------------------------------|
| predictions | (N, k)    | label that classifier j gives to instance i                    |
| labels      | (N,)      | true labels, 0..c-1; may be missing where nothing is replayed  |
| advice      | (N, n, k) | row [i, p] is policy p's distribution over classifiers at i    |
| groups      | (N,)      | optional batch or time id of an instance                       |
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.archive import open_archive, write_archive
from cams.checks import distinct, in_range, integers
from cams.compact import COMPACT_KEY, Recipe, expand_advice, recipes_in
from cams.errors import InputError, lookup

POLICY_KINDS = ("normal", "malicious", "random", "biased")

# Rows of advice whose sum is off by more than this are wrong, not rounded.
SUM_TOLERANCE = 0.01
# Rows checked at a time: large enough to be fast, small enough not to need a second copy of the advice.
CHUNK_ROWS = 256

Array = npt.NDArray[Any]


class Bundle:
    """Predictions, labels and advice of one test pool, checked once so that nothing after it needs to."""

    predictions: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32] | None
    advice: Array
    groups: Array | None

    def __init__(
        self,
        *,
        predictions: npt.ArrayLike,
        labels: npt.ArrayLike | None = None,
        advice: npt.ArrayLike | None = None,
        num_classes: int | None = None,
        model_names: Sequence[str] | None = None,
        policy_names: Sequence[str] | None = None,
        policy_kinds: Sequence[str] | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> None:
        votes = integers("predictions", predictions, ndim=2)
        num_rows, k = votes.shape
        if num_rows == 0 or k == 0:
            raise InputError(f"predictions has shape {votes.shape}, expected at least one row and one model")
        truth = None if labels is None else integers("labels", labels, ndim=1)
        if truth is not None and len(truth) != num_rows:
            raise InputError(f"labels has {len(truth)} rows, expected {num_rows} as in predictions")

        largest = int(max(votes.max(), -1 if truth is None else truth.max()))
        self.num_classes = largest + 1 if num_classes is None else int(num_classes)
        if self.num_classes < 1:
            raise InputError(f"num_classes is {self.num_classes}, expected at least 1")
        self.predictions = in_range("predictions", votes, self.num_classes)
        self.labels = None if truth is None else in_range("labels", truth, self.num_classes)

        if advice is None:
            advice = np.zeros((num_rows, 0, k), dtype=np.float32)
        given = np.asarray(advice)
        pi = _advice_array(given)
        if pi.ndim != 3 or (pi.shape[0], pi.shape[2]) != (num_rows, k):
            raise InputError(f"advice has shape {pi.shape}, expected ({num_rows}, n, {k}) to match predictions")
        n = pi.shape[1]
        self.model_names = _names("model_names", model_names, k, "model")
        self.policy_names = _names("policy_names", policy_names, n, "policy")
        self.policy_kinds = _kinds(policy_kinds, n)
        if not _check_sums(pi, self.policy_names):
            pi = pi.copy() if np.may_share_memory(pi, given) else pi
            _normalise(pi, self.policy_names)
        self.advice = pi

        self.groups = None if groups is None else np.asarray(groups)
        if self.groups is not None and self.groups.shape != (num_rows,):
            raise InputError(f"groups has shape {self.groups.shape}, expected ({num_rows},)")

    @property
    def num_rows(self) -> int:
        return int(self.predictions.shape[0])

    @property
    def num_models(self) -> int:
        return int(self.predictions.shape[1])

    @property
    def num_policies(self) -> int:
        return int(self.advice.shape[1])

    def __repr__(self) -> str:
        return (
            f"Bundle({self.num_rows} rows, {self.num_models} models, {self.num_policies} policies, "
            f"{self.num_classes} classes)"
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, policies: Sequence[Recipe] | None = None) -> Bundle:
        """Read a bundle, in its plain or its compact form (see `cams.compact`).

        The compact form can be read with other `policies` than its own, made from the same rewards.
        """
        with open_archive(path) as archive:
            names = archive.names()
            if "predictions" not in names:
                raise InputError("this is not a bundle, it has no array 'predictions'")
            plain = ("predictions", "labels", "groups", "num_classes", "model_names", "policy_names", "policy_kinds")
            arrays: dict[str, Any] = {name: archive.read(name) for name in plain if name in names}
            if COMPACT_KEY in names:
                arrays |= expand_advice(archive, recipes_in(archive) if policies is None else policies)
            elif policies is not None:
                raise InputError("advice is stored here, no rewards that other policies could be made from")
            elif "advice" in names:
                arrays["advice"] = archive.read_rows("advice", _working_dtype)
            if "num_classes" in arrays:
                arrays["num_classes"] = int(integers("num_classes", arrays["num_classes"], ndim=0))
            if arrays.get("advice", np.empty(0)).ndim == 3:
                # Nobody else holds this array yet: normalised in place, it needs no second copy.
                count = arrays["advice"].shape[1]
                _normalise(arrays["advice"], _names("policy_names", arrays.get("policy_names"), count, "policy"))
            return cls(**arrays)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plain form: every array as it is, compressed, under its own name."""
        arrays: dict[str, Array] = {
            "predictions": self.predictions,
            "advice": self.advice,
            "num_classes": np.asarray(self.num_classes),
            "model_names": np.asarray(self.model_names, dtype=np.str_),
            "policy_names": np.asarray(self.policy_names, dtype=np.str_),
            "policy_kinds": np.asarray(self.policy_kinds, dtype=np.str_),
        }
        if self.labels is not None:
            arrays["labels"] = self.labels
        if self.groups is not None:
            arrays["groups"] = self.groups
        write_archive(path, arrays)

    def select_policies(self, which: Iterable[int] | None = None, *, kinds: Iterable[str] | None = None) -> Bundle:
        """Return a bundle with only the policies of some positions or of some kinds."""
        if (which is None) == (kinds is None):
            raise InputError("select_policies takes either positions or kinds")
        if kinds is not None:
            wanted = [kinds] if isinstance(kinds, str) else list(kinds)
            for kind in wanted:
                lookup(dict.fromkeys(POLICY_KINDS), kind, "kind of policy")
            which = [i for i, kind in enumerate(self.policy_kinds) if kind in wanted]
        positions = [] if which is None else [int(i) for i in which]
        for i in positions:
            if not 0 <= i < self.num_policies:
                raise InputError(f"there is no policy {i}, the bundle has {self.num_policies}")
        return self._with_policies(positions)

    def without_policies(self) -> Bundle:
        """Return the context-free bundle: the same classifiers, no advice."""
        return self._with_policies([])

    def _with_policies(self, which: list[int]) -> Bundle:
        return Bundle(
            predictions=self.predictions,
            labels=self.labels,
            advice=np.ascontiguousarray(self.advice[:, which]),
            num_classes=self.num_classes,
            model_names=self.model_names,
            policy_names=[self.policy_names[i] for i in which],
            policy_kinds=[self.policy_kinds[i] for i in which],
            groups=self.groups,
        )


def _working_dtype(stored: np.dtype[Any]) -> type[np.float32 | np.float64]:
    """Return the precision in which stored advice is worked with."""
    return np.float64 if stored.kind == "f" and stored.itemsize >= 8 else np.float32


def _advice_array(given: Array) -> Array:
    if given.dtype.kind not in "fiu":
        raise InputError(f"advice has type {given.dtype}, expected real numbers")
    return np.ascontiguousarray(given, dtype=_working_dtype(given.dtype))


def _chunks(pi: Array) -> Iterator[tuple[int, Array]]:
    for start in range(0, len(pi), CHUNK_ROWS):
        yield start, pi[start : start + CHUNK_ROWS]


def _check_sums(pi: Array, policy_names: list[str]) -> bool:
    """Check advice (N, n, k) and return whether every row sums to 1 as exactly as its precision allows."""
    exact = 4 * float(np.finfo(pi.dtype).eps)
    all_exact = True
    for start, part in _chunks(pi):
        sums = part.sum(axis=2, dtype=np.float64)
        _check_advice(part, sums, start, policy_names)
        all_exact &= bool(np.abs(sums - 1).max(initial=0) <= exact)
    return all_exact


def _normalise(pi: Array, policy_names: list[str]) -> None:
    """Check advice (N, n, k) and make every row sum to 1, in place."""
    if not _check_sums(pi, policy_names):
        for _, part in _chunks(pi):
            part /= part.sum(axis=2, dtype=np.float64, keepdims=True)


def _check_advice(part: Array, sums: Array, start: int, policy_names: list[str]) -> None:
    if part.size == 0:
        return
    if not np.isfinite(sums).all() or part.min() < 0:
        i, p, j = np.argwhere(~np.isfinite(part) | (part < 0))[0]
        raise InputError(
            f"advice[{start + i}, {p}, {j}] is {part[i, p, j]:g}, expected a probability (policy '{policy_names[p]}')"
        )
    if np.abs(sums - 1).max() > SUM_TOLERANCE:
        i, p = np.argwhere(np.abs(sums - 1) > SUM_TOLERANCE)[0]
        raise InputError(f"advice[{start + i}, {p}] sums to {sums[i, p]:.4g}, expected 1 (policy '{policy_names[p]}')")


def _names(array_name: str, names: Sequence[str] | None, count: int, prefix: str) -> list[str]:
    if names is None:
        return [f"{prefix}_{i}" for i in range(count)]
    _require_list(array_name, names)
    if len(names) != count:
        raise InputError(f"{array_name} has {len(names)} names, expected {count}")
    listed = [str(name) for name in names]
    distinct(array_name, listed)
    return listed


def _require_list(array_name: str, values: Sequence[str]) -> None:
    if np.ndim(values) != 1:
        raise InputError(f"{array_name} has {np.ndim(values)} dimension(s), expected 1")


def _kinds(kinds: Sequence[str] | None, count: int) -> list[str]:
    if kinds is not None:
        _require_list("policy_kinds", kinds)
    found = ["normal"] * count if kinds is None else [str(kind) for kind in kinds]
    if len(found) != count:
        raise InputError(f"policy_kinds has {len(found)} entries, expected {count}")
    for i, kind in enumerate(found):
        if kind not in POLICY_KINDS:
            raise InputError(f"policy_kinds[{i}] is '{kind}', expected one of {', '.join(POLICY_KINDS)}")
    return found
