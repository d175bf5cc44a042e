"""Synthetic pools whose gaps are known exactly, for streams drawn from them with replacement.

Every row shows a context, one of k; the label is the same everywhere, so only who is right matters. Wrong classifiers
give different wrong labels, so that they disagree on every row.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
LABEL = 0
ROWS_PER_CONTEXT = 1000


def _predictions(right: Integers, num_models: int, num_classes: int) -> Integers:
    """Return (N, k): classifier right[i] answers row i correctly (-1: none does), the others wrongly."""
    wrong = 1 + np.arange(num_models) % (num_classes - 1)
    correct = right[:, None] == np.arange(num_models)
    return np.where(correct, LABEL, wrong)


def _one_hot(models: Integers, num_models: int) -> Array:
    return np.eye(num_models)[models]


def gap_pool(
    num_models: int, num_classes: int, num_policies: int, best_rate: float, gap: float, softness: float = 0.0
) -> Bundle:
    """Return a pool on which policy 0 errs on a share `best_rate` of rows and the next best on `gap` more.

    On a share `best_rate` of rows every classifier is wrong, so that nobody can beat policy 0. On the others the
    classifier of the row's context is right and no other. Policy 0 always names it; policy i > 0 names its neighbour
    on a share gap (1 + (i - 1) / 4) of rows. The others err together, so that they outvote policy 0 until
    its weight says otherwise. `softness` mixes even advice into all of it.
    """
    contexts = np.repeat(np.arange(num_models), ROWS_PER_CONTEXT)
    position = np.tile(np.arange(ROWS_PER_CONTEXT), num_models)
    hard = round(ROWS_PER_CONTEXT * best_rate)
    advice = [_one_hot(contexts, num_models)]
    for i in range(1, num_policies):
        misled = round(ROWS_PER_CONTEXT * min(1 - best_rate, gap * (1 + (i - 1) / 4)))
        wrong = (hard <= position) & (position < hard + misled)
        advice.append(_one_hot((contexts + wrong) % num_models, num_models))
    right = np.where(position < hard, -1, contexts)
    return Bundle(
        predictions=_predictions(right, num_models, num_classes),
        labels=np.full(len(right), LABEL),
        advice=(1 - softness) * np.stack(advice, axis=1) + softness / num_models,
        num_classes=num_classes,
    )


def rotating_pool(num_models: int, num_classes: int) -> Bundle:
    """Return k * k rows, one per context and right classifier; in context s policy i names classifier (i + s) mod k.

    Drawn evenly, every extended policy errs equally often: the stream behind the lower bounds of online learning.
    """
    contexts, right = np.divmod(np.arange(num_models**2), num_models)
    advice = [_one_hot((contexts + i) % num_models, num_models) for i in range(num_models)]
    return Bundle(
        predictions=_predictions(right, num_models, num_classes),
        labels=np.full(len(right), LABEL),
        advice=np.stack(advice, axis=1),
        num_classes=num_classes,
    )


def drawn_with_replacement(num_rows: int, horizon: int, seed: int, realization: int, purpose: int) -> Integers:
    """Return (T,) rows, each any of the pool's with equal chance: instances exactly i.i.d."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(realization, purpose)))
    return rng.integers(num_rows, size=horizon)
