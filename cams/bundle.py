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
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.advice import copy_of, normalise, working_dtype
from cams.archive import Archive, open_archive, write_archive
from cams.checks import MOST_CLASSES, as_array, distinct, in_range, integers, whole_number
from cams.compact import COMPACT_KEY, Recipe, expand_advice, recipes_in
from cams.errors import InputError, lookup

POLICY_KINDS = ("normal", "malicious", "random", "biased")

# What a file holds apart from advice, and what it says of the policies.
_PLAIN = ("predictions", "labels", "groups", "num_classes", "model_names")
_OF_POLICIES = ("policy_names", "policy_kinds")

Array = npt.NDArray[Any]


class Bundle:
    """Predictions, labels and advice of one test pool, checked once so that nothing after it needs to.

    The arrays are the bundle's own: a later change of those it was made from does not reach it.
    """

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
        votes = integers("predictions", predictions, ndim=2, most=MOST_CLASSES - 1)
        num_rows, k = votes.shape
        if num_rows == 0 or k == 0:
            raise InputError(f"predictions has shape {votes.shape}, expected at least one row and one model")
        truth = None if labels is None else integers("labels", labels, ndim=1, most=MOST_CLASSES - 1)
        if truth is not None and len(truth) != num_rows:
            raise InputError(f"labels has {len(truth)} rows, expected {num_rows} as in predictions")

        largest = int(max(votes.max(), -1 if truth is None else truth.max()))
        self.num_classes = whole_number(
            "num_classes", largest + 1 if num_classes is None else num_classes, 1, MOST_CLASSES
        )
        self.predictions = in_range("predictions", votes, self.num_classes)
        self.labels = None if truth is None else in_range("labels", truth, self.num_classes)
        self.model_names = _names("model_names", model_names, k, "model")
        self.groups = None if groups is None else np.array(as_array("groups", groups))
        if self.groups is not None and self.groups.shape != (num_rows,):
            raise InputError(f"groups has shape {self.groups.shape}, expected ({num_rows},)")
        self._set_advice(
            np.zeros((num_rows, 0, k), dtype=np.float32) if advice is None else copy_of(advice),
            policy_names,
            policy_kinds,
        )

    def _set_advice(self, pi: Array, names: Sequence[str] | None, kinds: Sequence[str] | None) -> None:
        """Check advice that nobody else holds, and keep it without a copy."""
        rows, k = self.predictions.shape
        if pi.ndim != 3 or (pi.shape[0], pi.shape[2]) != (rows, k):
            raise InputError(f"advice has shape {pi.shape}, expected ({rows}, n, {k}) to match predictions")
        n = pi.shape[1]
        self.policy_names, self.policy_kinds = _names("policy_names", names, n, "policy"), _kinds(kinds, n)
        normalise(pi, self.policy_names)
        self.advice = pi

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
            if "predictions" not in archive.names():
                raise InputError("this is not a bundle, it has no array 'predictions'")
            _compare_shapes(archive)
            stored: dict[str, Any] = {name: archive.read(name) for name in _PLAIN if name in archive.names()}
            if "num_classes" in stored:
                stored["num_classes"] = stored["num_classes"].item()
            bundle = cls(**stored)
            if COMPACT_KEY in archive.names():
                recipes = recipes_in(archive) if policies is None else policies
                names, kinds = [recipe.name for recipe in recipes], [recipe.kind for recipe in recipes]
                bundle._set_advice(expand_advice(archive, recipes), names, kinds)
            elif policies is not None:
                raise InputError("advice is stored here, no rewards that other policies could be made from")
            elif "advice" in archive.names():
                about: list[Any] = [archive.read(name) if name in archive.names() else None for name in _OF_POLICIES]
                bundle._set_advice(archive.read_rows("advice", working_dtype), *about)
        return bundle

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
        bundle = Bundle(
            predictions=self.predictions,
            labels=self.labels,
            num_classes=self.num_classes,
            model_names=self.model_names,
            groups=self.groups,
        )
        names, kinds = [self.policy_names[i] for i in which], [self.policy_kinds[i] for i in which]
        bundle._set_advice(np.ascontiguousarray(self.advice[:, which]), names, kinds)
        return bundle


def _compare_shapes(archive: Archive) -> None:
    """Refuse arrays that cannot belong together by what their headers say, before memory is taken for any of them."""
    rows, k = archive.shape("predictions", (None, None))
    expected = {
        "labels": (rows,),
        "groups": (rows,),
        "num_classes": (),
        "model_names": (k,),
        "advice": (rows, None, k),
        "policy_names": (None,),
        "policy_kinds": (None,),
    }
    for name in archive.names() & expected.keys():
        archive.shape(name, expected[name])


def _names(array_name: str, names: Sequence[str] | None, count: int, prefix: str) -> list[str]:
    if names is None:
        return [f"{prefix}_{i}" for i in range(count)]
    _require_list(array_name, names)
    if len(names) != count:
        raise InputError(f"{array_name} has {len(names)} names, expected {count}")
    if any(isinstance(name, bytes) for name in names):
        raise InputError(f"{array_name} holds bytes, expected text")
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
