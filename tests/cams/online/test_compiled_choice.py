"""What the selector compiles decides as the readable learner does, round for round."""

from __future__ import annotations

import numpy as np
import pytest

import cams
from cams.classes import ABSTAINS
from cams.learners import Choice, Entry, Round
from cams.randomness import uniforms

ONLINE = [name for name in cams.LEARNERS if not cams.LEARNERS[name].needs_hindsight]
ROUNDS, BUDGET, SEED = 300, 60, 4


def both(bundle: cams.Bundle, learner: str, abstain: int | None = None, **options) -> cams.Selector:
    """Play a selector and a readable learner side by side on one stream; return the selector."""
    k, n, c = bundle.num_models, bundle.num_policies, bundle.num_classes
    options = {"horizon": ROUNDS, "budget": BUDGET, **options}
    readable = cams.make_learner(learner, num_models=k, num_policies=n, num_classes=c, **options)
    selector = cams.Selector(
        models=bundle.model_names,
        policies=bundle.policy_names,
        num_classes=c,
        seed=SEED,
        learner=learner,
        abstain=abstain,
        **options,
    )
    spent = 0
    for row, draws in enumerate(uniforms(SEED, 0, ROUNDS)):
        expected = readable.decide(bundle.predictions[row], bundle.advice[row], draws, spent < BUDGET)
        decision = selector.step(bundle.predictions[row], bundle.advice[row])
        assert (decision.model_index, decision.query) == (expected.model, expected.query), f"round {row + 1}"
        np.testing.assert_allclose(decision.query_probability, expected.query_probability, rtol=1e-10)
        if expected.query:
            spent += 1
            waiting = selector._ledger.pending[decision.ticket].round
            np.testing.assert_allclose(waiting.model_weights, expected.model_weights, rtol=1e-9)
            np.testing.assert_allclose(waiting.model_probability, expected.model_probability, rtol=1e-9)
            readable.learn(expected, int(bundle.labels[row]))
            selector.label(decision.ticket, int(bundle.labels[row]))
    assert spent
    for name, value in readable.state().items():
        np.testing.assert_allclose(selector._learner.state()[name], value, rtol=1e-9, err_msg=name)
    return selector


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("learner", ONLINE)
def test_every_learner(learner, dtype, make_bundle):
    both(make_bundle(rows=ROUNDS, k=5, n=4, c=3, dtype=dtype), learner)


@pytest.mark.parametrize("learner", ["cams", "cams_plus", "cams_adversarial", "cams_context_free", "exp4", "cqbc"])
def test_regularised_and_scaled(learner, make_bundle):
    both(make_bundle(rows=ROUNDS, k=5, n=4, c=3, dtype=np.float64), learner, regularize=True, scaled=True)


@pytest.mark.parametrize(("least", "most", "total"), [(0.44, 0.49, 1.0), (0.2502, 0.2518, 0.993)])
@pytest.mark.parametrize("regularize", [True, False])
def test_advice_is_worked_with_in_the_precision_in_which_it_came(least, most, total, regularize):
    """Two models a hair apart: pushed over one half or one quarter they tie in single precision, not in double."""
    hair = 2.0**-27 * np.random.default_rng(0).integers(-8, 9, (ROUNDS, 1))
    middle = np.linspace(least, most, ROUNDS)[:, None]
    advice = (total * np.hstack([0.5 - middle, middle + hair, middle - hair, 0.5 - middle])[:, None]).astype("f4")
    votes = np.tile([0, 1, 2, 3], (ROUNDS, 1))
    bundle = cams.Bundle(predictions=votes, labels=np.ones(ROUNDS, int), advice=advice)
    learners = ["cams_conventional", "cams_max", "cqbc"]
    how = {"order": "stream", "regularize": regularize, "trace": np.arange(1, ROUNDS + 1)}
    played = cams.replay(bundle, learners, horizon=ROUNDS, budgets=[0], realizations=1, seed=SEED, **how)
    for learner, losses in zip(learners, played.loss_trace[:, 0, 0], strict=True):
        options = {"num_classes": 4, "budget": 0, "seed": SEED, "learner": learner, "regularize": regularize}
        live = cams.Selector(models=list("abcd"), policies=["p"], **options)
        decisions = live.step_many(votes, advice)
        np.testing.assert_array_equal(np.cumsum([d.prediction != 1 for d in decisions]), losses, err_msg=learner)


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        ("cams_adversarial", {"rho": "label"}),
        ("cams_nonactive", {"query": "survivors"}),
        ("cams_nonactive", {"query": "vote_entropy"}),
        ("cams_max", {"recommend": "sample_model", "floor": 0.1}),
        ("cams_plus", {"votes": "plain", "fade": 0.5}),
        ("cqbc", {"prior": 5.0, "rate_rule": "evidence"}),
        ("ciwal", {"prior": 2.0, "votes": "plain"}),
        ("cams", {"prior": 0.5}),
    ],
)
def test_parts_put_together_anew(learner, settings, make_bundle):
    both(make_bundle(rows=ROUNDS, k=5, n=4, c=3), learner, **settings)


@pytest.mark.parametrize("learner", ["iwal", "ciwal"])
def test_models_that_fall_behind_are_given_up(learner, make_bundle):
    selector = both(make_bundle(rows=ROUNDS, k=5, n=4, c=3), learner, slack=0.05)
    assert 0 < selector._learner.state()["alive"].sum() < 5


@pytest.mark.parametrize(("k", "n", "c"), [(1, 1, 2), (2, 0, 2), (6, 0, 40), (12, 7, 2)])
def test_odd_sizes(k, n, c, make_bundle):
    bundle = make_bundle(rows=ROUNDS, k=k, n=n, c=c)
    for learner in ["cams_nonactive"] if k == 1 else ["cams", "cams_plus", "cqbc", "ciwal", "iwal"]:
        both(bundle, learner)


@pytest.mark.parametrize("learner", ["cams_plus", "cqbc", "ciwal", "cams_adversarial"])
def test_rounds_on_which_a_model_abstains_lie_between_the_others(learner, make_bundle):
    bundle = make_bundle(rows=ROUNDS, k=5, n=4, c=3)
    predictions = bundle.predictions.copy()
    predictions[::7, 2] = ABSTAINS
    predictions[3::7, :3] = ABSTAINS
    silent = cams.Bundle(predictions=predictions, labels=bundle.labels, advice=bundle.advice, abstain=ABSTAINS)
    both(silent, learner, abstain=ABSTAINS)


class AsAdvised(cams.learners.Learner):
    """Names the model with the largest class, and wants a label as much as the first policy trusts the first model."""

    def choose(self, predictions: np.ndarray, advice: np.ndarray, uniforms: np.ndarray) -> Choice:
        return Choice(int(predictions.argmax()), float(advice[0, 0]))

    def learn(self, round_: Round, label: int) -> None:
        pass


def test_a_learner_of_ones_own_is_asked_itself(monkeypatch):
    monkeypatch.setitem(cams.LEARNERS, "as_advised", Entry(AsAdvised))
    selector = cams.Selector(models=["a", "b", "c"], policies=["p"], num_classes=3, learner="as_advised")
    decisions = selector.step_many([[0, 2, 1], [2, 0, 1]], [[[1, 0, 0]], [[0.25, 0.75, 0]]])
    assert [(d.model, d.query_probability) for d in decisions] == [("b", 1), ("a", 0.25)]
    assert decisions[0].query
