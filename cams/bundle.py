"""A bundle: all that a replay needs to know about one data set's test pool.

    bundle = cams.Bundle.load("results/bundles/drift.npz")
    bundle = cams.Bundle(predictions=predictions, labels=labels, advice=advice)

| array       | shape     | meaning                                                        |
|-------------|-----------|----------------------------------------------------------------|
| predictions | (N, k)    | label that classifier j gives to instance i, -1 if it has none |
| labels      | (N,)      | true labels, 0..c-1; may be missing where nothing is replayed  |
| advice      | (N, n, k) | row [i, p] is policy p's distribution over classifiers at i    |
| groups      | (N,)      | optional batch or time id of an instance                       |
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.advice import copy_of, normalise, working_dtype
from cams.archive import Archive, open_archive, write_archive
from cams.asking import Advisor, ask_models, ask_routers, check_models, check_routers
from cams.checks import MOST_CLASSES, as_array, in_range, integers, is_listed, read_only, whole_number
from cams.classes import (
    ABSTAINS,
    Classes,
    abstentions,
    answers_of,
    as_column,
    check_speech,
    is_missing,
    named_classes,
    named_columns,
    objects,
)
from cams.compact import COMPACT_KEY, Recipe, checked_recipes, expand_advice, recipes_in
from cams.engine.hindsight import unknown_verdicts
from cams.errors import InputError, lookup, nearest
from cams.naming import POLICY_KINDS, Described, listed_kinds, listed_names, require_writable_text, text_of
from cams.stored import Part
from cams.tables import require_one_order

# What a file holds apart from advice, and what it says of the policies.
_PLAIN = ("predictions", "labels", "groups", "num_classes", "model_names", "classes")
_OF_POLICIES = ("policy_names", "policy_kinds")

Array = npt.NDArray[Any]


class Bundle(Described):
    """Predictions, labels and advice of one test pool, checked once so that nothing after it needs to.

    The arrays are the bundle's own, and cannot be written to: nothing changes what was checked.

    Labels and predictions may be anything hashable; `classes` lists what the class numbers stand for, in an order
    of your own if given. A missing prediction (None, NaN), or one equal to `abstain`, is a model without an answer.
    The columns of a DataFrame, or the keys of a mapping, are the models' names.
    """

    def __init__(
        self,
        *,
        predictions: Any,
        labels: Any = None,
        advice: npt.ArrayLike | None = None,
        num_classes: int | None = None,
        classes: Sequence[Any] | None = None,
        abstain: Any = None,
        model_names: Sequence[str] | None = None,
        policy_names: Sequence[str] | None = None,
        policy_kinds: Sequence[str] | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> None:
        require_one_order(predictions=predictions, labels=labels, groups=groups)
        columns, given = named_columns(predictions)
        labels = None if labels is None else answers_of("labels", as_column(labels))
        silent = abstentions(given, abstain)
        if classes is None:
            check_speech(given, silent, labels, columns)
        self._classes = named_classes(given[~silent], labels, classes)
        votes, truth = _class_numbers(given, silent, labels, self._classes)
        num_rows, k = votes.shape
        if num_rows == 0 or k == 0:
            raise InputError(f"predictions has shape {votes.shape}, expected at least one row and one model")
        if truth is not None and len(truth) != num_rows:
            raise InputError(f"labels has {len(truth)} rows, expected {num_rows} as in predictions")

        if num_classes is None:
            largest = int(max(votes.max(), -1 if truth is None else truth.max()))
            num_classes = largest + 1 if self._classes is None else len(self._classes)
        self._num_classes = whole_number("num_classes", num_classes, 1, MOST_CLASSES)
        if self._classes is not None and len(self._classes) != self.num_classes:
            raise InputError(f"num_classes is {self.num_classes}, but there are {len(self._classes)} classes")
        self._predictions = in_range("predictions", votes, self.num_classes)
        self._predictions[silent] = ABSTAINS
        if silent.all(axis=1).any():
            raise InputError(f"predictions[{int(silent.all(axis=1).argmax())}] has no answer of any model")
        self._labels = None if truth is None else in_range("labels", truth, self.num_classes)
        if not is_missing(abstain) and _is_class(abstain, self._classes, self._labels):
            raise InputError(f"abstain is {abstain!r}, which is a class")
        self._model_names = listed_names("model_names", columns if model_names is None else model_names, k, "model")
        self._groups = None if groups is None else _storable_groups(groups)
        if self._groups is not None and self._groups.shape != (num_rows,):
            raise InputError(f"groups has shape {self._groups.shape}, expected ({num_rows},)")
        self._set_advice(
            np.zeros((num_rows, 0, k), dtype=np.float32) if advice is None else copy_of(advice),
            policy_names,
            policy_kinds,
        )

    def _set_advice(self, pi: Array, names: Sequence[str] | None, kinds: Sequence[str] | None) -> None:
        """Check advice that nobody else holds, and keep it without a copy."""
        rows, k = self._predictions.shape
        if pi.ndim != 3 or (pi.shape[0], pi.shape[2]) != (rows, k):
            raise InputError(f"advice has shape {pi.shape}, expected ({rows}, n, {k}) to match predictions")
        n = pi.shape[1]
        self._policy_names, self._policy_kinds = (
            listed_names("policy_names", names, n, "policy"),
            listed_kinds(kinds, n),
        )
        normalise(pi, self.policy_names)
        self._advice = pi

    @property
    def predictions(self) -> npt.NDArray[np.int32]:
        return read_only(self._predictions)

    @property
    def labels(self) -> npt.NDArray[np.int32] | None:
        return None if self._labels is None else read_only(self._labels)

    @property
    def advice(self) -> Array:
        return read_only(self._advice)

    @property
    def groups(self) -> Array | None:
        return None if self._groups is None else read_only(self._groups)

    def whole(self) -> Part:
        """Return all rows as compiled code wants them, which tells arrays that can be written to from others."""
        if self._labels is None:
            raise InputError("a bundle without labels cannot be replayed")
        return Part(0, self._predictions, self._labels, self._advice)

    @cached_property
    def verdicts(self) -> npt.NDArray[np.int8]:
        """Whether each policy's favourite is wrong at each row, (N, n): found by the first replay, for all to come."""
        return unknown_verdicts(self.num_rows, self.num_policies)

    @property
    def classes(self) -> list[Any]:
        """What the class numbers 0..c-1 stand for; themselves, where nothing else was said."""
        return list(range(self.num_classes)) if self._classes is None else list(self._classes)

    @property
    def abstains(self) -> bool:
        """Whether some model has no answer on some row."""
        return bool(self._predictions.min() < 0)

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
            f"Bundle({self.num_rows} rows, {self.num_models} models, {self.num_policies} policies, "
            f"{self.num_classes} classes)"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle into memory of its own: what joblib maps from a file is read-only, which compiled code refuses."""
        for name, value in state.items():
            owned = np.require(value, requirements=["W", "E"]) if isinstance(value, np.ndarray) else value
            vars(self)[name] = owned

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, policies: Sequence[Recipe] | None = None) -> Bundle:
        """Read a bundle, in its plain or its compact form (see `cams.compact`).

        The compact form can be read with other `policies` than its own, made from the same rewards.
        """
        with open_archive(path) as archive:
            if "predictions" not in archive.names():
                raise InputError("this is not a bundle, it has no array 'predictions'")
            _refuse_misspelt(archive.names())
            _compare_shapes(archive)
            stored: dict[str, Any] = {name: archive.read(name) for name in _PLAIN if name in archive.names()}
            if "num_classes" in stored:
                stored["num_classes"] = stored["num_classes"].item()
            named = stored.pop("classes", None)
            bundle = cls(**stored, abstain=ABSTAINS)
            if named is not None:
                bundle._name_classes(named.tolist())
            if COMPACT_KEY in archive.names():
                recipes = recipes_in(archive) if policies is None else checked_recipes(policies)
                names, kinds = [recipe.name for recipe in recipes], [recipe.kind for recipe in recipes]
                bundle._set_advice(expand_advice(archive, recipes), names, kinds)
            elif policies is not None:
                raise InputError("advice is stored here, no rewards that other policies could be made from")
            elif "advice" in archive.names():
                about: list[Any] = [archive.read(name) if name in archive.names() else None for name in _OF_POLICIES]
                bundle._set_advice(archive.read_rows("advice", working_dtype), *about)
        return bundle

    @classmethod
    def from_models(
        cls,
        models: Mapping[str, Any],
        routers: Sequence[Advisor],
        X: Any,
        y: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        groups: npt.ArrayLike | None = None,
    ) -> Bundle:
        """Ask trained models (anything with `predict`, by name) and fitted routers about rows X with labels y.

        Without y the bundle is for a selector only.
        """
        check_models(models)
        names = [text_of(name) for name in models]
        routers = check_routers(routers, names)
        require_one_order(X=X, y=y, groups=groups)
        answers = ask_models(models, X)
        return cls(
            predictions=answers,
            labels=y,
            advice=ask_routers(routers, X, len(next(iter(answers.values()), [])), names),
            classes=classes,
            policy_names=[router.name for router in routers],
            policy_kinds=[router.kind for router in routers],
            groups=groups,
        )

    def _name_classes(self, classes: Sequence[Any]) -> None:
        """Say what the class numbers stand for."""
        self._classes = Classes(classes)
        if len(self._classes) != self.num_classes:
            raise InputError(f"classes has {len(self._classes)} entries, expected {self.num_classes}")

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
        if self._classes is not None:
            arrays["classes"] = _storable_classes(self._classes)
        write_archive(path, arrays)

    def select_policies(self, which: Iterable[int] | None = None, *, kinds: Iterable[str] | None = None) -> Bundle:
        """Return a bundle with only the policies of some positions or of some kinds."""
        if (which is None) == (kinds is None):
            raise InputError("select_policies takes either positions or kinds")
        if kinds is not None:
            if not is_listed(kinds):
                raise InputError(f"kinds is {kinds!r}, expected a list of kinds")
            wanted = [kinds] if isinstance(kinds, str) else list(kinds)
            for kind in wanted:
                lookup(dict.fromkeys(POLICY_KINDS), kind, "kind of policy")
            which = [i for i, kind in enumerate(self.policy_kinds) if kind in wanted]
        if isinstance(which, str) or not is_listed(which):
            raise InputError(f"policies are selected by {which!r}, expected a list of positions")
        positions = [whole_number("a policy's position", i, -(2**31)) for i in which]
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
            abstain=ABSTAINS,
            model_names=self.model_names,
            groups=self.groups,
        )
        bundle._classes = self._classes
        names, kinds = [self.policy_names[i] for i in which], [self.policy_kinds[i] for i in which]
        bundle._set_advice(np.ascontiguousarray(self.advice[:, which]), names, kinds)
        return bundle


def _class_numbers(
    given: Array, silent: npt.NDArray[np.bool_], labels: Any, classes: Classes | None
) -> tuple[Array, Array | None]:
    """Return predictions (N, k) and labels (N,) as class numbers; where a model is silent, some class stands in."""
    gaps = None if labels is None else abstentions(labels)
    if gaps is not None and gaps.any():
        raise InputError(f"labels[{int(gaps.argmax())}] is missing, expected a class")
    if classes is None:
        # Numbers among missing values come as objects; without the gaps they are plain numbers again.
        answers = np.array(np.where(silent, 0, given).tolist()) if silent.any() else given
        votes = integers("predictions", answers, ndim=2, most=MOST_CLASSES - 1)
        return votes, None if labels is None else integers("labels", labels, ndim=1, most=MOST_CLASSES - 1)
    votes = np.maximum(classes.numbers(_without(objects(given), silent), "predictions"), 0)
    if labels is None:
        return votes, None
    truth = classes.numbers(labels, "labels")
    if truth.ndim != 1:
        raise InputError(f"labels has {truth.ndim} dimension(s), expected 1")
    return votes, truth


def _is_class(abstain: Any, classes: Classes | None, labels: Array | None) -> bool:
    """Say whether what stands for no answer is one of the classes, or of the labels where classes have no names."""
    if classes is not None:
        return abstain in classes
    return labels is not None and bool(np.any(labels == abstain))


def _without(answers: Array, silent: npt.NDArray[np.bool_]) -> Array:
    answers = answers.copy()
    answers[silent] = None
    return answers


def _storable_classes(classes: Classes) -> Array:
    """Return classes as a file can hold them without pickle: all text, or all numbers."""
    for i, value in enumerate(classes):
        if isinstance(value, str):
            require_writable_text(f"classes[{i}]", value)
    array = np.asarray(list(classes))
    # True is equal to 1, and would come back as it.
    same = (
        array.ndim == 1 and array.tolist() == list(classes) and len({isinstance(value, bool) for value in classes}) == 1
    )
    if array.dtype.kind not in "iufUb" or not same:
        raise InputError("classes of several types, neither text nor numbers, or beyond 64 bits cannot be saved")
    return array


def _storable_groups(groups: npt.ArrayLike) -> Array:
    """Return a copy of groups that a file can hold; text in a table comes as objects."""
    array = np.array(as_array("groups", groups))
    if array.dtype.kind in "UT":  # of ["a", nan] numpy makes words throughout
        array = objects(groups)
    if array.dtype.kind != "O":
        return array
    for i, value in enumerate(array.flat):
        if not isinstance(value, str):
            raise InputError(f"groups[{i}] is {value!r}, expected text or numbers throughout")
        require_writable_text(f"groups[{i}]", value)
    return array.astype(np.str_)


def _refuse_misspelt(names: set[str]) -> None:
    """Refuse an array that is nearly called like one of a bundle's that is not there; others may lie beside."""
    known = {*_PLAIN, *_OF_POLICIES, "advice", COMPACT_KEY}
    for name in sorted(names - known):
        hint = nearest(name, sorted(known - names))
        if hint and COMPACT_KEY not in names:
            raise InputError(f"there is an array '{name}', which no bundle has{hint}")
    about = names & set(_OF_POLICIES)
    if about and not names & {"advice", COMPACT_KEY}:
        raise InputError(f"there is an array '{min(about)}', but no array 'advice'")


def _compare_shapes(archive: Archive) -> None:
    """Refuse arrays that cannot belong together by what their headers say, before memory is taken for any of them."""
    rows, k = archive.shape("predictions", (None, None))
    expected = {
        "labels": (rows,),
        "groups": (rows,),
        "num_classes": (),
        "classes": (None,),
        "model_names": (k,),
        "advice": (rows, None, k),
        "policy_names": (None,),
        "policy_kinds": (None,),
    }
    for name in archive.names() & expected.keys():
        archive.shape(name, expected[name])
