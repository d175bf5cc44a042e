"""A bundle with bad classifiers added, to see what a learner does that listens to the majority.

The policies know nothing of the newcomers and advise against them; as constant policies they take part like all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.errors import InputError

Array = npt.NDArray[Any]

# Purpose of random numbers, apart from those of cams.randomness.
NEWCOMERS = 103
# How often a different bad classifier gives the wrong label that its kind prefers; otherwise it guesses.
AGREEMENT = 0.6


def with_copies(bundle: Bundle, count: int) -> Bundle:
    """Return the bundle with copies of its worst classifier."""
    worst = int((bundle.predictions != _labels(bundle)[:, None]).mean(axis=0).argmax())
    added = np.repeat(bundle.predictions[:, [worst]], count, axis=1)
    return _joined(bundle, added, [f"{bundle.model_names[worst]}_copy_{i}" for i in range(count)])


def with_different(bundle: Bundle, count: int, seed: int) -> Bundle:
    """Return the bundle with bad classifiers that err independently, but towards the same wrong label of each row."""
    labels = _labels(bundle)
    preferred = (labels + 1) % bundle.num_classes
    columns = []
    for i in range(count):
        # One by one, so that a larger crowd contains the smaller.
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(i, NEWCOMERS)))
        guesses = rng.integers(bundle.num_classes, size=len(labels))
        columns.append(np.where(rng.random(len(labels)) < AGREEMENT, preferred, guesses))
    added = np.stack(columns, axis=1) if columns else np.empty((len(labels), 0), dtype=labels.dtype)
    return _joined(bundle, added, [f"newcomer_{i}" for i in range(count)])


def _labels(bundle: Bundle) -> Array:
    if bundle.labels is None:
        raise InputError("the bundle has no labels, so nobody knows which classifiers are bad")
    return bundle.labels


def _joined(bundle: Bundle, added: Array, names: list[str]) -> Bundle:
    unadvised = np.zeros((*bundle.advice.shape[:2], added.shape[1]), dtype=bundle.advice.dtype)
    return Bundle(
        predictions=np.concatenate([bundle.predictions, added], axis=1),
        labels=bundle.labels,
        advice=np.concatenate([bundle.advice, unadvised], axis=2),
        num_classes=bundle.num_classes,
        model_names=[*bundle.model_names, *names],
        policy_names=bundle.policy_names,
        policy_kinds=bundle.policy_kinds,
        groups=bundle.groups,
    )
