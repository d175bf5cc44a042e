"""Replays: what they refuse, the orders they follow, and the numbers they hand back."""

from typing import Any

import numpy as np
import pytest

import cams
from cams import realizations
from cams.outcome import confidence_band
from cams.randomness import stream_order, uniforms

HOW: dict[str, Any] = {"horizon": 20, "budgets": [5], "realizations": 2, "seed": 0}


@pytest.fixture(scope="module")
def bundle(make_bundle: Any) -> cams.Bundle:
    made: cams.Bundle = make_bundle(rows=50)
    return made


REFUSED = {
    "horizon is 51, but the bundle has only 50 rows": {"horizon": 51},
    "horizon is 0, expected a whole number of at least 1": {"horizon": 0},
    "realizations is 0, expected a whole number of at least 1": {"realizations": 0},
    "seed is -1, expected a whole number of at least 0": {"seed": -1},
    "first_realization is -1, expected a whole number of at least 0": {"first_realization": -1},
    "budget -3 is negative": {"budgets": [5, -3]},
    "budgets is empty, expected at least one": {"budgets": []},
    "budgets[0] is 0.5, expected a whole number": {"budgets": [0.5]},
    "budgets has 0 dimension(s), expected 1": {"budgets": 7},
    "there is no learner 'camz'; did you mean 'cams'?": {"learners": ["camz"]},
    "there is no learner 'exp_4'; did you mean 'exp4'?": {"learners": ["cams", "exp_4"]},
    "there is no learner 'zzz'": {"learners": ["zzz"]},
    "there is no learner to replay": {"learners": []},
    "learner 'cams' has no setting 'rat' (it has: rate, rate_rule, prior, fade, votes, floor); did you mean 'rate'?": {
        "learners": [("cams", {"rat": 2.0})]
    },
    "learner 'rs' has no setting 'delta' (it has: none)": {"learners": [("rs", {"delta": 0.1})]},
    "learner 'cams' has no setting 'policy' (it has: rate, rate_rule, prior, fade, votes, floor)": {
        "learners": [("cams", {"policy": 0})]
    },
    "learner 'cams' is listed twice; give each a label of its own": {"learners": ["cams", "mp", "cams"]},
    "learner {'rate': 2.0} has no name": {"learners": [{"rate": 2.0}]},
    "learner 'cams_adversarial': rho is 'none', expected 'proof' or 'label'": {
        "learners": [("cams_adversarial", {"rho": "none"})]
    },
    "learner 'qbc': query rule 'entropy' needs weights over models, and following the leader has none": {
        "learners": [("qbc", {"query": "entropy"})]
    },
    "learner 'iwal': query rule 'vote_entropy' has no setting 'delta'": {
        "learners": [("iwal", {"query": "vote_entropy"})]
    },
    "learner 'cams_variance': there is no query rule 'varience'; did you mean 'variance'?": {
        "learners": [("cams_variance", {"query": "varience"})]
    },
    "learner 'cams': rate is -1, expected a number from 0 to 1e+06": {"learners": [("cams", {"rate": -1})]},
    "learner 'mp': rate is nan, expected a number from 0 to 1e+06": {"learners": [("mp", {"rate": float("nan")})]},
    "learner 'cqbc': rate is '2', expected a number": {"learners": [("cqbc", {"rate": "2"})]},
    "learner 'cams': floor is -0.5, expected a number of at least 0": {"learners": [("cams", {"floor": -0.5})]},
    "learner 'iwal': delta is 0, expected a number from 1e-12 to 1": {"learners": [("iwal", {"delta": 0})]},
    "learner 'ciwal': slack is -8, expected a number of at least 0": {"learners": [("ciwal", {"slack": -8})]},
    "learner 'oracle': a replay finds the best policy itself": {"learners": [("oracle", {"policy": 1})]},
    "regularize is 'no', expected true or false": {"regularize": "no"},
    "scaled is 1, expected true or false": {"scaled": 1},
    "learners must be a list, such as ['cams']": {"learners": "cams"},
    "order has shape (20,), expected (2, 20)": {"order": np.arange(20)},
    "order names rows outside 0..49": {"order": np.full((2, 20), 50)},
    "order has type float64, expected row numbers": {"order": np.zeros((2, 20))},
    "trace must list rounds between 1 and 20 in ascending order": {"trace": [0, 5]},
    "trace must list rounds between 1 and 20 in ascending order ": {"trace": [5, 21]},
    "trace must list rounds between 1 and 20 in ascending order  ": {"trace": [5, 5]},
    "trace must list rounds between 1 and 20 in ascending order   ": {"trace": [21]},
    "trace must list rounds between 1 and 20 in ascending order    ": {"trace": [5, 6, 21]},
    "trace[0] is 1.5, expected a whole number": {"trace": [1.5]},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused_and_in_what_words(bundle: Any, message: str) -> None:
    with pytest.raises(cams.InputError) as caught:
        cams.replay(bundle, **{"learners": ["cams"], **HOW, **REFUSED[message]})
    assert str(caught.value) == message.rstrip()


def test_the_name_of_a_file_is_not_a_bundle() -> None:
    with pytest.raises(cams.InputError, match=r"expected a Bundle, not str; cams.Bundle.load reads one"):
        cams.replay("mine.npz", ["cams"], **HOW)


def test_a_bundle_without_labels_cannot_be_replayed(bundle: Any) -> None:
    unlabelled = cams.Bundle(predictions=bundle.predictions, advice=bundle.advice)
    with pytest.raises(cams.InputError, match=r"^a bundle without labels cannot be replayed$"):
        cams.replay(unlabelled, ["cams"], **HOW)


@pytest.mark.parametrize("name", ["cams_conventional", "exp4"])
def test_learners_over_policies_alone_refuse_a_bundle_without_any(bundle: Any, name: str) -> None:
    message = f"learner '{name}': a learner over policies alone needs at least one policy, and there is none"
    with pytest.raises(cams.InputError) as caught:
        cams.replay(bundle.without_policies(), ["cams", name], **HOW)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["cqbc", "ciwal"])
def test_contextual_leaders_play_without_policies(bundle: Any, name: str) -> None:
    """By r alone: the most often right on bought labels, which is who has erred least."""
    result = cams.replay(bundle.without_policies(), [name, name[1:]], **HOW)
    np.testing.assert_array_equal(*result.loss)
    np.testing.assert_array_equal(*result.queries)


@pytest.mark.parametrize("name", ["rs", "cams_random_query", "cams_adversarial"])
def test_rules_that_need_a_horizon_say_so(name: str) -> None:
    with pytest.raises(cams.InputError, match=f"learner '{name}': .* needs a horizon"):
        cams.make_learner(name, num_models=2, num_policies=1, num_classes=2, budget=5)


# ---- learners and their labels ----


def test_a_learner_may_be_a_name_a_pair_or_a_mapping(bundle: Any) -> None:
    result = cams.replay(bundle, ["cams", ("mp", {"rate": 2.0}), {"name": "cams", "label": "slow", "rate": 0.1}], **HOW)
    assert result.learners == ["cams", "mp", "slow"]


def test_settings_reach_the_learner(bundle: Any) -> None:
    how = {**HOW, "horizon": 50, "budgets": [50], "realizations": 5}
    result = cams.replay(bundle, ["cams", {"name": "cams", "label": "eager", "floor": 50.0}], **how)
    disagreements = [
        (bundle.predictions[rows] != bundle.predictions[rows, :1]).any(axis=1).sum()
        for rows in (stream_order(0, r, 50, 50) for r in range(5))
    ]
    np.testing.assert_array_equal(result.queries[1, 0], disagreements)  # floor 50/sqrt(t) > 1 on every round
    assert (result.queries[0] < result.queries[1]).all()


# ---- streams ----


def test_a_realization_draws_rows_without_replacement() -> None:
    rows = stream_order(3, 1, 50, 20)
    assert len(set(rows)) == len(rows) == 20
    assert set(stream_order(3, 1, 50, 50)) == set(range(50))
    assert stream_order(3, 2, 50, 20).tolist() != rows.tolist()
    draws = uniforms(3, 1, 20)
    assert draws.shape == (20, 4)
    assert ((draws >= 0) & (draws < 1)).all()


def test_an_order_of_ones_own_is_followed(bundle: Any) -> None:
    order = np.array([np.arange(30), np.arange(30)[::-1], np.zeros(30, int)])
    result = cams.replay(bundle, ["cams"], horizon=30, budgets=[4], realizations=3, seed=0, order=order, trace=[1, 30])
    wrong = bundle.predictions != bundle.labels[:, None]
    np.testing.assert_array_equal(result.model_losses, [wrong[rows].sum(axis=0) for rows in order])
    np.testing.assert_array_equal(result.model_loss_trace[:, 0], wrong[order[:, 0]])


def test_an_order_may_be_longer_than_the_pool(bundle: Any) -> None:
    order = np.tile(np.arange(50), (1, 3))
    result = cams.replay(bundle, ["mp"], horizon=150, budgets=[10], realizations=1, seed=0, order=order)
    assert result.model_losses.sum() == 3 * (bundle.predictions != bundle.labels[:, None]).sum()


def test_the_own_order_of_a_seed_given_back_changes_nothing(bundle: Any) -> None:
    order = np.array([stream_order(0, r, 50, 20) for r in range(2)])
    drawn, given = (cams.replay(bundle, list(cams.LEARNERS), **HOW, order=each) for each in (None, order))
    np.testing.assert_array_equal(drawn.loss, given.loss)


# ---- results ----


def test_models_and_policies_in_hindsight() -> None:
    # Row 0: model 0 right. Row 1: model 1 right. Policy 0 follows model 0, then 1; policy 1 the other way round.
    bundle = cams.Bundle(
        predictions=[[0, 1], [0, 1]],
        labels=[0, 1],
        advice=[[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.6, 0.4]]],
    )
    order = np.array([[0, 1, 1]])
    result = cams.replay(
        bundle, ["oracle"], horizon=3, budgets=[3], realizations=1, seed=0, order=order, trace=[1, 2, 3]
    )
    np.testing.assert_array_equal(result.model_loss_trace[0], [[0, 1], [1, 1], [2, 1]])
    np.testing.assert_array_equal(result.policy_loss_trace[0], [[0, 1], [0, 2], [0, 3]])
    np.testing.assert_array_equal(result.model_losses, [[2, 1]])
    np.testing.assert_array_equal(result.policy_losses, [[0, 3]])
    assert result.loss.item() == 0  # the oracle follows policy 0
    # The best classifier of the whole stream is model 1, which lost 1, 1, 1 by rounds 1, 2, 3.
    np.testing.assert_array_equal(result.relative_loss_trace[0, 0, 0], [-1, -1, -1])


def test_the_oracle_loses_what_the_best_of_all_policies_loses(bundle: Any) -> None:
    result = cams.replay(bundle, ["oracle"], horizon=50, budgets=[0, 50], realizations=4, seed=0)
    best = np.concatenate([result.policy_losses, result.model_losses], axis=1).min(axis=1)
    np.testing.assert_array_equal(result.loss[0], [best, best])


def test_shapes_and_a_trace_that_ends_where_the_totals_are(bundle: Any) -> None:
    result = cams.replay(
        bundle,
        ["cams", "rs"],
        horizon=20,
        budgets=np.array([2, 9, 4], np.uint8),
        realizations=5,
        seed=0,
        trace=[3, 11, 20],
    )
    assert result.loss.shape == result.queries.shape == (2, 3, 5)
    assert result.loss_trace.shape == result.queries_trace.shape == result.relative_loss_trace.shape == (2, 3, 5, 3)
    assert result.model_loss_trace.shape == (5, 3, 4)
    assert result.policy_loss_trace.shape == (5, 3, 3)
    np.testing.assert_array_equal(result.loss_trace[..., -1], result.loss)
    np.testing.assert_array_equal(result.queries_trace[..., -1], result.queries)
    assert result.budgets.dtype == np.int64
    assert result.budgets.tolist() == [2, 9, 4]
    assert result.trace.tolist() == [3, 11, 20]


def test_recording_a_trace_changes_no_result(bundle: Any) -> None:
    names = list(cams.LEARNERS)
    plain = cams.replay(bundle, names, **HOW)
    traced = cams.replay(bundle, names, **HOW, trace=[1, 2, 19])
    assert plain.loss_trace.shape[-1] == 0
    np.testing.assert_array_equal(plain.loss, traced.loss)
    np.testing.assert_array_equal(plain.model_losses, traced.model_losses)


def test_summary(bundle: Any) -> None:
    result = cams.replay(bundle, ["cams", "rs"], horizon=20, budgets=[9, 2], realizations=3, seed=0)
    frame = result.summary()
    columns = ["learner", "budget", "loss_mean", "loss_low", "loss_high", "queries_mean", "queries_max"]
    assert frame.columns.tolist() == columns
    assert frame["learner"].tolist() == ["cams", "cams", "rs", "rs", "best_model", "best_policy"]
    assert frame["budget"].tolist() == [9, 2, 9, 2, 0, 0]
    losses = result.loss[1, 0]
    # Student's t with 2 degrees of freedom at 95 %: 2.919986.
    half = 2.919986 * losses.std(ddof=1) / np.sqrt(3)
    row = frame.iloc[2]
    assert row["loss_mean"] == pytest.approx(losses.mean())
    assert (row["loss_low"], row["loss_high"]) == pytest.approx((losses.mean() - half, losses.mean() + half))
    assert row["queries_mean"] == pytest.approx(result.queries[1, 0].mean())
    assert row["queries_max"] == result.queries[1, 0].max()


def test_confidence_band_by_hand() -> None:
    # Values 1, 2, 6: mean 3, standard deviation sqrt((4 + 1 + 9)/2) = 2.645751, over sqrt(3) = 1.527525;
    # times 2.919986 = 4.460352.
    low, high = confidence_band(np.array([[1, 2, 6], [5, 5, 5]]))
    np.testing.assert_allclose(low, [-1.460352, 5], atol=1e-5)
    np.testing.assert_allclose(high, [7.460352, 5], atol=1e-5)
    np.testing.assert_array_equal(confidence_band(np.array([[4.0]])), [[4.0], [4.0]])


def test_a_replay_leaves_the_bundle_as_it_was(bundle: Any) -> None:
    before = bundle.advice.copy()
    cams.replay(bundle, list(cams.LEARNERS), **HOW, regularize=True)
    np.testing.assert_array_equal(bundle.advice, before)


def test_a_bundle_may_have_as_many_classes_as_a_replay_can_have(bundle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    how = {"horizon": 5, "budgets": [1], "realizations": 1, "seed": 0}
    monkeypatch.setattr(realizations, "MOST_CLASSES", bundle.num_classes)
    assert cams.replay(bundle, ["rs"], **how).queries.max() <= 1
    monkeypatch.setattr(realizations, "MOST_CLASSES", bundle.num_classes - 1)
    with pytest.raises(cams.InputError, match=r"classes, a replay can have \d+$"):
        cams.replay(bundle, ["rs"], **how)


def test_parts_of_a_replay_join_to_the_whole(bundle: Any) -> None:
    whole = cams.replay(bundle, ["cams", "oracle"], horizon=30, budgets=[5, 20], realizations=5, seed=1, trace=[10])
    parts = [
        cams.replay(
            bundle, ["cams", "oracle"], horizon=30, budgets=[5, 20], realizations=count, seed=1, trace=[10],
            first_realization=first,
        )
        for first, count in ((0, 2), (2, 1), (3, 2))
    ]  # fmt: skip
    joined = cams.Replay.joined(parts)
    assert joined.to_frame().equals(whole.to_frame())
    assert joined.summary().equals(whole.summary())
