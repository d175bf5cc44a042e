"""Every learner for a few rounds, replayed and online, decides as the readable one: a moment each, compiled or not."""

from typing import Any

import numpy as np
import pytest
from equal_play import assert_equal, every_learner, with_rates_and_priors

import cams
from cams.engine.kernel import new_game, play_rounds
from cams.engine.state import Game, Stream
from cams.randomness import uniforms

ROUNDS = 20
SEED = 3
GAPS = (False, True)


def _bundle(gaps: bool, n: int = 3, c: int = 3, skill: float = 0.5) -> cams.Bundle:
    rng, k = np.random.default_rng(c), 4
    labels = rng.integers(0, c, ROUNDS)
    votes = np.where(rng.random((ROUNDS, k)) < skill, labels[:, None], rng.integers(0, c, (ROUNDS, k)))
    votes[::5] = votes[::5, :1]  # all agree
    if gaps:
        votes[rng.random((ROUNDS, k)) < 0.3] = -1
        votes[:, 0] = np.where((votes < 0).all(axis=1), labels, votes[:, 0])
    advice = rng.dirichlet(np.full(k, 0.5), (ROUNDS, n)).astype(np.float32)
    return cams.Bundle(
        predictions=votes, labels=labels, advice=advice, num_classes=c, abstain=-1 if gaps else None
    )  # fmt: skip


BUNDLES = {gaps: _bundle(gaps) for gaps in GAPS}
EXTREME = [
    {"name": "cams_variance", "label": "so sharp that one class has all mass", "rate": 1e6},
    {"name": "cams", "label": "so sharp that no entropy is left", "rate": 1e6},
    {"name": "cams", "label": "a faint prior", "prior": 0.5},
    {"name": "cams_max", "label": "hardly a floor", "floor": 0.001},
]
WITH_RATES_AND_PRIORS = [
    each for each in with_rates_and_priors(BUNDLES[False]) if each["name"] in ("cams", "cqbc", "exp4")
]
LEARNERS = [
    each if isinstance(each, dict) else {"name": each, "label": each}
    for each in [*every_learner(BUNDLES[False]), *WITH_RATES_AND_PRIORS, *EXTREME]
]
ONLINE = [each for each in LEARNERS if not cams.LEARNERS[each["name"]].needs_hindsight]


def _label(learner: dict[str, Any]) -> str:
    return str(learner["label"])


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("learner", LEARNERS, ids=_label)
def test_replayed(learner: dict[str, Any], gaps: bool, play_plainly: Any) -> None:
    assert_equal(BUNDLES[gaps], play_plainly, horizon=ROUNDS, budgets=[0, 3, 8], learners=[learner])


def _memory(game: Game) -> dict[str, Any]:
    """What the compiled twin remembers of the live path, by the readable learners' names."""
    state, consensus = game.state, game.consensus
    return {
        "L": state.policy_losses[0],
        "policy_loss": state.policy_losses[0],
        "errors": state.errors[0],
        "rewards": state.rewards[0],
        "largest_mass": state.largest_mass[0],
        "V": state.evidence[0],
        "labels": state.labels[0],
        "model_losses": state.model_losses,
        "alive": state.alive,
        "rounds": consensus.rounds[0],
        "oddness": consensus.oddness,
        "agreements": consensus.agreements,
    }


def _settings(learner: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in learner.items() if key not in ("name", "label")}


def _kept_compiled(readable: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Return a learner's state but for a mass that its rate does not look at, and agreements that nobody counts."""
    left_out = {"largest_mass"} if settings.get("rate_rule") == "evidence" else set()
    left_out |= {"agreements"} if settings.get("votes") == "plain" else set()
    return {name: value for name, value in readable.state().items() if name not in left_out}


def _remember_alike(bundle: cams.Bundle, learner: dict[str, Any], gaps: bool, budget: int = ROUNDS) -> None:
    settings, draws = _settings(learner), uniforms(SEED, 0, ROUNDS)
    shared = {"num_classes": bundle.num_classes, "horizon": ROUNDS, "budget": budget, **settings}
    readable = cams.make_learner(learner["name"], num_models=4, num_policies=3, **shared)
    list(cams.play(readable, bundle, range(ROUNDS), draws, budget=budget))
    # Copies may be written to, as what replay hands over: read-only arrays would be compiled for anew.
    arrays = (np.arange(ROUNDS), bundle.predictions.copy(), bundle.labels.copy(), bundle.advice.copy(), draws)
    game = new_game(readable.kernel(), Stream(*arrays, bundle.num_classes, 1.0, 0.0, gaps=gaps), 1)
    traces = np.zeros((2, 1, 1), dtype=np.int64)
    for first, last in ((0, 7), (7, ROUNDS)):
        play_rounds(game, np.array([budget]), np.array([ROUNDS]), traces[0], traces[1], first, last)
    assert game.progress[2] == 0, "the budget is spent, and its slot no longer the live one"
    remembered = _memory(game)
    for name, value in _kept_compiled(readable, settings).items():
        if name not in ("t", "early_labels"):
            np.testing.assert_allclose(remembered[name], value, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("learner", ONLINE, ids=_label)
def test_remembered(learner: dict[str, Any], gaps: bool) -> None:
    _remember_alike(BUNDLES[gaps], learner, gaps)


@pytest.mark.parametrize("rho", ["proof", "label"])
def test_remembered_of_two_classes(rho: str) -> None:
    _remember_alike(_bundle(False, c=2, skill=0.1), {"name": "cams_adversarial", "rho": rho}, False)


@pytest.mark.parametrize("query", ["entropy", "always"])
def test_remembered_of_a_budget_spread_out(query: str) -> None:
    _remember_alike(BUNDLES[False], {"name": "cams_variance", "query": query, "scaled": True}, False, ROUNDS - 4)


@pytest.mark.parametrize("learner", ["cams", "cams_adversarial", "exp4", "cqbc", "qbc"])
def test_replayed_with_more_classes_than_models(learner: str, play_plainly: Any) -> None:
    assert_equal(_bundle(False, c=30), play_plainly, horizon=ROUNDS, budgets=[2, 20], learners=[learner])


@pytest.mark.parametrize("learner", ["cams", "cams_max", "mp", "cqbc", "ciwal"])
def test_replayed_without_policies(learner: str, play_plainly: Any) -> None:
    assert_equal(_bundle(False, n=0), play_plainly, horizon=ROUNDS, budgets=[0, 2, 5, 20], learners=[learner])


@pytest.mark.parametrize("learner", ["cams", "cams_max", "mp", "exp4", "iwal", "ciwal"])
def test_replayed_with_softened_policies_and_a_budget_spread_out(learner: str, play_plainly: Any) -> None:
    how = {"regularize": True, "scaled": True, "learners": [learner]}
    assert_equal(BUNDLES[False], play_plainly, horizon=ROUNDS, budgets=[5, 12], **how)


def _decide_alike(bundle: cams.Bundle, learner: dict[str, Any], abstain: int | None) -> None:
    settings = _settings(learner)
    shared = {"num_classes": bundle.num_classes, "horizon": ROUNDS, "budget": 8, **settings}
    sizes = {"num_models": bundle.num_models, "num_policies": bundle.num_policies}
    readable = cams.make_learner(learner["name"], **sizes, **shared)
    names = {"models": bundle.model_names, "policies": bundle.policy_names, "abstain": abstain}
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
    for name, value in _kept_compiled(readable, settings).items():
        np.testing.assert_allclose(selector._learner.state()[name], value, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("learner", ONLINE, ids=_label)
def test_online(learner: dict[str, Any], gaps: bool) -> None:
    _decide_alike(BUNDLES[gaps], learner, -1 if gaps else None)


@pytest.mark.parametrize("size", [{"n": 1}, {"c": 30}], ids=str)
@pytest.mark.parametrize("learner", ["cams_adversarial", "cqbc"])
def test_online_with_one_policy_or_many_classes(learner: str, size: dict[str, int]) -> None:
    _decide_alike(_bundle(False, **size), {"name": learner}, None)
