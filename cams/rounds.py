"""The protocol, one round at a time: what is read off a bundle, and when a label is seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cams.bundle import Bundle
from cams.checks import whole_number
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
    labels = bundle.labels
    if labels is None:
        raise InputError("a bundle without labels cannot be played")
    spent = 0
    for draws, row in zip(uniforms, rows, strict=False):
        if not 0 <= row < len(bundle.predictions):
            raise InputError(f"row {row} is not in the bundle, which has {len(bundle.predictions)}")
        can_buy = budget is None or spent < budget
        decided = learner.decide(bundle.predictions[row], bundle.advice[row], draws, can_buy=can_buy)
        label = int(labels[row]) if decided.query else None
        if label is not None:
            spent += 1
            learner.learn(decided, label)
        yield Played(int(row), decided, label)
