"""Stream orders made to hurt, fixed before the first round: (T,) row ids for one realization.

| order  | what it does                                                                               |
|--------|--------------------------------------------------------------------------------------------|
| blocks | rows are sorted by which of a few rival policies is right where the others are not         |
| groups | the bundle's groups one after another: DRIFT's batches in time order                       |
| labels | all rows of one class, then all of the next                                                |
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.errors import InputError
from experiments.regret.losses import favourite_losses

Integers = npt.NDArray[np.int64]
Order = Callable[[Integers, np.random.Generator], Integers]


def rivals(losses: npt.NDArray[np.float64], count: int) -> list[int]:
    """Return policies (columns of losses (N, m)) that are right on different rows.

    The best one first; then, again and again, the one that is right on most rows where all chosen are wrong.
    """
    chosen = [int(losses.sum(axis=0).argmin())]
    while len(chosen) < min(count, losses.shape[1]):
        all_wrong = losses[:, chosen].min(axis=1)
        rescued = ((1 - losses) * all_wrong[:, None]).sum(axis=0)
        rescued[chosen] = -1
        chosen.append(int(rescued.argmax()))
    return chosen


def blocks(bundle: Bundle, count: int) -> Order:
    """Return the order in which each of `count` rivals is best for one block, blocks in random order."""
    losses = favourite_losses(bundle)
    rival_losses = losses[:, rivals(losses, count)]

    def order(rows: Integers, rng: np.random.Generator) -> Integers:
        advantage = rival_losses[rows].mean(axis=1, keepdims=True) - rival_losses[rows]
        # Rows that favour several rivals, or none, are dealt out at random.
        block = (advantage + 1e-6 * rng.random(advantage.shape)).argmax(axis=1)
        return rows[np.argsort(rng.permutation(rival_losses.shape[1])[block], kind="stable")]

    return order


def groups(bundle: Bundle, count: int) -> Order:
    """Return the order of the bundle's groups, ascending; within a group rows stay as drawn."""
    if bundle.groups is None:
        raise InputError("the bundle has no groups, which the order 'groups' follows")
    ids = bundle.groups
    return lambda rows, rng: rows[np.argsort(ids[rows], kind="stable")]


def labels(bundle: Bundle, count: int) -> Order:
    """Return the order of the classes, ascending; within a class rows stay as drawn."""
    if bundle.labels is None:
        raise InputError("the bundle has no labels, which the order 'labels' follows")
    truth = bundle.labels
    return lambda rows, rng: rows[np.argsort(truth[rows], kind="stable")]


ORDERS: dict[str, Callable[[Bundle, int], Order]] = {"blocks": blocks, "groups": groups, "labels": labels}
