"""The compiled engine and the one-round learners decide alike: same models, same labels, on every round."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from equal_play import SEED, assert_equal, with_rates_and_priors

import cams
from cams.learners import Choice, Entry, Learner, Problem
from cams.policies import temper
from cams.randomness import stream_order, uniforms


def _bundle(predictions: Any, labels: Any, advice: Any, c: int) -> cams.Bundle:
    return cams.Bundle(predictions=predictions, labels=labels, advice=advice, num_classes=c)


def _all_agree() -> cams.Bundle:
    rng = np.random.default_rng(1)
    votes = np.repeat(rng.integers(0, 3, (50, 1)), 4, axis=1)
    return _bundle(votes, rng.integers(0, 3, 50), rng.dirichlet(np.ones(4), (50, 2)), 3)


def _ties_everywhere() -> cams.Bundle:
    """Flat advice and models that are wrong equally often: every choice is a tie."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 60)
    votes = np.stack([labels ^ (np.arange(60) % 4 == j) for j in range(4)], axis=1)
    return _bundle(votes, labels, np.full((60, 3, 4), 0.25, dtype=np.float32), 2)


def _one_hot_advice() -> cams.Bundle:
    """Advice of zeros and ones, so that policies coincide with constant policies."""
    rng = np.random.default_rng(3)
    advice = np.eye(3, dtype=np.float32)[rng.integers(0, 3, (70, 5))]
    return _bundle(rng.integers(0, 4, (70, 3)), rng.integers(0, 4, 70), advice, 4)


def _near_ties() -> cams.Bundle:
    """Advice that is flat but for the sixth to the fifteenth digit: winners by a hair, and ties by less than one."""
    rng = np.random.default_rng(4)
    hair = 10.0 ** -rng.integers(6, 16, (60, 6, 5))
    advice = 0.2 * (1 + hair * rng.choice([-1, 0, 1], hair.shape))
    advice /= advice.sum(axis=2, keepdims=True)
    return _bundle(rng.integers(0, 5, (60, 5)), rng.integers(0, 5, 60), advice, 5)


DEGENERATE = {
    "one_model": {"k": 1, "n": 2},
    "two_models": {"k": 2, "n": 3},
    "one_policy": {"n": 1},
    "no_policies": {"n": 0},
    "no_policies_two_models": {"n": 0, "k": 2},
    "many_models": {"k": 23, "n": 9, "rows": 60},
    "two_classes": {"c": 2},
    "thousand_classes": {"c": 1000, "skill": 0.5},
    "one_class": {"c": 1},
    "models_never_right": {"skill": 0.0, "c": 6},
}
BUILT = {
    "all_agree": _all_agree,
    "ties_everywhere": _ties_everywhere,
    "one_hot_advice": _one_hot_advice,
    "near_ties": _near_ties,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("regularize", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_on_random_bundles(make_bundle: Any, play_plainly: Any, dtype: Any, regularize: bool, scaled: bool) -> None:
    bundle = make_bundle(dtype=dtype, seed=11)
    how = {"regularize": regularize, "scaled": scaled, "realizations": 2}
    assert_equal(bundle, play_plainly, horizon=80, budgets=[3, 25], **how)


@pytest.mark.parametrize("case", [*DEGENERATE, *BUILT])
def test_on_degenerate_bundles(make_bundle: Any, play_plainly: Any, case: str) -> None:
    bundle = BUILT[case]() if case in BUILT else make_bundle(**{"rows": 60, **DEGENERATE[case]})
    assert_equal(bundle, play_plainly, horizon=40, budgets=[0, 6, 100])


@pytest.mark.parametrize("case", ["two_models", "no_policies", "one_model", "ties_everywhere", "one_hot_advice"])
def test_on_degenerate_bundles_regularised_and_scaled(make_bundle: Any, play_plainly: Any, case: str) -> None:
    bundle = BUILT[case]() if case in BUILT else make_bundle(**{"rows": 60, **DEGENERATE[case]})
    assert_equal(bundle, play_plainly, horizon=40, budgets=[6], regularize=True, scaled=True)


@pytest.mark.parametrize("horizon", [1, 2, 9, 10])
def test_on_streams_too_short_to_learn_from(make_bundle: Any, play_plainly: Any, horizon: int) -> None:
    assert_equal(make_bundle(), play_plainly, horizon=horizon, budgets=[0, 1, 50], scaled=horizon > 2)


def test_budgets_at_both_ends(make_bundle: Any, play_plainly: Any) -> None:
    assert_equal(make_bundle(rows=50), play_plainly, horizon=50, budgets=[0, 1, 49, 50, 51, 1000])


@pytest.mark.parametrize("scaled", [False, True])
def test_budgets_unsorted_and_repeated(make_bundle: Any, play_plainly: Any, scaled: bool) -> None:
    assert_equal(make_bundle(rows=60), play_plainly, horizon=60, budgets=[50, 10, 10, 0, 20], scaled=scaled)


def test_every_budget_of_a_curve_equals_that_budget_alone(make_bundle: Any) -> None:
    bundle, budgets = make_bundle(seed=5), [0, 1, 2, 5, 9, 14, 20, 40, 80]
    settings = {"horizon": 90, "realizations": 3, "seed": 1, "trace": [10, 60]}
    curve = cams.replay(bundle, list(cams.LEARNERS), budgets=budgets, **settings)
    for b, budget in enumerate(budgets):
        alone = cams.replay(bundle, list(cams.LEARNERS), budgets=[budget], **settings)
        np.testing.assert_array_equal(curve.loss[:, b], alone.loss[:, 0])
        np.testing.assert_array_equal(curve.queries[:, b], alone.queries[:, 0])
        np.testing.assert_array_equal(curve.loss_trace[:, b], alone.loss_trace[:, 0])


@pytest.mark.parametrize("advice", ["random", "sharp", "flat"])
def test_a_curve_long_enough_for_spent_budgets_to_matter(make_bundle: Any, play_plainly: Any, advice: str) -> None:
    """Spent budgets interpolate between rates and round: no decision may show it."""
    bundle = make_bundle(rows=400, k=18, n=7, c=4, skill=0.6, seed=8)
    if advice != "random":
        tempered = temper(bundle.advice.astype(np.float64), 20.0 if advice == "sharp" else 1e-6)
        bundle = _bundle(bundle.predictions, bundle.labels, tempered.astype(np.float32), 4)
    assert_equal(bundle, play_plainly, horizon=400, budgets=[0, 2, 5, 12, 40, 90, 200])


@pytest.mark.parametrize("case", ["random", "no_policies", "two_models", *BUILT])
@pytest.mark.parametrize("regularize", [False, True])
def test_every_rate_rule_and_prior(make_bundle: Any, play_plainly: Any, case: str, regularize: bool) -> None:
    bundle = BUILT[case]() if case in BUILT else make_bundle(**{"rows": 60, "seed": 6, **DEGENERATE.get(case, {})})
    horizon = min(50, bundle.num_rows)
    learners = with_rates_and_priors(bundle)
    assert_equal(bundle, play_plainly, horizon=horizon, budgets=[0, 5, 100], learners=learners, regularize=regularize)


def test_rate_rules_and_priors_on_a_curve(make_bundle: Any, play_plainly: Any) -> None:
    """With enough models for tiles, and enough spent budgets for a group of four and more."""
    bundle = make_bundle(rows=200, k=18, n=7, c=4, seed=8)
    learners = [each for each in with_rates_and_priors(bundle) if each["name"] in ("cams", "cqbc", "mp", "exp4")]
    assert_equal(bundle, play_plainly, horizon=200, budgets=[0, 2, 5, 9, 14, 40, 90], learners=learners)


def test_rate_rules_and_priors_with_scaled_queries(make_bundle: Any, play_plainly: Any) -> None:
    bundle = make_bundle(rows=80)
    assert_equal(bundle, play_plainly, horizon=80, budgets=[6, 30], learners=with_rates_and_priors(bundle), scaled=True)


def test_a_long_stream_with_sharp_weights(make_bundle: Any, play_plainly: Any) -> None:
    """Weights fall below what a double resolves beside 1, and the two must still agree."""
    bundle = make_bundle(rows=1200, k=5, n=6, c=4, skill=0.8, seed=9)
    rows, draws = stream_order(SEED, 0, 1200, 1200), uniforms(SEED, 0, 1200)
    for name in ("cams", "cams_variance", "cams_nonactive", "cams_adversarial", "mp", "exp4"):
        learner = {"name": name, "rate": 10.0}
        result = cams.replay(bundle, [learner], horizon=1200, budgets=[400], realizations=1, seed=SEED)
        played = play_plainly(bundle, name, budget=400, rows=rows, draws=draws, rate=10.0)
        assert result.queries[0, 0, 0] == sum(played.queries), name
        assert result.loss[0, 0, 0] == sum(played.mistakes), name


@pytest.mark.parametrize("name", ["mp", "cams_variance"])
@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_the_variance_rule_where_weights_underflow(make_bundle: Any, play_plainly: Any, name: str, rate: float) -> None:
    """Whether two classes have mass may not depend on how the rest adds up to 1."""
    for seed in range(6):
        bundle = make_bundle(rows=300, k=5, n=3, c=3, seed=seed)
        result = cams.replay(bundle, [(name, {"rate": rate})], horizon=300, budgets=[300], realizations=1, seed=SEED)
        order, draws = stream_order(SEED, 0, 300, 300), uniforms(SEED, 0, 300)
        played = play_plainly(bundle, name, budget=300, rows=order, draws=draws, rate=rate)
        assert result.queries.item() == sum(played.queries), seed
        assert result.loss.item() == sum(played.mistakes), seed


@pytest.mark.parametrize("rate", [20.0, 50.0])
def test_a_class_with_almost_no_mass_still_has_some(play_plainly: Any, rate: float) -> None:
    """Model Picker's rule asks whether v > 0: the engine may not round a weight of 1e-40 to nothing."""
    rows = 1000
    bundle = cams.Bundle(
        predictions=np.tile([0, 1], (rows, 1)),
        labels=np.zeros(rows, dtype=int),
        advice=np.tile([0.9, 0.1], (rows, 4, 1)),
    )
    learner = {"name": "cams_variance", "rate": rate}
    result = cams.replay(bundle, [learner], horizon=rows, budgets=[rows], realizations=1, seed=SEED)
    order, draws = stream_order(SEED, 0, rows, rows), uniforms(SEED, 0, rows)
    played = play_plainly(bundle, "cams_variance", budget=rows, rows=order, draws=draws, rate=rate)
    assert result.queries.item() == sum(played.queries)


class _Contrarian(Learner):
    """Names the last model and buys a label whenever the first two differ, so that nothing compiled fits it."""

    state_names = ("seen",)

    def __init__(self, problem: Problem, *, step: int = 1) -> None:
        super().__init__(problem)
        self.step, self.seen = step, 0

    def choose(self, predictions: Any, advice: Any, draws: Any) -> Choice:
        return Choice((self.seen * self.step) % self.problem.num_models, float(predictions[0] != predictions[1]))

    def learn(self, round_: Any, label: int) -> None:
        self.seen += 1


def test_a_learner_without_a_compiled_twin(
    make_bundle: Any, play_plainly: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cams.LEARNERS, "contrarian", Entry(_Contrarian, constants={"step": 1}))
    bundle = make_bundle(rows=60)
    result = cams.replay(
        bundle,
        ["cams", ("contrarian", {"step": 3})],
        horizon=50,
        budgets=[20, 4],
        realizations=2,
        seed=SEED,
        trace=[7, 50],
        n_jobs=2,
    )
    for r in range(2):
        rows, draws = stream_order(SEED, r, 60, 50), uniforms(SEED, r, 50)
        for b, budget in enumerate([20, 4]):
            played = play_plainly(bundle, "contrarian", budget=budget, rows=rows, draws=draws, step=3)
            assert result.loss[1, b, r] == sum(played.mistakes)
            assert result.queries[1, b, r] == sum(played.queries)
            np.testing.assert_array_equal(result.loss_trace[1, b, r], np.cumsum(played.mistakes)[[6, 49]])


@pytest.mark.parametrize("name", list(cams.LEARNERS))
def test_the_engine_without_the_kernel_gives_the_same(
    make_bundle: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow path inside `replay` itself, forced for every learner, equals the compiled one."""
    bundle = make_bundle(rows=50)
    how = {"horizon": 50, "budgets": [5, 30], "realizations": 2, "seed": 3, "trace": [20]}
    compiled = cams.replay(bundle, [name], **how)
    entry = cams.LEARNERS[name]

    class WithoutTwin(entry.factory):  # type: ignore[misc, name-defined]
        def kernel(self) -> None:
            return None

    monkeypatch.setitem(cams.LEARNERS, name, replace(entry, factory=WithoutTwin))
    slow = cams.replay(bundle, [name], **how)
    np.testing.assert_array_equal(slow.loss, compiled.loss)
    np.testing.assert_array_equal(slow.queries_trace, compiled.queries_trace)
