"""Looking into a selector: weights, the leader, the last rounds, and batches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import cams
from cams import InputError, Selector

ONLINE = [name for name in cams.LEARNERS if not cams.LEARNERS[name].needs_hindsight]
MODELS, POLICIES = ["a", "b", "c"], ["p", "q"]
K, N, C, T = 3, 2, 3, 60


def make(learner: str = "cams", **options) -> Selector:
    return Selector(
        **{"models": MODELS, "policies": POLICIES, "num_classes": C, "budget": 30, "horizon": T, "seed": 1, **options},
        learner=learner,
    )


@pytest.fixture(scope="module")
def stream(make_bundle) -> cams.Bundle:
    return make_bundle(rows=T, k=K, n=N, c=C, dtype=np.float64)


def run(selector: Selector, stream: cams.Bundle, rows: range = range(T)) -> list[cams.Decision]:
    decisions = []
    for row in rows:
        decisions.append(selector.step(stream.predictions[row], stream.advice[row]))
        if decisions[-1].query:
            selector.label(decisions[-1].ticket, int(stream.labels[row]))
    return decisions


@pytest.mark.parametrize("learner", ONLINE)
def test_weights_are_a_distribution_over_names(learner, stream):
    selector = make(learner)
    fresh = selector.weights
    assert len(set(fresh.values())) == 1
    assert selector.trusted is None
    run(selector, stream)
    weights = selector.weights
    assert sum(weights.values()) == pytest.approx(1)
    assert set(weights) <= {*MODELS, *POLICIES}
    assert list(weights) == list(fresh)
    assert weights[selector.trusted] == max(weights.values())


def test_weights_are_those_of_the_paper(stream):
    """q_i ~ exp(-eta_t L_i), eta_t = sqrt(ln m / t), on losses worked out by hand."""
    selector = make("cams_nonactive")
    advice = np.array([[1, 0, 0], [0.5, 0.5, 0]])
    selector.label(selector.step([0, 1, 1], advice).ticket, 0)
    losses = np.array([0, 0.5, 0, 1, 1])  # two policies, then the models themselves
    expected = np.exp(-np.sqrt(np.log(5)) * losses)
    np.testing.assert_allclose(list(selector.weights.values()), expected / expected.sum())
    assert list(selector.weights) == ["p", "q", "a", "b", "c"]
    assert selector.trusted == "p"


def test_learners_weigh_what_they_know_of():
    assert list(make("mp").weights) == MODELS
    assert list(make("cams_conventional").weights) == POLICIES
    assert list(make("cqbc").weights) == POLICIES
    assert list(make("cqbc", policies=[]).weights) == MODELS
    assert list(make("qbc").weights) == MODELS
    shared = Selector(models=["a", "b"], policies=["a"], num_classes=2)
    assert list(shared.weights) == ["a", "a (model)", "b"]


def test_followers_put_all_weight_on_the_leaders():
    selector = Selector(models=MODELS, num_classes=2, learner="qbc", seed=3)
    while not selector.pending:
        selector.step([0, 1, 1])
    selector.label(selector.pending[0], 1)
    assert selector.weights == {"a": 0, "b": 0.5, "c": 0.5}
    assert selector.trusted == "b"


def test_history_tells_of_the_last_rounds(stream):
    selector = make(history=20)
    decisions = run(selector, stream)[-20:]
    table = selector.history()
    assert list(table.columns) == ["round", "model", "prediction", "query", "query_probability", "label"]
    assert table["round"].tolist() == list(range(T - 19, T + 1))
    for name in ("model", "prediction", "query", "query_probability"):
        assert table[name].tolist() == [getattr(d, name) for d in decisions]
    for row in table.itertuples():
        assert row.label == stream.labels[row.round - 1] if row.query else pd.isna(row.label)
    assert len(selector._history.labels) <= 20


def test_history_survives_the_disk_and_takes_late_labels(stream, tmp_path):
    selector = make("hedge", history=5)
    tickets = [selector.step(stream.predictions[row], stream.advice[row]).ticket for row in range(8)]
    selector.label(tickets[-1], 2)
    selector.save(tmp_path / "state.npz")
    again = Selector.load(tmp_path / "state.npz")
    for each in (selector, again):
        each.label(tickets[-2], 1)
        each.label(tickets[0], 0)  # forgotten long ago
    pd.testing.assert_frame_equal(selector.history(), again.history())
    assert again.history()["label"].tolist()[-2:] == [1, 2]
    assert len(again.history()) == 5
    assert again._history.labels == {tickets[-1]: 2, tickets[-2]: 1}


def test_a_label_is_forgotten_with_its_round_and_not_before():
    selector = make("hedge", history=3)
    votes, advice = [0, 1, 2], np.full((N, K), 1 / 3)
    for label in (0, 1, 2):
        selector.label(selector.step(votes, advice).ticket, label)
    assert selector._history.labels == {1: 0, 2: 1, 3: 2}
    unanswered = selector.step(votes, advice).ticket
    assert selector._history.labels == {2: 1, 3: 2}
    selector.step(votes, advice)
    selector.step(votes, advice)
    assert selector._history.labels == {}
    selector.label(unanswered, 1)  # the oldest that is still known
    assert selector.history()["label"].tolist() == [1, pd.NA, pd.NA]
    newest = selector.step(votes, advice).ticket
    selector.label(newest, 2)
    selector.step(votes, advice)  # what is forgotten now never had a label
    assert selector._history.labels == {newest: 2}


def test_classes_may_be_numbers_that_no_double_holds():
    big = 2**60 + 1
    selector = Selector(models=["a", "b"], classes=[0, big], learner="hedge")
    selector.label(selector.step([0, big]).ticket, big)
    selector.step([0, big])
    assert selector.history()["label"].tolist() == [big, pd.NA]


def test_no_history_is_kept_where_none_is_wanted(stream):
    selector = make(history=0)
    run(selector, stream)
    nothing = selector.history()
    assert nothing.empty
    assert not selector._history.labels
    # Columns keep their types, so that tables of many runs can be joined.
    selector = make()
    run(selector, stream)
    some = selector.history()
    typed = ["round", "model", "query", "query_probability"]
    assert nothing[typed].dtypes.tolist() == some[typed].dtypes.tolist() == [np.int64, object, bool, np.float64]


def test_repr_says_what_and_how_far(stream):
    selector = make("hedge", budget=2)
    for row in range(3):
        selector.step(stream.predictions[row], stream.advice[row])
    selector.label(1, 0)
    assert repr(selector) == (
        "Selector(hedge: 3 models, 2 policies, 3 classes; 3 rounds, 1 of 2 spent, 1 labels pending)"
    )
    assert repr(make("hedge", budget=None)).endswith("0 rounds, 0 spent, 0 labels pending)")


@pytest.mark.parametrize("learner", ONLINE)
def test_a_batch_is_its_steps(learner, stream):
    one_by_one, at_once = make(learner), make(learner)
    expected = [one_by_one.step(p, a) for p, a in zip(stream.predictions, stream.advice, strict=True)]
    found = at_once.step_many(stream.predictions[:25], stream.advice[:25])
    found += at_once.step_many(stream.predictions[25:], stream.advice[25:])
    assert found == expected
    assert at_once.pending == one_by_one.pending


def test_the_price_of_a_batch_is_that_of_each_of_its_labels(stream):
    # Hedge asks whenever it can pay: 6 are two labels at 3, and three at the usual 2.
    dear, usual = (make("hedge", budget=6, cost=2) for _ in range(2))
    assert sum(decision.query for decision in dear.step_many(stream.predictions, stream.advice, cost=3)) == 2
    assert sum(decision.query for decision in usual.step_many(stream.predictions, stream.advice)) == 3
    with pytest.raises(InputError, match="cost is -1"):
        dear.step_many(stream.predictions, stream.advice, cost=-1)


def test_a_batch_may_be_a_list_of_instances_by_name(stream):
    named = [dict(zip(MODELS, row.tolist(), strict=True)) for row in stream.predictions]
    assert make().step_many(named, stream.advice) == make().step_many(stream.predictions, stream.advice)


def test_a_batch_may_be_a_data_frame(stream):
    table = pd.DataFrame(stream.predictions, columns=MODELS)
    expected = make().step_many(stream.predictions, stream.advice)
    assert make().step_many(table[["c", "a", "b"]], stream.advice) == expected
    with pytest.raises(InputError, match="predictions lacks 'c'"):
        make().step_many(table[["a", "b"]], stream.advice)
    with pytest.raises(InputError, match="predictions has no model 'd'"):
        make().step_many(table.assign(d=0), stream.advice)


def test_predictions_may_have_names(stream):
    by_name, in_order = make(), make()
    for row in range(20):
        expected = in_order.step(stream.predictions[row], stream.advice[row])
        votes = dict(zip(MODELS, stream.predictions[row].tolist(), strict=True))
        shuffled = {name: votes[name] for name in ("c", "a", "b")}
        given = pd.Series(shuffled) if row % 2 else shuffled
        assert by_name.step(given, stream.advice[row]) == expected
    with pytest.raises(InputError, match=r"^predictions lacks 'c'"):
        by_name.step({"a": 0, "b": 1}, stream.advice[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p, a: (p[:, :2], a), r"predictions\[0\] has shape \(2,\), expected \(3,\)"),
        (lambda p, a: (p[0], a), r"predictions has 1 dimension\(s\), expected 2"),
        (lambda p, a: (p, a[1:]), "advice has 59 instances, expected 60"),
        (lambda p, a: (p, None), r"advice\[0\] has shape \(0,\), expected \(2, 3\)"),
        (lambda p, a: (np.where(np.arange(T)[:, None] == 7, 9, p), a), r"predictions\[7, 0\] is 9"),
        (lambda p, a: (p, np.where(np.arange(T)[:, None, None] == 7, 0.1, a)), r"advice\[7, 0\] sums to 0.3"),
        (lambda p, a: (p, a * np.where(np.arange(2) == 1, 0.5, 1)[None, :, None]), r"advice\[0, 1\] sums to 0.5"),
        (lambda p, a: (p, np.where(np.arange(T)[:, None, None] == 7, -1, a)), r"advice\[7, 0, 0\] is -1"),
    ],
)
def test_nothing_of_a_bad_batch_is_played(change, message, stream):
    selector = make()
    with pytest.raises(InputError, match=message):
        selector.step_many(*change(stream.predictions, stream.advice))
    assert selector.rounds == 0
    assert selector.step_many(stream.predictions, stream.advice) == make().step_many(stream.predictions, stream.advice)
