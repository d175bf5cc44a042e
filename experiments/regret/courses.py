"""The courses of learners on many streams: in lockstep where they can, else one stream and one round at a time.

The adversaries are those of `experiments.regret.adaptive`, for all streams at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.learners import Learner
from experiments.regret.adaptive import UNSEEN_COINS, Course, doubt, first_largest, follow, mislead
from experiments.regret.lockstep import Advice, Lockstep, Sight, can_march, march

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
MakeLearner = Callable[[], Learner]


def followed(bundle: Bundle, make: MakeLearner, advice: Advice, orders: Integers, coins: Array) -> list[Course]:
    """Play fixed orders (S, T); advice (N, n, k) is the bundle's as the learner takes it, coins are (S, T, 4)."""
    learners = [make() for _ in orders]
    if not can_march(learners, bundle):
        return [follow(bundle, *stream) for stream in zip(learners, orders, coins, strict=True)]
    return march(bundle, learners, advice, coins, lambda lanes, t: lanes.see(orders[:, t]))


def misled(
    bundle: Bundle, make: MakeLearner, advice: Advice, rows: Integers, coins: Array, choices: int
) -> list[Course]:
    """Play the orders that adaptive adversaries make out of rows (S, N), with coins (S, T, 4)."""
    learners = [make() for _ in rows]
    if not can_march(learners, bundle):
        streams = zip(learners, rows, coins, strict=True)
        return [mislead(bundle, learner, make(), queue, own, choices) for learner, queue, own in streams]
    return march(bundle, learners, advice, coins, Misleading(rows, coins.shape[1], choices))


def doubted(
    pool: Bundle, makes: Sequence[MakeLearner], advice: Advice, rows: Integers, coins: Array, reacts: Sequence[bool]
) -> list[Course]:
    """Play rows (S, T) of a `rotating_pool`, each stream with a learner of its own: as they are, or, where the
    adversary `reacts`, in their contexts but against the learner's doubts."""
    learners = [make() for make in makes]
    if not can_march(learners, pool):
        streams = zip(learners, makes, rows, coins, reacts, strict=True)
        return [
            doubt(pool, learner, make(), contexts, own) if reacting else follow(pool, learner, contexts, own)
            for learner, make, contexts, own, reacting in streams
        ]

    def answer(lanes: Lockstep, t: int) -> Sight:
        seen, k = lanes.see(rows[:, t]), pool.num_models
        return lanes.see(np.where(reacts, seen.rows // k * k + first_largest(-seen.w), seen.rows))

    return march(pool, learners, advice, coins, answer)


class Misleading:
    """Offers each stream the most harmful of its next few rows; the others go to the end of its queue."""

    def __init__(self, rows: Integers, horizon: int, choices: int) -> None:
        streams, self.tail = rows.shape
        self.queue = np.empty((streams, self.tail + horizon * max(0, choices - 1)), dtype=np.int64)
        self.queue[:, : self.tail] = rows
        self.head, self.choices = 0, choices

    def __call__(self, lanes: Lockstep, t: int) -> Sight:
        count = min(self.choices, self.tail - self.head)
        seen = lanes.see(self.queue[:, self.head : self.head + count])
        self.head += count
        models, probabilities = lanes.name(seen, UNSEEN_COINS)
        harm = lanes.expected_loss(seen, models, probabilities) + 1e-3 * (~seen.wrong).mean(axis=-1)
        worst = first_largest(harm)
        others = np.arange(count) != worst[:, None]
        self.queue[:, self.tail : self.tail + count - 1] = seen.rows[others].reshape(len(worst), count - 1)
        self.tail += count - 1
        return seen.pick(worst, lanes.priors.lanes)
