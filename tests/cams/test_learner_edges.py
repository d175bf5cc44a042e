"""Learners where a rule is at its edge: three classes, nobody sure, no slack, a leader that abstains."""

import numpy as np
import pytest
from hand_worked import ADVICE, TWO, approx, at, draws, make

from cams.classes import ABSTAINS
from cams.engine import spec
from cams.learners.base import sample


def test_the_adversarial_rate_of_three_classes() -> None:
    # c = 3, m = 3, T = 100, t = 1, rho = 1: sqrt(1 + 1/(9 ln 3)) sqrt(ln 3 / 100) = 1.049357 * 0.104815.
    assert at(make("cams_adversarial", c=3, horizon=100), 2).learning_rate() == approx(0.109988)


@pytest.mark.parametrize(
    ("rho", "kind"), [("proof", spec.RATE_ADVERSARIAL_PROOF), ("label", spec.RATE_ADVERSARIAL_LABEL)]
)
def test_the_compiled_twin_is_told_which_rho(rho: str, kind: int) -> None:
    assert make("cams_adversarial", horizon=100, rho=rho).kernel().rate_kind == kind
    by_evidence = make("cams_adversarial", horizon=100, rho=rho, rate_rule="evidence").kernel()
    assert (by_evidence.rate_kind, by_evidence.by_evidence) == (spec.RATE_ANYTIME, True)


def test_the_compiled_twin_of_a_leader_weighs_what_the_leader_weighs() -> None:
    assert make("qbc").kernel().weigh == make("cqbc", n=0).kernel().weigh == spec.WEIGH_MODELS
    assert make("cqbc").kernel().weigh == spec.WEIGH_POLICIES
    assert make("cqbc", rate_rule="evidence").kernel().by_evidence
    # Without policies compiled code has no place for what a prior keeps of them.
    assert [make("cqbc", n=n, prior=5.0).kernel().prior for n in (1, 0)] == [5.0, 0.0]


@pytest.mark.parametrize("name", ["qbc", "cqbc"])
def test_a_leader_that_abstains_is_not_named(name: str) -> None:
    learner = make(name, k=3)
    advice = np.array([[0.8, 0.1, 0.1]])
    learner.learn(learner.decide(np.array([1, 0, 0], dtype=np.int32), advice, draws()), 1)  # model 0 alone is right
    assert learner.decide(np.array([ABSTAINS, 1, ABSTAINS], dtype=np.int32), advice, draws()).model == 1


def test_without_slack_the_best_survivor_stays() -> None:
    learner = at(make("iwal", slack=0), 2)
    learner.query_rule.model_losses = np.array([0.0, 0.5])
    assert learner.decide(TWO, ADVICE, draws()).query_probability == 0.0
    assert learner.query_rule.alive.tolist() == [True, False]


def test_a_query_rule_with_a_memory_learns_under_cams_too() -> None:
    learner = make("cams_variance", query="survivors")
    learner.learn(learner.decide(TWO, ADVICE, draws()), 0)
    assert learner.query_rule.model_losses.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["cams", "mp", "qbc", "iwal"])
def test_where_there_is_one_class_nothing_is_asked(name: str) -> None:
    learner = make(name, c=1)
    decided = learner.decide(np.zeros(2, dtype=np.int32), ADVICE, draws())
    assert (decided.query, decided.query_probability) == (False, 0.0)


def test_a_draw_from_the_least_mass_there_is() -> None:
    # 0.9 times the smallest number rounds up to it.
    assert sample(np.array([0.0, 5e-324]), 0.9) == 1
