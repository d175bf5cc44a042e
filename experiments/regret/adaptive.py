"""One round at a time: an adversary that watches a learner, and the learner's own rho.

The adversary sees everything but the coins of the round it is preparing, as the adversarial setting allows.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import cams
from cams.learners import Learner, Round

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Course(NamedTuple):
    """What one learner did on one stream, each (T,): row ids, and so far: errors, expected errors, labels bought.

    Expected errors are those before the learner draws its model. largest_mass is the most it has put on one
    label up to each round (1 - rho), 0 for learners that do not keep it.
    """

    order: Integers
    loss: Integers
    expected_loss: Array
    queries: Integers
    largest_mass: Array


def expected_loss(round_: Round, label: int) -> float:
    """Return the chance that a round's answer is wrong, before the learner's coins are known."""
    wrong = round_.predictions != label
    # A probability of 1 is how a learner says that it does not draw its model.
    drawn = round_.model_probability < 1
    return float(round_.model_weights @ wrong) if drawn else float(wrong[round_.model])


def follow(bundle: cams.Bundle, learner: Learner, order: Integers, coins: Array) -> Course:
    """Play a fixed order through a learner."""
    tally = _Tally(bundle, learner, len(order))
    for t, row in enumerate(order):
        tally.play(t, int(row), coins[t])
    return tally.course()


def mislead(
    bundle: cams.Bundle, learner: Learner, twin: Learner, rows: Integers, coins: Array, horizon: int, choices: int
) -> Course:
    """Play the order that an adaptive adversary makes out of `rows`, round by round.

    Of the next `choices` rows it offers the one that the learner, as it now stands, most likely gets wrong, and
    among equals one that the most classifiers get right: there the regret is largest. The others go to the
    end of the queue. `twin` is a second learner of the same kind, to ask what the first would do without
    disturbing it.
    """
    queue = deque(int(row) for row in rows)
    tally = _Tally(bundle, learner, horizon)
    truth = bundle.labels
    assert truth is not None
    for t in range(horizon):
        state = learner.state()
        candidates = [queue.popleft() for _ in range(min(choices, len(queue)))]
        harm = np.empty(len(candidates))
        for i, row in enumerate(candidates):
            twin.restore(state)
            # The coins of the twin are not those of the round: only the tie is shared by all candidates.
            asked = twin.decide(bundle.predictions[row], bundle.advice[row], np.full(4, 0.5))
            share_right = float((bundle.predictions[row] == truth[row]).mean())
            harm[i] = expected_loss(asked, int(truth[row])) + 1e-3 * share_right
        tally.play(t, candidates.pop(int(harm.argmax())), coins[t])
        queue.extend(candidates)
    return tally.course()


def doubt(pool: cams.Bundle, learner: Learner, twin: Learner, rows: Integers, coins: Array) -> Course:
    """Play rows of a `rotating_pool` in the context of each given row, but with the classifier right that the
    learner, as it now stands, trusts least in that context."""
    k = pool.num_models
    tally = _Tally(pool, learner, len(rows))
    for t, row in enumerate(rows):
        twin.restore(learner.state())
        trust = twin.decide(pool.predictions[row], pool.advice[row], np.full(4, 0.5)).model_weights
        tally.play(t, int(row) // k * k + int(trust.argmin()), coins[t])
    return tally.course()


class _Tally:
    """Plays rounds and keeps count."""

    def __init__(self, bundle: cams.Bundle, learner: Learner, horizon: int) -> None:
        if bundle.labels is None:
            raise cams.InputError("the bundle has no labels, and a replay needs them")
        self.bundle, self.learner, self.truth = bundle, learner, bundle.labels
        self.order = np.empty(horizon, dtype=np.int64)
        self.wrong = np.zeros(horizon, dtype=np.int64)
        self.expected = np.zeros(horizon)
        self.bought = np.zeros(horizon, dtype=np.int64)
        self.largest_mass = np.zeros(horizon)

    def play(self, t: int, row: int, coins: Array) -> None:
        round_ = self.learner.decide(self.bundle.predictions[row], self.bundle.advice[row], coins)
        label = int(self.truth[row])
        if round_.query:
            self.learner.learn(round_, label)
        self.order[t], self.bought[t] = row, round_.query
        self.wrong[t] = round_.predictions[round_.model] != label
        self.expected[t] = expected_loss(round_, label)
        self.largest_mass[t] = getattr(self.learner, "largest_mass", 0.0)

    def course(self) -> Course:
        so_far = (counts.cumsum() for counts in (self.wrong, self.expected, self.bought))
        return Course(self.order, *so_far, self.largest_mass)
