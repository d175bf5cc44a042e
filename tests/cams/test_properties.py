"""What must hold for any history, any votes and any advice."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cams
from cams.learners.cams import Cams
from cams.policies import regularize

LIGHT = settings(max_examples=40, deadline=None, derandomize=True)
SETTINGS = {"horizon": 10**6, "budget": 10**5}
NAMES = list(cams.LEARNERS)

seeds = st.integers(0, 2**32 - 1)
rounds = st.integers(1, 10**6)
losses_up_to_a_million = st.lists(st.floats(0, 1e6), min_size=7, max_size=7)


def _make(name: str, *, k: int = 4, n: int = 3, c: int = 3, **changes: Any) -> Any:
    named = {"policy": 0} if cams.LEARNERS[name].needs_hindsight else {}
    return cams.make_learner(name, num_models=k, num_policies=n, num_classes=c, **{**SETTINGS, **named, **changes})


def _weighing() -> list[str]:
    return [name for name in NAMES if isinstance(_make(name), Cams)]


def _instance(seed: int, *, k: int = 4, n: int = 3, c: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    advice = rng.dirichlet(np.full(k, rng.choice([0.05, 1.0, 20.0])), n)
    return rng.integers(0, c, k).astype(np.int32), advice, rng.random(4)


@pytest.mark.parametrize("name", _weighing())
@LIGHT
@given(t=rounds, losses=losses_up_to_a_million, seed=seeds, regularized=st.booleans())
def test_weights_are_a_distribution(name: str, t: int, losses: list[float], seed: int, regularized: bool) -> None:
    learner = _make(name, regularize=regularized)
    learner.t, learner.L = t - 1, np.array(losses[: learner.m])
    votes, advice, draws = _instance(seed)
    decided = learner.decide(votes, advice, draws)
    assert np.isfinite(decided.model_weights).all()
    assert (decided.model_weights >= 0).all()
    assert decided.model_weights.sum() == pytest.approx(1, abs=1e-9)
    assert 0 <= decided.query_probability <= 1
    if decided.query:
        learner.learn(decided, 0)
        assert np.isfinite(learner.L).all()


ENTROPY = "cams cams_max cams_random_policy cams_conventional cams_context_free cams_adversarial oracle"


@pytest.mark.parametrize("name", ENTROPY.split())
@LIGHT
@given(t=rounds, losses=losses_up_to_a_million, seed=seeds)
def test_the_entropy_rule_asks_between_its_floor_and_one(name: str, t: int, losses: list[float], seed: int) -> None:
    learner = _make(name)
    learner.t, learner.L = t - 1, np.array(losses[: learner.m])
    votes, advice, draws = _instance(seed)
    z = learner.decide(votes, advice, draws).query_probability
    if (votes == votes[0]).all():
        assert z == 0
    else:
        assert 1 / np.sqrt(t) <= z <= 1


@pytest.mark.parametrize("name", ["cams_variance", "mp", "qbc", "iwal", "cqbc", "ciwal"])
@LIGHT
@given(t=rounds, seed=seeds, vote=st.integers(0, 2))
def test_no_other_active_rule_asks_where_all_agree(name: str, t: int, seed: int, vote: int) -> None:
    learner = _make(name)
    learner.t = t - 1
    _, advice, draws = _instance(seed)
    assert learner.decide(np.full(4, vote, np.int32), advice, draws).query_probability == 0


@pytest.mark.parametrize("name", ["cams", "cams_variance", "cams_random_query", "cams_adversarial", "mp"])
@LIGHT
@given(t=st.integers(1, 10**4), seed=seeds, label=st.integers(0, 2), regularized=st.booleans())
def test_the_loss_estimate_is_unbiased(name: str, t: int, seed: int, label: int, regularized: bool) -> None:
    """Both outcomes of the coin, weighed by their probabilities, average to the loss of every policy."""
    votes, advice, draws = _instance(seed)
    estimate: Any = 0
    for heads in (True, False):
        learner = _make(name, regularize=regularized)
        learner.t = t - 1
        draws[0] = 0.0 if heads else 1.0
        decided = learner.decide(votes, advice, draws)
        z = decided.query_probability
        if decided.query:
            learner.learn(decided, label)
        estimate = estimate + (z if heads else 1 - z) * learner.L
    wrong = (votes != label).astype(float)
    constants = np.eye(4)
    policies = constants if name == "mp" else np.vstack([advice, constants])
    if regularized and name != "mp":
        policies = regularize(policies)
    asked = z > 0
    np.testing.assert_allclose(estimate, asked * (policies @ wrong), atol=1e-9)


@LIGHT
@given(t=st.integers(1, 10**4), seed=seeds, label=st.integers(0, 2), name=st.sampled_from(["exp3", "exp4"]))
def test_the_bandits_estimate_is_unbiased(t: int, seed: int, label: int, name: str) -> None:
    """Every draw that may happen, weighed by its probability, averages to the loss of every arm."""
    votes, advice, draws = _instance(seed)
    drawn_from = np.full((1, 4), 0.25) if name == "exp3" else advice
    estimate: Any = 0
    for i, w in enumerate(drawn_from):
        for j, middle in enumerate(np.cumsum(w) - w / 2):
            if w[j] < 1e-9:
                continue
            learner = _make(name)
            learner.t, draws[2:] = t - 1, ((i + 0.5) / len(drawn_from), middle)
            decided = learner.decide(votes, advice, draws)
            assert decided.model == j
            learner.learn(decided, label)
            estimate = estimate + w[j] / len(drawn_from) * learner.L
    wrong = (votes != label) * (drawn_from.mean(axis=0) >= 1e-9)
    np.testing.assert_allclose(estimate, (np.eye(4) if name == "exp3" else advice) @ wrong, atol=1e-6)


def _play(name: str, votes: Any, labels: Any, advice: Any, seed: int, **changes: Any) -> tuple[list[int], list[int]]:
    bundle = cams.Bundle(predictions=votes, labels=labels, advice=advice, num_classes=6)
    learner = _make(name, k=bundle.num_models, n=bundle.num_policies, c=6, **changes)
    draws = np.random.default_rng(seed).random((len(votes), 4))
    rounds = [played.decided for played in cams.play(learner, bundle, range(len(votes)), draws, budget=12)]
    return [decided.model for decided in rounds], [int(decided.query) for decided in rounds]


def _history(seed: int, rows: int = 30, k: int = 4, n: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 6, rows)
    votes = np.where(rng.random((rows, k)) < 0.5, labels[:, None], rng.integers(0, 6, (rows, k))).astype(np.int32)
    return votes, labels, rng.dirichlet(np.ones(k), (rows, n))


@pytest.mark.parametrize("name", NAMES)
@settings(LIGHT, max_examples=10)
@given(seed=seeds, renamed=st.permutations(range(6)))
def test_the_names_of_classes_do_not_matter(name: str, seed: int, renamed: list[int]) -> None:
    votes, labels, advice = _history(seed)
    names = np.array(renamed, dtype=np.int32)
    assert _play(name, votes, labels, advice, seed) == _play(name, names[votes], names[labels], advice, seed)


@pytest.mark.parametrize("name", ["cams", "cams_conventional", "cams_nonactive", "cams_variance", "cams_random_query"])
@settings(LIGHT, max_examples=10)
@given(seed=seeds, order=st.permutations(range(4)))
def test_permuting_models_permutes_what_is_named(name: str, seed: int, order: list[int]) -> None:
    """Random advice leaves no ties, so argmax rules name the same models under their new numbers."""
    votes, labels, advice = _history(seed)
    models, bought = _play(name, votes, labels, advice, seed)
    permuted, permuted_bought = _play(name, votes[:, order], labels, advice[:, :, order], seed)
    assert [order[j] for j in permuted] == models
    assert permuted_bought == bought


NAME_A_POLICY = {"cams_max", "cams_random_policy", "cams_adversarial", "oracle", "exp4"}


@pytest.mark.parametrize("name", sorted(set(NAMES) - NAME_A_POLICY))
@settings(LIGHT, max_examples=10)
@given(seed=seeds, order=st.permutations(range(3)))
def test_permuting_policies_changes_nothing(name: str, seed: int, order: list[int]) -> None:
    """Not where a policy is drawn, tied or named by its number."""
    votes, labels, advice = _history(seed)
    assert _play(name, votes, labels, advice, seed) == _play(name, votes, labels, advice[:, order], seed)


@LIGHT
@given(seed=seeds, rate=st.sampled_from([0.3, 1.0, 4.0]))
def test_context_free_cams_is_exponential_weights_over_models(seed: int, rate: float) -> None:
    """The same decisions as a dozen lines that know nothing of policies."""
    votes, labels, advice = _history(seed)
    rng = np.random.default_rng(seed)
    loss, spent, models, bought = np.zeros(4), 0, [], []
    for t, (vote, label) in enumerate(zip(votes, labels, strict=True), start=1):
        coin, tie, _, _ = rng.random(4)
        weights = np.exp(-rate * np.sqrt(np.log(4) / t) * loss)
        w = weights / weights.sum()
        best = np.flatnonzero(np.isclose(w, w.max(), rtol=1e-12, atol=0))
        models.append(int(best[int(tie * len(best))]))
        expected = [1 - w[vote == y].sum() for y in np.unique(vote)]
        entropy = sum(-x * np.log(x) / np.log(6) for x in expected if 0 < x < 1) / 6
        z = 0.0 if len(expected) == 1 else min(1.0, max(1 / np.sqrt(t), entropy))
        query = coin < z and spent < 12
        bought.append(int(query))
        spent += query
        if query:
            loss += (vote != label) / z
    assert _play("cams_context_free", votes, labels, advice, seed, rate=rate) == (models, bought)
    assert _play("cams", votes, labels, advice[:, :0], seed, rate=rate) == (models, bought)  # Pi empty, m = k


@settings(LIGHT, max_examples=15)
@given(
    seed=seeds,
    k=st.integers(1, 5),
    n=st.integers(1, 5),
    c=st.integers(1, 6),
    budgets=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    scaled=st.booleans(),
    regularized=st.booleans(),
)
def test_a_replay_never_exceeds_a_budget(
    seed: int, k: int, n: int, c: int, budgets: list[int], scaled: bool, regularized: bool
) -> None:
    rng = np.random.default_rng(seed)
    bundle = cams.Bundle(
        predictions=rng.integers(0, c, (30, k)),
        labels=rng.integers(0, c, 30),
        advice=rng.dirichlet(np.ones(k), (30, n)),
        num_classes=c,
    )
    result = cams.replay(
        bundle,
        NAMES,
        horizon=30,
        budgets=budgets,
        realizations=2,
        seed=seed,
        scaled=scaled,
        regularize=regularized,
        trace=np.arange(1, 31),
    )
    assert (result.queries <= np.array(budgets)[None, :, None]).all()
    steps = np.diff(result.queries_trace, axis=-1, prepend=0)
    assert ((steps >= 0) & (steps <= 1)).all()
    assert (result.loss <= 30).all()
    assert (result.loss >= 0).all()


@LIGHT
@given(seed=seeds, k=st.integers(1, 9))
def test_regularised_advice_is_a_distribution_that_keeps_its_order(seed: int, k: int) -> None:
    advice = np.random.default_rng(seed).dirichlet(np.full(k, 0.3), 5)
    softened = regularize(advice)
    np.testing.assert_allclose(softened.sum(axis=1), 1, atol=1e-12)
    assert (softened.min(axis=1) >= advice.min(axis=1) - 1e-15).all()
    np.testing.assert_array_equal(softened.argmax(axis=1), advice.argmax(axis=1))
