"""The courses of one learner on many streams: in lockstep where it can, else one stream and one round at a time.

The adversaries are those of `experiments.regret.adaptive`, for all streams at once.
"""

from __future__ import annotations

from collections.abc import Callable

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
    learner = make()
    if not can_march(learner):
        return [follow(bundle, make(), order, own) for order, own in zip(orders, coins, strict=True)]
    return march(bundle, learner, advice, coins, lambda lanes, t: lanes.see(orders[:, t]))


def misled(
    bundle: Bundle, make: MakeLearner, advice: Advice, rows: Integers, coins: Array, choices: int
) -> list[Course]:
    """Play the orders that adaptive adversaries make out of rows (S, N), with coins (S, T, 4)."""
    learner = make()
    if not can_march(learner):
        pairs = zip(rows, coins, strict=True)
        return [mislead(bundle, make(), make(), queue, own, choices) for queue, own in pairs]
    return march(bundle, learner, advice, coins, Misleading(rows, coins.shape[1], choices))


def doubted(pool: Bundle, make: MakeLearner, advice: Advice, rows: Integers, coins: Array) -> list[Course]:
    """Play rows of a `rotating_pool` in the contexts of rows (S, T), each stream against its own doubts."""
    learner = make()
    if not can_march(learner):
        pairs = zip(rows, coins, strict=True)
        return [doubt(pool, make(), make(), contexts, own) for contexts, own in pairs]

    def answer(lanes: Lockstep, t: int) -> Sight:
        trust = lanes.see(rows[:, t]).w
        return lanes.see(rows[:, t] // pool.num_models * pool.num_models + first_largest(-trust))

    return march(pool, learner, advice, coins, answer)


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
        return seen.pick(worst)
