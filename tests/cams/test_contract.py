"""What every learner promises, asked of every learner in the one list."""

from typing import Any

import numpy as np
import pytest

import cams
from cams.randomness import stream_order, uniforms

NAMES = list(cams.LEARNERS)
HORIZON = 60


@pytest.fixture(scope="module")
def bundle(make_bundle: Any) -> cams.Bundle:
    made: cams.Bundle = make_bundle(rows=HORIZON, k=4, n=3, c=3, seed=4)
    return made


@pytest.fixture(scope="module")
def stream() -> dict[str, Any]:
    return {"rows": stream_order(0, 0, HORIZON, HORIZON), "draws": uniforms(0, 0, HORIZON)}


def test_the_published_learners_are_there_and_come_first() -> None:
    published = (
        "cams cams_max cams_random_policy cams_conventional cams_nonactive cams_variance cams_random_query "
        "cams_context_free cams_adversarial mp rs qbc iwal cqbc ciwal oracle hedge exp3 exp4"
    )
    assert published.split() == NAMES[: len(published.split())]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", [0, 1, 7, 1000])
def test_the_budget_is_never_exceeded(bundle: Any, stream: Any, play_plainly: Any, name: str, budget: int) -> None:
    played = play_plainly(bundle, name, budget=budget, **stream)
    assert sum(played.queries) <= budget
    replayed = cams.replay(bundle, [name], horizon=HORIZON, budgets=[budget], realizations=3, seed=0)
    assert replayed.queries.max() <= budget


@pytest.mark.parametrize("name", NAMES)
def test_no_label_is_read_on_a_round_that_was_not_bought(
    bundle: Any, stream: Any, play_plainly: Any, name: str
) -> None:
    """Labels come from a source that gives each bought one once; the others might as well not exist."""
    reference = play_plainly(bundle, name, budget=9, **stream)
    bought = {int(row) for row, query in zip(stream["rows"], reference.queries, strict=True) if query}

    def sell(row: int) -> int:
        bought.remove(int(row))  # raises for a row that was not bought
        return int(bundle.labels[row])

    played = play_plainly(bundle, name, budget=9, label_of=sell, **stream)
    assert played.models == reference.models
    assert not bought


@pytest.mark.parametrize("name", [name for name in NAMES if not cams.LEARNERS[name].needs_hindsight])
def test_labels_that_were_not_bought_change_no_decision(bundle: Any, stream: Any, play_plainly: Any, name: str) -> None:
    """Replays of two bundles that differ only in labels nobody bought buy the same labels."""
    played = play_plainly(bundle, name, budget=9, **stream)
    hidden = stream["rows"][np.array(played.queries) == 0]
    labels = bundle.labels.copy()
    labels[hidden] = (labels[hidden] + 1) % bundle.num_classes
    other = cams.Bundle(
        predictions=bundle.predictions, labels=labels, advice=bundle.advice, num_classes=bundle.num_classes
    )
    how = {"horizon": HORIZON, "budgets": [9], "realizations": 1, "seed": 0, "trace": np.arange(1, HORIZON + 1)}
    before, after = cams.replay(bundle, [name], **how), cams.replay(other, [name], **how)
    np.testing.assert_array_equal(before.queries_trace, after.queries_trace)
    named = np.array(played.models)
    mistakes = bundle.predictions[stream["rows"], named] != labels[stream["rows"]]
    np.testing.assert_array_equal(after.loss_trace[0, 0, 0], np.cumsum(mistakes))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_learner_restored_at_any_round_goes_on_exactly(
    bundle: Any, stream: Any, play_plainly: Any, name: str, scaled: bool
) -> None:
    reference = play_plainly(bundle, name, budget=20, scaled=scaled, **stream)
    settings = {"policy": reference.learner.policy} if cams.LEARNERS[name].needs_hindsight else {}

    def fresh() -> Any:
        return cams.make_learner(
            name, num_models=4, num_policies=3, num_classes=3, horizon=HORIZON, budget=20, scaled=scaled, **settings
        )

    learner, spent = fresh(), 0
    for step, row in enumerate(stream["rows"]):
        state = learner.state()
        assert all(array.dtype != object for array in state.values())
        learner = fresh()
        learner.restore(state)
        decided = learner.decide(bundle.predictions[row], bundle.advice[row], stream["draws"][step], can_buy=spent < 20)
        assert (decided.model, int(decided.query)) == (reference.models[step], reference.queries[step])
        assert decided.query_probability == reference.probabilities[step]
        if decided.query:
            spent += 1
            learner.learn(decided, int(bundle.labels[row]))


@pytest.mark.parametrize("name", NAMES)
def test_state_is_a_copy_in_both_directions(bundle: Any, stream: Any, play_plainly: Any, name: str) -> None:
    learner = play_plainly(bundle, name, budget=20, **stream).learner
    state = learner.state()
    kept = {key: value.copy() for key, value in state.items()}
    learner.restore(state)
    row = int(stream["rows"][0])
    decided = learner.decide(bundle.predictions[row], bundle.advice[row], np.zeros(4))
    if decided.query:
        learner.learn(decided, (int(bundle.predictions[row, 0]) + 1) % 3)
    for key, value in kept.items():
        np.testing.assert_array_equal(state[key], value)


@pytest.mark.parametrize("regularize", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_weights_stay_a_distribution(bundle: Any, stream: Any, play_plainly: Any, name: str, regularize: bool) -> None:
    learner = play_plainly(bundle, name, budget=HORIZON, regularize=regularize, **stream).learner
    row = int(stream["rows"][0])
    decided = learner.decide(bundle.predictions[row], bundle.advice[row], np.full(4, 0.5))
    assert 0 <= decided.query_probability <= 1
    assert 0 < decided.model_probability <= 1 + 1e-12
    if decided.model_weights.size:  # learners that follow the leader have no weights
        assert (decided.model_weights >= 0).all()
        assert decided.model_weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
def test_deciding_does_not_touch_what_it_is_given(bundle: Any, name: str) -> None:
    settings = {"policy": 0} if cams.LEARNERS[name].needs_hindsight else {}
    learner = cams.make_learner(
        name, num_models=4, num_policies=3, num_classes=3, horizon=9, budget=5, regularize=True, **settings
    )
    votes, advice = bundle.predictions[0].copy(), bundle.advice[0].copy()
    votes.setflags(write=False)
    advice.setflags(write=False)
    decided = learner.decide(votes, advice, np.zeros(4))
    if decided.query:
        learner.learn(decided, 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_late_label_weighs_as_much_as_a_prompt_one(bundle: Any, name: str) -> None:
    """Two labels learnt in the other order end in the same memory: losses only add up."""
    settings = {"policy": 0} if cams.LEARNERS[name].needs_hindsight else {}

    def after(reverse: bool) -> dict[str, Any]:
        learner = cams.make_learner(name, num_models=4, num_policies=3, num_classes=3, horizon=9, budget=9, **settings)
        rounds = [learner.decide(bundle.predictions[i], bundle.advice[i], np.zeros(4)) for i in range(6)]
        bought = [(round_, int(bundle.labels[i])) for i, round_ in enumerate(rounds) if round_.query]
        assert len(bought) > 1
        for round_, label in reversed(bought) if reverse else bought:
            learner.learn(round_, label)
        return learner.state()

    for key, value in after(False).items():
        np.testing.assert_allclose(value, after(True)[key], atol=1e-12)


def test_results_are_identical_for_any_number_of_workers(bundle: Any) -> None:
    how = {"horizon": 50, "budgets": [5, 20], "realizations": 7, "seed": 2, "trace": [10, 30]}
    one, two, three = (cams.replay(bundle, NAMES, n_jobs=jobs, **how) for jobs in (1, 2, 3))
    for other in (two, three):
        for array in ("loss", "queries", "loss_trace", "queries_trace", "model_losses", "policy_losses"):
            np.testing.assert_array_equal(getattr(one, array), getattr(other, array))


def test_results_do_not_depend_on_which_learners_run_or_in_what_order(bundle: Any) -> None:
    how = {"horizon": 50, "budgets": [5, 20], "realizations": 3, "seed": 2}
    together = cams.replay(bundle, NAMES, **how)
    shuffled = [NAMES[i] for i in np.random.default_rng(0).permutation(len(NAMES))]
    permuted = cams.replay(bundle, shuffled, **how)
    for a, name in enumerate(NAMES):
        alone = cams.replay(bundle, [name], **how)
        b = shuffled.index(name)
        for array in ("loss", "queries"):
            np.testing.assert_array_equal(getattr(together, array)[a], getattr(alone, array)[0])
            np.testing.assert_array_equal(getattr(together, array)[a], getattr(permuted, array)[b])


def test_a_realization_does_not_depend_on_how_many_there_are(bundle: Any) -> None:
    how = {"horizon": 50, "budgets": [10], "seed": 2}
    few, many = (cams.replay(bundle, NAMES, realizations=count, **how) for count in (2, 5))
    np.testing.assert_array_equal(few.loss, many.loss[..., :2])
    assert (many.loss[..., 2:] != many.loss[..., :1]).any()


def test_another_seed_is_another_stream(bundle: Any) -> None:
    how = {"horizon": 50, "budgets": [10], "realizations": 3}
    assert (cams.replay(bundle, NAMES, seed=0, **how).loss != cams.replay(bundle, NAMES, seed=1, **how).loss).any()


@pytest.mark.parametrize("name", NAMES)
def test_every_constant_of_a_learner_is_a_setting_with_a_default(bundle: Any, name: str) -> None:
    entry = cams.LEARNERS[name]
    how = {"num_models": 4, "num_policies": 3, "num_classes": 3, "horizon": 9, "budget": 5}
    cams.make_learner(name, **how, **entry.constants)
    for constant, default in entry.constants.items():
        if isinstance(default, float) and cams.make_learner(name, **how).kernel() is not None:
            changed = cams.make_learner(name, **how, **{constant: default * 2 or 1.0})
            assert changed.kernel() != cams.make_learner(name, **how).kernel(), constant
