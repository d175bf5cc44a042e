"""What enters the bounds of our own learners, and the steps of their proofs that are not about a whole stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cams
from cams import bounds
from cams.learners.cams import Cams
from experiments.regret.limits import (
    draws_by_evidence,
    evidence_limits,
    names_by_evidence,
    own_stochastic_limits,
    prior_drift,
)
from experiments.regret.streams import gap_pool


def make(name: str, **settings: Any) -> Any:
    return cams.make_learner(
        name, num_models=4, num_policies=4, num_classes=4, horizon=100, budget=100, regularize=True, **settings
    )


def test_whom_the_bounds_are_about() -> None:
    drawn = make("cams_plus", recommend="sample_policy")
    assert draws_by_evidence(drawn)
    assert not names_by_evidence(drawn)
    assert names_by_evidence(make("cams_evidence"))
    # The paper's rate, classifiers alone, labels on every round: other learners, other bounds.
    for other in (make("cams"), make("cams_adversarial"), make("mp", rate_rule="evidence"), make("iwal")):
        assert not draws_by_evidence(other)
        assert not names_by_evidence(other)


def test_the_prior_moves_only_after_a_label_and_less_with_each() -> None:
    learner = make("cams_plus", prior=6.0, fade=2.0)
    votes = np.array([[0, 1], [0, 1], [1, 1], [0, 1], [2, 1]])
    # Labels bought on rounds 1 and 4. Round 1: none before; round 2: one before, the second with disagreement,
    # 2 * 6 / (1 + 1/2) / 2 = 4; round 3: all agree; round 4: 2 * 4 / 3; round 5: two before, 2 * 3 / 4.
    drift = prior_drift(learner, votes, np.array([1, 1, 1, 2, 2]))
    np.testing.assert_allclose(drift, [0, 4, 4, 4 + 8 / 3, 4 + 8 / 3 + 1.5])


def test_bounds_are_means_over_realizations() -> None:
    learner, rounds = make("cams_plus", recommend="sample_policy"), np.array([10, 100])
    evidence, drift = np.array([[4.0, 9.0], [16.0, 25.0]]), np.array([[0.0, 1.0], [2.0, 3.0]])
    best = np.array([[3.0, 30.0], [5.0, 50.0]])
    fixed = evidence_limits(learner, rounds, evidence, drift, best, reacts=False)
    by_hand = [
        np.mean([bounds.evidence_regret(8, v, prior=5.0, drift=d) for v, d in ((9.0, 1.0), (25.0, 3.0))]),
        bounds.evidence_regret_in_hindsight(8, 17.0),
    ]
    assert fixed.regret[1] == pytest.approx(by_hand[0])
    assert fixed.queries[1] == pytest.approx(bounds.evidence_queries(100, 4, by_hand[0], 40))
    reacting = evidence_limits(learner, rounds, evidence, drift, best, reacts=True)
    assert reacting.regret[1] == pytest.approx(sum(by_hand))


def test_no_bound_exceeds_the_number_of_rounds_on_synthetic_pools() -> None:
    learner, pool = make("cams_evidence"), gap_pool(4, 4, 4, best_rate=0.05, gap=0.4)
    assert isinstance(learner, Cams)
    limits = own_stochastic_limits(pool, learner, np.array([100, 10**12, 16 * 10**12]))
    assert limits["own_regret_bound"][0] == 100
    # On streams long enough it says something, and grows like T^(3/4).
    assert limits["own_regret_bound"][1] < 10**12
    assert limits["own_regret_bound"][2] == pytest.approx(8 * limits["own_regret_bound"][1])


def test_a_best_policy_with_enough_weight_decides_the_argmax() -> None:
    """If 1 - q_0 < gamma / (1 + gamma), the mixture's argmax is the best policy's first choice."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        pi = rng.dirichlet(np.full(4, 0.5), 6)
        top = np.sort(pi[0])
        margin = top[-1] - top[-2]
        rest = 0.999 * margin / (1 + margin)
        q = np.concatenate([[1 - rest], rest * rng.dirichlet(np.full(5, 0.3))])
        assert (q @ pi).argmax() == pi[0].argmax()


def test_a_step_of_the_prior_moves_weights_by_a_quarter_of_its_range_at_most() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        before, step = rng.dirichlet(np.full(5, 0.7)), rng.uniform(0, 3) * rng.random(5)
        after = before * np.exp(-step)
        after /= after.sum()
        assert abs(after - before).sum() / 2 <= np.ptp(step) / 4 + 1e-12
