"""One round at a time: an adversary that watches a learner, and the learner's own rho.

The adversary sees everything but the coins of the round it is preparing, as the adversarial setting allows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.learners import Learner, Round
from cams.rounds import play
from experiments.regret.losses import labels_of

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# What an adversary assumes of the coins it cannot see.
UNSEEN_COINS = np.full(4, 0.5)
# Scores this close are equal: processors differ in the last bits, and a record must not depend on whose they are.
TIE = 1e-9


class Course(NamedTuple):
    """What one learner did on one stream, each (T,): row ids, and so far: errors, expected errors, labels bought.

    Expected errors are those before the learner draws its model. largest_mass is the most it has put on one
    label up to each round (1 - rho), 0 for learners that do not keep it; evidence the sum of 1/z^2 over its labels.
    """

    order: Integers
    loss: Integers
    expected_loss: Array
    queries: Integers
    largest_mass: Array
    evidence: Array


def expected_loss(round_: Round, label: int) -> float:
    """Return the chance that a round's answer is wrong, before the learner's coins are known."""
    wrong = round_.predictions != label
    # A probability of 1 is how a learner says that it does not draw its model.
    drawn = round_.model_probability < 1
    return float(round_.model_weights @ wrong) if drawn else float(wrong[round_.model])


def first_largest(scores: Array) -> Integers:
    """Return the index of the largest score (..., C), the first where several tie."""
    index: Integers = (scores >= scores.max(axis=-1, keepdims=True) - TIE).argmax(axis=-1)
    return index


def follow(bundle: Bundle, learner: Learner, order: Iterable[int], coins: Array) -> Course:
    """Play rows through a learner, as many as there are coins (T, 4)."""
    horizon, truth = len(coins), labels_of(bundle)
    rows, wrong, bought = np.empty((3, horizon), dtype=np.int64)
    expected, largest_mass, evidence = np.empty((3, horizon))
    for t, (row, decided, _) in enumerate(play(learner, bundle, order, coins)):
        rows[t], bought[t] = row, decided.query
        wrong[t] = decided.predictions[decided.model] != truth[row]
        expected[t] = expected_loss(decided, int(truth[row]))
        largest_mass[t] = getattr(learner, "largest_mass", 0.0)
        evidence[t] = 1 / decided.query_probability**2 if decided.query else 0.0
    return Course(rows, wrong.cumsum(), expected.cumsum(), bought.cumsum(), largest_mass, evidence.cumsum())


def mislead(bundle: Bundle, learner: Learner, twin: Learner, rows: Integers, coins: Array, choices: int) -> Course:
    """Play the order that an adaptive adversary makes out of `rows`, round by round.

    Of the next `choices` rows it offers the one that the learner, as it now stands, most likely gets wrong, and
    among equals one that the most classifiers get right: there the regret is largest. The others go to the
    end of the queue. `twin` is a second learner of the same kind, to ask what the first would do without
    disturbing it.
    """
    return follow(bundle, learner, _most_harmful(bundle, learner, twin, rows, choices), coins)


def _most_harmful(bundle: Bundle, learner: Learner, twin: Learner, rows: Integers, choices: int) -> Iterator[int]:
    queue, truth = deque(int(row) for row in rows), labels_of(bundle)
    while queue:
        state = learner.state()
        candidates = [queue.popleft() for _ in range(min(choices, len(queue)))]
        harm = np.empty(len(candidates))
        for i, row in enumerate(candidates):
            twin.restore(state)
            asked = twin.decide(bundle.predictions[row], bundle.advice[row], UNSEEN_COINS)
            share_right = float((bundle.predictions[row] == truth[row]).mean())
            harm[i] = expected_loss(asked, int(truth[row])) + 1e-3 * share_right
        yield candidates.pop(int(first_largest(harm)))
        queue.extend(candidates)


def doubt(pool: Bundle, learner: Learner, twin: Learner, rows: Integers, coins: Array) -> Course:
    """Play rows of a `rotating_pool` in the context of each given row, but with the classifier right that the
    learner, as it now stands, trusts least in that context."""
    return follow(pool, learner, _least_trusted(pool, learner, twin, rows), coins)


def _least_trusted(pool: Bundle, learner: Learner, twin: Learner, rows: Integers) -> Iterator[int]:
    k = pool.num_models
    for row in rows:
        twin.restore(learner.state())
        trust = twin.decide(pool.predictions[row], pool.advice[row], UNSEEN_COINS).model_weights
        yield int(row) // k * k + int(first_largest(-trust))
