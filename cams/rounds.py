"""The protocol, one round at a time: what is read off a bundle, and when a label is seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from cams.bundle import Bundle
from cams.checks import is_listed, whole_number
from cams.errors import InputError
from cams.learners import Learner, Round
from cams.learners.base import Floats


class Played(NamedTuple):
    """One round as it was played: which row it showed, what the learner decided, and the label if it was bought."""

    row: int
    decided: Round
    label: int | None


def play(
    learner: Learner, bundle: Bundle, rows: Iterable[int], uniforms: Iterable[Floats], *, budget: int | None = None
) -> Iterator[Played]:
    """Play rows of a bundle through a learner until the uniforms, (4,) a round, or the rows end.

    A round is yielded after the learner has learnt from it. The next row is asked for only then, so an adversary
    may choose it. Labels that are not bought are never read. Without a `budget` every label asked for is bought.
    """
    if not isinstance(learner, Learner):
        raise InputError(f"expected a learner, not {learner!r}; cams.make_learner makes one")
    if budget is not None:
        budget = whole_number("budget", budget, 0)
    _check_fit(learner, bundle)
    labels = bundle.labels
    if labels is None:
        raise InputError("a bundle without labels cannot be played")
    for what, values in (("rows", rows), ("uniforms", uniforms)):
        if not is_listed(values):
            raise InputError(f"{what} is {values!r}, expected one after another")
    spent = 0
    for draws, given in zip(uniforms, rows, strict=False):
        row = whole_number("row", given, -(2**63))
        if not 0 <= row < len(bundle.predictions):
            raise InputError(f"row {row} is not in the bundle, which has {len(bundle.predictions)}")
        coins = _four_uniforms(draws)
        can_buy = budget is None or spent < budget
        decided = learner.decide(bundle.predictions[row], bundle.advice[row], coins, can_buy=can_buy)
        label = int(labels[row]) if decided.query else None
        if label is not None:
            spent += 1
            learner.learn(decided, label)
        yield Played(row, decided, label)


def _four_uniforms(draws: object) -> Floats:
    try:
        coins = np.asarray(draws, dtype=np.float64)
    except (TypeError, ValueError):
        coins = np.empty(0)
    if coins.shape != (4,) or not ((coins >= 0) & (coins < 1)).all():
        raise InputError(f"the uniforms of a round are {draws!r}, expected four numbers from 0 to below 1")
    return coins


def _check_fit(learner: Learner, bundle: Bundle) -> None:
    """Refuse a learner that was made for another problem than the bundle's."""
    if not isinstance(bundle, Bundle):
        raise InputError(f"expected a Bundle, not {type(bundle).__name__}; cams.Bundle.load reads one from a file")
    for what in ("num_models", "num_policies", "num_classes"):
        made_for, found = getattr(learner.problem, what), getattr(bundle, what)
        if made_for != found:
            raise InputError(f"the learner was made for {what} {made_for}, and the bundle has {found}")
