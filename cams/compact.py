"""The compact form of a bundle: rewards instead of advice, recipes instead of derived policies.

A trained policy predicts a *reward* in [0, 1] for each classifier, its probability of being right at x. Its advice is
softmax(sharpness * reward). Only the rewards of trained policies are stored, in one of two forms:

- dense: an array (N, s, k), half precision or whole numbers 0..255 standing for value / 255;
- heads: features (N, s, d) of a small last layer as whole numbers, with each policy's linear head:
  reward = sigmoid(scale * features @ weights + bias).

A malicious policy is the opposite of a stored one, a random policy is a seed: both are rebuilt on load. The same
rewards can be read with other policies than those they were stored with:

    recipes = [Recipe("knn", "normal", "stored:0"), Recipe("not knn", "malicious", "complement:0")]
    bundle = cams.Bundle.load("results/bundles/drift.npz", policies=recipes)

| recipe         | advice                                                            |
|----------------|-------------------------------------------------------------------|
| `stored:I`     | softmax(sharpness * reward) of stored policy I                    |
| `opposite:I`   | softmax(-sharpness * reward): its favourite is the worst for I    |
| `complement:I` | (1 - pi) / (k - 1) of its advice pi; `contrary:I` is an older word |
| `random:SEED`  | drawn uniformly from the simplex, whatever the instance           |
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from cams.archive import Archive, open_archive, write_archive
from cams.checks import MOST_CLASSES, as_array, in_range, integers, number, whole_number
from cams.errors import InputError
from cams.naming import listed_kinds, listed_names
from cams.policies import SHARPEST, complement, opposite, random_advice, sharpen

Array = npt.NDArray[Any]

COMPACT_KEY = "policy_recipes"

_FROM_REWARDS: dict[str, Callable[[Array, float], Array]] = {
    "stored": sharpen,
    "opposite": opposite,
    "complement": lambda rewards, sharpness: complement(sharpen(rewards, sharpness)),
}
_FROM_REWARDS["contrary"] = _FROM_REWARDS["complement"]

# Rows expanded at a time: the loaded advice is the only large array there ever is.
_CHUNK_ROWS = 256


@dataclass(frozen=True)
class Recipe:
    """One policy and how its advice comes about, such as `stored:3`, `opposite:3` or `random:17`."""

    name: str
    kind: str
    source: str


@dataclass(frozen=True)
class DenseRewards:
    """Rewards (N, s, k) of s trained policies: floats in [0, 1], or uint8 standing for value / 255."""

    values: Array

    @property
    def count(self) -> int:
        return int(self.values.shape[1])

    def check(self, num_rows: int, k: int) -> None:
        _check_shape("rewards", self.values, (num_rows, None, k))
        in_range = self.values.min(initial=0) >= 0 and self.values.max(initial=0) <= 1  # False if there is a NaN
        if self.values.dtype != np.uint8 and not in_range:
            raise InputError("rewards has values outside 0..1")

    def rows(self, start: int, stop: int) -> Array:
        part = self.values[start:stop].astype(np.float32)
        return part / 255 if self.values.dtype == np.uint8 else part

    def arrays(self) -> dict[str, Array]:
        return {"rewards": self.values}


@dataclass(frozen=True)
class HeadRewards:
    """Rewards as linear heads on small features: sigmoid(scale * features @ weights + bias).

    features (N, s, d) integer, scale (s,), weights (s, d, k), bias (s, k).
    """

    features: Array
    scale: Array
    weights: Array
    bias: Array

    @property
    def count(self) -> int:
        return int(self.features.shape[1])

    def check(self, num_rows: int, k: int) -> None:
        _check_shape("head_features", self.features, (num_rows, None, None))
        _, s, d = self.features.shape
        for name, array, shape in (
            ("head_scale", self.scale, (s,)),
            ("head_weights", self.weights, (s, d, k)),
            ("head_bias", self.bias, (s, k)),
        ):
            _check_shape(name, array, shape)
            if not np.isfinite(array).all():
                raise InputError(f"{name} has values that are not finite")

    def rows(self, start: int, stop: int) -> Array:
        # Whole numbers times single precision add up in double precision without loss, so that the order in which
        # this machine's linear algebra adds does not show.
        sums = np.einsum(
            "isd,sdk->isk", self.features[start:stop].astype(float), self.weights.astype(float), optimize=True
        )
        rewards: Array = expit(sums * self.scale[None, :, None] + self.bias).astype(np.float32)
        return rewards

    def arrays(self) -> dict[str, Array]:
        return {
            "head_features": self.features,
            "head_scale": self.scale,
            "head_weights": self.weights,
            "head_bias": self.bias,
        }


StoredRewards = DenseRewards | HeadRewards


def save_compact(
    path: str | os.PathLike[str],
    *,
    predictions: Array,
    labels: Array,
    rewards: StoredRewards,
    sharpness: float,
    policies: Sequence[Recipe],
    num_classes: int,
    model_names: Sequence[str],
    groups: Array | None = None,
) -> None:
    """Write a bundle in compact form; `Bundle.load` shows it with plain advice (N, n, k).

    What `load` would refuse is refused before the file that is there is replaced.
    """
    num_classes = whole_number("num_classes", num_classes, 1, MOST_CLASSES)
    votes = in_range("predictions", integers("predictions", predictions, ndim=2), num_classes)
    truth = in_range("labels", integers("labels", labels, ndim=1), num_classes)
    batches = None if groups is None else as_array("groups", groups)
    for name, rows in {"labels": truth, "groups": batches}.items():
        if rows is not None and rows.shape != votes.shape[:1]:
            raise InputError(f"{name} has shape {rows.shape}, expected ({len(votes)},) as in predictions")
    if not isinstance(rewards, StoredRewards):
        raise InputError(f"rewards is a {type(rewards).__name__}, expected DenseRewards or HeadRewards")
    rewards.check(*votes.shape)
    for recipe in checked_recipes(policies):
        _parse(recipe.source, rewards.count)
    policy_names = listed_names("policy_names", [recipe.name for recipe in policies], len(policies), "policy")
    policy_kinds = listed_kinds([recipe.kind for recipe in policies], len(policies))
    small = np.uint8 if num_classes <= 256 else np.int32
    arrays = {
        "predictions": votes.astype(small),
        "labels": truth.astype(small),
        "num_classes": np.asarray(num_classes),
        "model_names": np.asarray(listed_names("model_names", model_names, votes.shape[1], "model"), dtype=np.str_),
        "policy_names": np.asarray(policy_names, dtype=np.str_),
        "policy_kinds": np.asarray(policy_kinds, dtype=np.str_),
        COMPACT_KEY: np.asarray([recipe.source for recipe in policies], dtype=np.str_),
        "sharpness": np.asarray(number("sharpness", sharpness, 0, SHARPEST)),
        **rewards.arrays(),
    }
    if batches is not None:
        arrays["groups"] = batches
    write_archive(path, arrays)


def read_recipes(path: str | os.PathLike[str]) -> list[Recipe]:
    """Return the policies of a compact bundle, the trained ones first."""
    with open_archive(path) as archive:
        if COMPACT_KEY not in archive.names():
            raise InputError(f"this is not a compact bundle, it has no array '{COMPACT_KEY}'")
        return recipes_in(archive)


def recipes_in(archive: Archive) -> list[Recipe]:
    count = archive.shape(COMPACT_KEY, (None,))
    parts = []
    for name in ("policy_names", "policy_kinds", COMPACT_KEY):
        archive.shape(name, count)
        parts.append(archive.read(name))
    return [Recipe(*map(str, recipe)) for recipe in zip(*parts, strict=True)]


def checked_recipes(policies: Any) -> Sequence[Recipe]:
    """Return what was asked for in place of a bundle's own policies, if it is recipes."""
    if not isinstance(policies, Sequence) or not all(isinstance(recipe, Recipe) for recipe in policies):
        raise InputError(f"policies is {policies!r}, expected a list of recipes")
    return policies


def expand_advice(archive: Archive, policies: Sequence[Recipe]) -> Array:
    """Return the advice (N, n, k) of these policies from the rewards of a compact bundle."""
    num_rows, k = archive.shape("predictions", (None, None))
    rewards = _stored_rewards(archive, num_rows, k)
    rewards.check(num_rows, k)
    archive.shape("sharpness", ())
    sharpness = number("sharpness", archive.read("sharpness").item(), 0, SHARPEST)
    recipes = [_parse(recipe.source, rewards.count) for recipe in policies]
    advice = np.empty((num_rows, len(recipes), k), dtype=np.float32)
    for p, (how, which) in enumerate(recipes):
        if how == "random":
            advice[:, p] = random_advice(num_rows, k, which)
    for start in range(0, num_rows, _CHUNK_ROWS):
        stop = min(start + _CHUNK_ROWS, num_rows)
        part = rewards.rows(start, stop)
        for p, (how, which) in enumerate(recipes):
            if how != "random":
                advice[start:stop, p] = _FROM_REWARDS[how](part[:, which], sharpness)
    return advice


def _stored_rewards(archive: Archive, num_rows: int, k: int) -> StoredRewards:
    if "rewards" in archive.names():
        archive.shape("rewards", (num_rows, None, k))
        return DenseRewards(archive.read("rewards"))
    _, s, d = archive.shape("head_features", (num_rows, None, None))
    for name, shape in {"head_scale": (s,), "head_weights": (s, d, k), "head_bias": (s, k)}.items():
        archive.shape(name, shape)
    return HeadRewards(*(archive.read(f"head_{part}") for part in ("features", "scale", "weights", "bias")))


def _check_shape(name: str, array: Array, expected: tuple[int | None, ...]) -> None:
    """Refuse an array whose shape differs from the expected one; None stands for any length."""
    if not isinstance(array, np.ndarray):
        raise InputError(f"{name} is a {type(array).__name__}, expected an array")
    as_array(name, array)  # which refuses a mask: what lies under it would be stored
    fits = array.ndim == len(expected) and all(b in (None, a) for a, b in zip(array.shape, expected, strict=True))
    if not fits or array.dtype.kind not in "fiu":
        wanted = ", ".join("any" if length is None else str(length) for length in expected)
        raise InputError(f"{name} has shape {array.shape} and type {array.dtype}, expected numbers ({wanted})")


def _parse(source: str, count: int) -> tuple[str, int]:
    how, _, digits = str(source).partition(":")
    if how not in (*_FROM_REWARDS, "random") or not re.fullmatch("[0-9]{1,40}", digits):
        raise InputError(f"policy recipe '{source}' is not stored:I, opposite:I, complement:I or random:SEED")
    if how != "random" and int(digits) >= count:
        raise InputError(f"policy recipe '{source}' names a stored policy, but only {count} are stored")
    return how, int(digits)
