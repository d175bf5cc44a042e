"""Which models survive a bar on their mean loss, and whether those disagree: compiled as in the readable rule."""

import numpy as np
import pytest

from cams.engine.queries import _survivors_disagree
from cams.learners.base import Problem
from cams.learners.queries import Belief, Survivors

K, CLASSES = 6, 3


@pytest.mark.parametrize("t", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("slack", [0.0, 0.02, 0.3])
def test_survivors(t: int, slack: float) -> None:
    rng, dropped = np.random.default_rng(t), 0
    for _ in range(30):
        rule = Survivors(Problem(K, 0, CLASSES), delta=0.3, slack=slack)
        rule.model_losses, rule.alive = rng.random(K) * t, rng.random(K) < 0.7
        rule.alive[rng.integers(K)] = True
        votes = rng.integers(-1, CLASSES, K).astype(np.int32)
        losses, alive, before = rule.model_losses.copy(), rule.alive.copy(), rule.alive.sum()
        disagree = rule.probability(Belief(t, votes, CLASSES, 0.0, np.empty(0)))
        assert _survivors_disagree(votes, losses, alive, t, 0.3, slack) == disagree
        np.testing.assert_array_equal(alive, rule.alive)
        dropped += before - alive.sum()
    assert (dropped > 0) == (t > 1)
