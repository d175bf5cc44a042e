"""Every learner for a few rounds, replayed and online, decides as the readable one: a moment each, compiled or not."""

from typing import Any

import numpy as np
import pytest
from equal_play import assert_equal, every_learner, with_rates_and_priors

import cams
from cams.randomness import uniforms

ROUNDS = 24
SEED = 3
GAPS = (False, True)


def _bundle(gaps: bool, c: int = 3) -> cams.Bundle:
    rng, k, n = np.random.default_rng(c), 4, 3
    labels = rng.integers(0, c, ROUNDS)
    votes = np.where(rng.random((ROUNDS, k)) < 0.5, labels[:, None], rng.integers(0, c, (ROUNDS, k)))
    votes[::5] = votes[::5, :1]  # all agree
    if gaps:
        votes[rng.random((ROUNDS, k)) < 0.3] = -1
        votes[:, 0] = np.where((votes < 0).all(axis=1), labels, votes[:, 0])
    advice = rng.dirichlet(np.full(k, 0.5), (ROUNDS, n)).astype(np.float32)
    return cams.Bundle(
        predictions=votes, labels=labels, advice=advice, num_classes=c, abstain=-1 if gaps else None
    )  # fmt: skip


BUNDLES = {gaps: _bundle(gaps) for gaps in GAPS}
LEARNERS = [
    each if isinstance(each, dict) else {"name": each, "label": each}
    for each in [*every_learner(BUNDLES[False]), *with_rates_and_priors(BUNDLES[False])]
]
ONLINE = [each for each in LEARNERS if not cams.LEARNERS[each["name"]].needs_hindsight]


def _label(learner: dict[str, Any]) -> str:
    return str(learner["label"])


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("learner", LEARNERS, ids=_label)
def test_replayed(learner: dict[str, Any], gaps: bool, play_plainly: Any) -> None:
    assert_equal(BUNDLES[gaps], play_plainly, horizon=ROUNDS, budgets=[0, 3, 8], learners=[learner])


@pytest.mark.parametrize("learner", ["cams", "cams_adversarial", "exp4", "cqbc", "qbc"])
def test_replayed_with_more_classes_than_models(learner: str, play_plainly: Any) -> None:
    assert_equal(_bundle(False, 30), play_plainly, horizon=ROUNDS, budgets=[2, 20], learners=[learner])


@pytest.mark.parametrize("learner", ["cams", "cams_max", "mp", "exp4", "iwal", "ciwal"])
def test_replayed_with_softened_policies_and_a_budget_spread_out(learner: str, play_plainly: Any) -> None:
    how = {"regularize": True, "scaled": True, "learners": [learner]}
    assert_equal(BUNDLES[False], play_plainly, horizon=ROUNDS, budgets=[5, 12], **how)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("learner", ONLINE, ids=_label)
def test_online(learner: dict[str, Any], gaps: bool) -> None:
    bundle, settings = BUNDLES[gaps], {key: value for key, value in learner.items() if key not in ("name", "label")}
    shared = {"num_classes": bundle.num_classes, "horizon": ROUNDS, "budget": 8, **settings}
    readable = cams.make_learner(learner["name"], num_models=4, num_policies=3, **shared)
    names = {"models": bundle.model_names, "policies": bundle.policy_names, "abstain": -1 if gaps else None}
    selector = cams.Selector(learner=learner["name"], seed=SEED, **names, **shared)
    spent = 0
    for row, draws in enumerate(uniforms(SEED, 0, ROUNDS)):
        expected = readable.decide(bundle.predictions[row], bundle.advice[row], draws, spent < 8)
        decision = selector.step(bundle.predictions[row], bundle.advice[row])
        assert (decision.model_index, decision.query) == (expected.model, expected.query), f"round {row + 1}"
        assert decision.query_probability == pytest.approx(expected.query_probability, rel=1e-10)
        if expected.query:
            spent += 1
            readable.learn(expected, int(bundle.labels[row]))
            selector.label(decision.ticket, int(bundle.labels[row]))
    assert spent
    # A mass that the rate does not look at is not kept by compiled code.
    kept = {name: value for name, value in readable.state().items() if name != "largest_mass" or not settings}
    for name, value in kept.items():
        np.testing.assert_allclose(selector._learner.state()[name], value, rtol=1e-9, err_msg=name)
