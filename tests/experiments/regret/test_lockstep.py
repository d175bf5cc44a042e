"""Streams played side by side come out to the last bit as if each had been played alone."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import cams
from cams.learners import Problem
from cams.learners.cams import Cams
from cams.policies import regularize
from cams.randomness import stream_order, uniforms
from experiments.regret.adaptive import Course, doubt, follow, mislead
from experiments.regret.courses import MakeLearner, doubted, followed, misled
from experiments.regret.lockstep import can_march
from experiments.regret.streams import drawn_with_replacement, rotating_pool

STREAMS, HORIZON = 3, 40
COINS = np.stack([uniforms(0, s, HORIZON) for s in range(STREAMS)])
MARCHING: dict[str, dict[str, object]] = {
    **{name: {} for name in ("cams", "cams_adversarial", "cams_conventional", "cams_variance", "cams_evidence")},
    **{name: {} for name in ("cams_plus", "exp3", "exp4", "hedge", "mp")},
    "cams_plus drawn": {"recommend": "sample_policy", "votes": "plain", "fade": 0.5},
    "cams_adversarial by evidence": {"rate_rule": "evidence", "prior": 2.0},
    "exp4 by evidence": {"rate_rule": "evidence", "prior": 2.0},
}


def many_classes() -> cams.Bundle:
    """Ten classes, some without a vote: numpy sums eight numbers in another order than seven."""
    rng = np.random.default_rng(7)
    predictions = rng.integers(0, 10, (90, 12))
    predictions[::3] %= 2
    predictions[::9] = 4
    return cams.Bundle(
        predictions=predictions,
        labels=rng.integers(0, 10, 90),
        advice=rng.dirichlet(np.full(12, 0.3), (90, 9)).astype(np.float32),
        num_classes=10,
    )


def maker(bundle: cams.Bundle, label: str) -> MakeLearner:
    return partial(
        cams.make_learner,
        label.split()[0],
        num_models=bundle.num_models,
        num_policies=bundle.num_policies,
        num_classes=bundle.num_classes,
        horizon=HORIZON,
        budget=HORIZON,
        regularize=True,
        **MARCHING.get(label, {}),
    )


def assert_same(alone: list[Course], together: list[Course]) -> None:
    for one, other in zip(alone, together, strict=True):
        for name in Course._fields:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("name", [*MARCHING, "iwal"])
def test_fixed_orders_and_adaptive_adversaries(name: str) -> None:
    pool = many_classes()
    make, advice = maker(pool, name), regularize(pool.advice)
    assert can_march([make()], pool) == (name in MARCHING)
    rows = np.stack([stream_order(0, s, pool.num_rows, pool.num_rows) for s in range(STREAMS)])
    pairs = list(zip(rows, COINS, strict=True))
    assert_same([follow(pool, make(), *pair) for pair in pairs], followed(pool, make, advice, rows[:, :HORIZON], COINS))
    alone = [mislead(pool, make(), make(), *pair, choices=4) for pair in pairs]
    assert_same(alone, misled(pool, make, advice, rows, COINS, 4))


def test_an_adversary_takes_what_is_left_of_the_rows() -> None:
    pool = many_classes()
    make, rows = maker(pool, "cams_adversarial"), np.tile(np.arange(HORIZON), (STREAMS, 1))
    alone = [mislead(pool, make(), make(), *pair, choices=6) for pair in zip(rows, COINS, strict=True)]
    together = misled(pool, make, regularize(pool.advice), rows, COINS, 6)
    assert_same(alone, together)
    assert all(sorted(course.order) == list(range(HORIZON)) for course in together)


def test_different_learners_march_together_against_an_adversary_that_answers_doubts() -> None:
    pool = rotating_pool(4, 4)
    labels = ["cams_adversarial", "cams_adversarial by evidence", "cams_plus drawn"]
    makes = [maker(pool, label) for label in labels for _ in range(2)]
    reacts = [True, False] * len(labels)
    rows = np.stack([drawn_with_replacement(pool.num_rows, HORIZON, 0, s, 1) for s in range(len(makes))])
    coins = np.stack([uniforms(0, s, HORIZON) for s in range(len(makes))])
    alone = [
        doubt(pool, make(), make(), contexts, own) if reacting else follow(pool, make(), contexts, own)
        for make, contexts, own, reacting in zip(makes, rows, coins, reacts, strict=True)
    ]
    assert can_march([make() for make in makes], pool)
    assert_same(alone, doubted(pool, makes, regularize(pool.advice), rows, coins, reacts))


class Steady(Cams):
    """A learner of somebody's own, with a rate that no other has."""

    def learning_rate(self) -> float:
        return 1.0


def test_a_learner_of_ones_own_is_played_alone() -> None:
    pool = many_classes()
    problem = Problem(pool.num_models, pool.num_policies, pool.num_classes, horizon=HORIZON, regularize=True)
    make, rows = partial(Steady, problem), np.tile(np.arange(HORIZON), (STREAMS, 1))
    assert not can_march([make()], pool)
    alone = [follow(pool, make(), *pair) for pair in zip(rows, COINS, strict=True)]
    assert_same(alone, followed(pool, make, regularize(pool.advice), rows, COINS))


def test_who_names_otherwise_or_has_no_answer_does_not_march() -> None:
    pool = many_classes()
    assert not can_march([maker(pool, "cams")(), maker(pool, "cams_adversarial")()], pool)
    silent = pool.predictions.copy()
    silent[0, 0] = -1
    assert can_march([maker(pool, "cams")()], pool)
    assert not can_march([maker(pool, "cams")()], SimpleNamespace(predictions=silent))


def test_evidence_is_the_sum_of_squared_weights_of_labels() -> None:
    # Hedge buys every label with probability 1: its evidence is the number of labels.
    pool = many_classes()
    rows = np.stack([stream_order(0, s, pool.num_rows, HORIZON) for s in range(STREAMS)])
    for course in followed(pool, maker(pool, "hedge"), pool.advice, rows, COINS):
        np.testing.assert_array_equal(course.evidence, np.arange(1, HORIZON + 1))
