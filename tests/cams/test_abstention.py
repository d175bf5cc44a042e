"""A model without an answer: no vote, never named, and wrong where the label is bought."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pandas as pd
import pytest

import cams
from cams import InputError, Selector
from cams.classes import ABSTAINS
from cams.learners.base import among_answers

ONLINE = [name for name in cams.LEARNERS if not cams.LEARNERS[name].needs_hindsight]
K, N, C, T = 4, 3, 3, 150
MODELS = ["a", "b", "c", "d"]


def make(learner: str = "cams", **options) -> Selector:
    options = {"num_classes": C, "models": MODELS, "policies": ["p", "q", "r"], "horizon": T, "budget": 60, **options}
    return Selector(learner=learner, seed=3, **options)


def with_gaps(stream: cams.Bundle) -> np.ndarray:
    """Return predictions (T, k) as floats, NaN where a model abstains; on no row all do."""
    rng = np.random.default_rng(5)
    gaps = rng.random(stream.predictions.shape) < 0.35
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, stream.predictions)


def test_advice_goes_to_the_models_that_answer():
    pi = np.array([[0.5, 0.25, 0.25], [1, 0, 0], [0, 0.5, 0.5]])
    votes = np.array([ABSTAINS, 0, 1], dtype=np.int32)
    np.testing.assert_allclose(among_answers(pi, votes), [[0, 0.5, 0.5], [0, 0.5, 0.5], [0, 0.5, 0.5]])
    everybody = np.zeros(3, dtype=np.int32)
    assert among_answers(pi, everybody) is pi


@pytest.mark.parametrize("learner", ONLINE)
@pytest.mark.parametrize("regularize", [False, True])
def test_who_abstains_is_never_named(learner, regularize, make_bundle):
    stream = make_bundle(rows=T, k=K, n=N, c=C)
    selector = make(learner, regularize=regularize)
    for row, votes in enumerate(with_gaps(stream)):
        decision = selector.step(votes, stream.advice[row])
        assert decision.prediction == votes[decision.model_index]
        if decision.query:
            selector.label(decision.ticket, int(stream.labels[row]))
    assert selector.spent


@pytest.mark.parametrize("learner", ["cams", "mp", "qbc", "iwal", "cqbc", "ciwal", "cams_adversarial"])
def test_agreement_of_those_who_answer_buys_nothing(learner):
    selector = make(learner)
    for votes in ([1, None, 1, 1], [None, None, 2, None], [1, 1, np.nan, None]):
        for _ in range(5):
            assert selector.step(votes, np.full((N, K), 0.25)).query_probability == 0


def test_a_bought_label_finds_the_silent_wrong():
    selector = make("cams_nonactive", policies=["p"])
    advice = np.array([[0.5, 0.5, 0, 0]])
    selector.label(selector.step([0, None, 1, 0], advice).ticket, 0)
    np.testing.assert_allclose(selector._learner.state()["L"], [0.5, 0, 1, 1, 0])  # p, then the models
    follower = make("cqbc", policies=["p"])
    while not follower.pending:
        follower.step([0, None, 1, 0], advice)
    follower.label(follower.pending[0], 0)
    assert follower._learner.state()["errors"].tolist() == [0, 1, 1, 0]
    assert follower._learner.state()["rewards"].tolist() == [1, 0, 0, 1]


def test_the_query_probability_counts_votes_that_were_cast():
    advice = np.full((N, K), 0.25)
    # Two of three votes for 0, each with a third of the weight: the constant policies share what d would have.
    mass = np.array([2 / 3, 1 / 3])
    lost = 1 - mass
    expected = -(lost * np.log(lost)).sum() / (C * log(C))
    decision = make("cams", floor=0.0).step([0, 0, 1, None], advice)
    assert decision.query_probability == pytest.approx(expected)
    votes = -(mass * np.log(mass)).sum() / log(3)
    assert make("qbc").step([0, 0, 1, None], advice).query_probability == pytest.approx(votes)
    assert make("mp").step([0, 0, 1, None], advice).query_probability == pytest.approx(
        max((mass * lost).max(), sqrt(log(K) / 2))
    )


@pytest.mark.parametrize("learner", ["cams", "ciwal"])
def test_every_way_to_say_nothing_is_the_same(learner, make_bundle, tmp_path):
    stream = make_bundle(rows=T, k=K, n=N, c=C)
    words = ["x", "y", "z"]
    ways = [make(learner), make(learner), make(learner, abstain=-1), make(learner, num_classes=None, classes=words)]
    for row, gaps in enumerate(with_gaps(stream)):
        numbers = [None if np.isnan(v) else int(v) for v in gaps]
        said = [
            gaps,
            np.array(numbers, dtype=object),
            np.where(np.isnan(gaps), -1, gaps).astype(int),
            pd.Series([None if v is None else words[v] for v in numbers]),
        ]
        decisions = [way.step(votes, stream.advice[row]) for way, votes in zip(ways, said, strict=True)]
        assert len({(d.model, d.query, d.query_probability) for d in decisions}) == 1
        if decisions[0].query and row % 3:
            for way, label in zip(ways, [stream.labels[row]] * 3 + [words[stream.labels[row]]], strict=True):
                way.label(row + 1, label)
        if row == T // 2:
            assert any(ABSTAINS in asked.round.predictions for asked in ways[0]._ledger.pending.values())
            ways[0].save(tmp_path / "state.npz")
            ways[0] = Selector.load(tmp_path / "state.npz")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make().step([None] * K, np.full((N, K), 0.25)), "^predictions has no answer at all"),
        (
            lambda: make().step_many([[0] * K, [np.nan] * K], np.full((2, N, K), 0.25)),
            r"^predictions\[1\] has no answer",
        ),
        (lambda: make().step([0, -1, 0, 0], np.full((N, K), 0.25)), r"^predictions\[1\] is -1, expected a class"),
        (lambda: make(abstain=9).step([0, -1, 0, 0], np.full((N, K), 0.25)), r"^predictions\[1\] is -1"),
        (lambda: make(abstain=2), "abstain is 2, which is a class"),
        (lambda: make(num_classes=None, classes=["x", "y"], abstain="y"), "abstain is 'y', which is a class"),
        (lambda: make(abstain=[1]), r"abstain is \[1\], expected a number or a word"),
    ],
)
def test_silence_where_it_cannot_be(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("learner", list(cams.LEARNERS))
def test_a_replay_plays_gaps_as_a_selector_does(learner, make_bundle):
    whole = make_bundle(rows=T, k=K, n=N, c=C)
    bundle = cams.Bundle(predictions=with_gaps(whole), labels=whole.labels, advice=whole.advice, num_classes=C)
    assert bundle.abstains
    order = np.arange(T)[None]
    result = cams.replay(bundle, [learner], horizon=T, budgets=[60], realizations=1, seed=3, order=order)
    assert result.model_losses[0].tolist() == (bundle.predictions != bundle.labels[:, None]).sum(axis=0).tolist()
    if learner in ONLINE:
        selector = make(learner)
        mistakes = 0
        for row in range(T):
            decision = selector.step(with_gaps(whole)[row], whole.advice[row])
            mistakes += decision.prediction != whole.labels[row]
            if decision.query:
                selector.label(decision.ticket, int(whole.labels[row]))
        assert (result.loss.item(), result.queries.item()) == (mistakes, selector.spent)
    else:
        assert result.loss.item() <= min(result.model_losses.min(), result.policy_losses.min())


def test_a_row_without_any_answer_is_refused():
    with pytest.raises(InputError, match=r"predictions\[1\] has no answer of any model"):
        cams.Bundle(predictions=[[0, None], [None, None]], labels=[0, 1])
