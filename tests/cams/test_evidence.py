"""The evidence rate and the consensus prior: rounds worked out by hand, and what must hold for any history."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hand_worked import ADVICE, TWO, approx, at, draws, make
from hypothesis import given, settings
from hypothesis import strategies as st

import cams
from cams.classes import ABSTAINS
from cams.engine import compiled
from cams.learners.prior import ConsensusPrior, misses_of_plurality

LIGHT = settings(max_examples=40, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
NONE = np.empty((0, 3))
MAJORITY = np.array([0, 0, 1], dtype=np.int32)


def test_the_evidence_rate_does_not_look_at_the_round() -> None:
    # V = 16: eta = sqrt(ln 3 / 16) = 0.262037, exp(-5 eta) = 0.269770: w_0 = 1.8 / 2.269770 = 0.793032.
    for t in (2, 400):
        learner = at(make("cams_evidence"), t, L=[0.0, 0.0, 5.0])
        learner.rate_rule.V = 16.0
        assert learner.decide(TWO, ADVICE, draws()).model_weights[0] == approx(0.793032)


def test_evidence_is_the_sum_of_squared_importance_weights() -> None:
    # As for CAMS at t = 100: z = 0.485475, 1/z^2 = 4.242932; before any label the clock stands at 1.
    learner = at(make("cams_evidence"), 100)
    assert learner.learning_rate() == approx(1.048147)
    learner.learn(learner.decide(TWO, ADVICE, draws()), 0)
    assert pytest.approx(4.242932, abs=1e-5) == learner.rate_rule.V
    assert learner.learning_rate() == pytest.approx(1.048147 / np.sqrt(4.242932), abs=1e-5)


def test_bandits_keep_their_factor_and_model_picker_its_own() -> None:
    exp4, mp = make("exp4", n=3, rate_rule="evidence"), make("mp", rate_rule="evidence")
    exp4.rate_rule.V = mp.rate_rule.V = 9.0
    assert exp4.learning_rate() == approx(np.sqrt(np.log(3) / (2 * 9)))
    assert mp.learning_rate() == approx(np.sqrt(np.log(2) / (2 * 9)))


def test_the_prior_before_any_label() -> None:
    # Plain votes (0, 0, 1): v = 0, Dbar = (0, 0, 1), q ~ (1, 1, exp(-5) = 0.006738), sum 2.006738.
    learner = make("cams_plus", k=3, n=0, c=3, votes="plain")
    assert learner.decide(MAJORITY, NONE, draws()).model_weights == approx(0.498321, 0.498321, 0.003358)


@pytest.mark.parametrize("prior", [0.5, 1.0, 2.0])
def test_a_prior_of_any_strength_takes_in_the_votes(prior: float) -> None:
    # As above, with K in place of 5: q ~ (1, 1, exp(-K)).
    learner = make("cams_plus", k=3, n=0, c=3, votes="plain", prior=prior)
    odd = np.exp(-prior) / (2 + np.exp(-prior))
    assert learner.decide(MAJORITY, NONE, draws()).model_weights[2] == approx(odd)


def test_the_prior_fades_with_labels() -> None:
    # s = 30 = s0 halves K: exp(-2.5) = 0.082085, over 2.082085.
    learner = make("cams_plus", k=3, n=0, c=3, votes="plain", fade=30.0)
    learner.prior.labels = 30
    assert learner.decide(MAJORITY, NONE, draws()).model_weights[2] == approx(0.039424)


def test_the_prior_is_a_mean_over_rounds_with_disagreement() -> None:
    # Rounds (0, 0, 1), (1, 1, 1), (1, 0, 0): the second does not count. Dbar = (1/2, 0, 1/2).
    learner = make("cams_plus", k=3, n=0, c=3, votes="plain")
    for votes in (MAJORITY, np.array([1, 1, 1]), np.array([1, 0, 0])):
        round_ = learner.decide(votes.astype(np.int32), NONE, draws(), can_buy=False)
    assert learner.prior.rounds == 2
    # exp(-2.5) = 0.082085: w = (0.082085, 1, 0.082085) / 1.164170.
    assert round_.model_weights == approx(0.070510, 0.858981, 0.070510)


def test_copies_share_their_vote() -> None:
    # After one round two models that agreed are copies as far as anyone knows: 1/2 each, against 1. A tie.
    learner = make("cams_plus", k=3, n=0, c=3)
    assert learner.decide(MAJORITY, NONE, draws()).model_weights == approx(1 / 3, 1 / 3, 1 / 3)
    assert learner.prior.vote_weights() == approx(0.5, 0.5, 1.0)
    # Then (0, 1, 1): a_01 = a_12 = 1/2, a_02 = 0, so j = 0 and 2 vote with 1/(1 + 1/16), j = 1 with 1/(1 + 2/16).
    learner.decide(np.array([0, 1, 1], dtype=np.int32), NONE, draws(), can_buy=False)
    assert learner.prior.vote_weights() == approx(16 / 17, 16 / 18, 16 / 17)


@pytest.mark.parametrize(
    ("votes", "misses"),
    [
        ([0, 1, 2], [2 / 3, 2 / 3, 2 / 3]),
        ([5, 5, 1, 1, 2], [0.5, 0.5, 0.5, 0.5, 1.0]),
        ([3, 3, 1], [0.0, 0.0, 1.0]),
    ],
)
def test_labels_that_tie_for_the_plurality_share_it(votes: list[int], misses: list[float]) -> None:
    found = misses_of_plurality(np.array(votes, dtype=np.int32), np.ones(len(votes)))
    np.testing.assert_allclose(found, misses)


@LIGHT
@given(seed=seeds, copies=st.integers(1, 12))
def test_any_number_of_copies_has_at_most_the_vote_of_one(seed: int, copies: int) -> None:
    rng = np.random.default_rng(seed)
    prior = ConsensusPrior(4 + copies, 1, prior=1.0, fade=1.0, votes="shared")
    for votes in rng.integers(0, 3, (20, 5)).astype(np.int32):
        crowd = np.concatenate([votes, np.repeat(votes[-1:], copies - 1)])
        prior.see(crowd, np.zeros((1, 4 + copies)))
    assert prior.vote_weights()[4:].sum() <= 1 + 1e-12


def _history(seed: int, rows: int = 40) -> cams.Bundle:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, rows)
    votes = np.where(rng.random((rows, 5)) < 0.5, labels[:, None], rng.integers(0, 4, (rows, 5)))
    return cams.Bundle(
        predictions=votes, labels=labels, advice=rng.dirichlet(np.full(5, 0.5), (rows, 3)), num_classes=4
    )


@pytest.mark.parametrize("name", ["cams", "cqbc", "ciwal", "cams_max", "cams_variance", "mp"])
@settings(LIGHT, max_examples=10)
@given(seed=seeds)
def test_weights_change_only_with_a_label_also_after_the_budget_is_gone(name: str, seed: int) -> None:
    bundle = _history(seed)
    learner: Any = make(name, k=5, n=3, c=4, horizon=40, budget=6, rate_rule="evidence")
    draws_ = np.random.default_rng(seed).random((40, 4))
    before = np.concatenate(learner.weights())
    for _, _, label in cams.play(learner, bundle, range(40), draws_, budget=6):
        after = np.concatenate(learner.weights())
        if label is None:
            np.testing.assert_array_equal(after, before)
        before = after


def test_the_prior_by_hand() -> None:
    """K = 4, s0 = 2: with two labels half of K is left. Model 2 is odd on the one round on which anybody is."""
    prior = ConsensusPrior(3, 3, prior=4.0, fade=2.0, votes="shared")
    for votes in ([0, 0, 0], [1, ABSTAINS, ABSTAINS], [0, 0, 1]):
        prior.see(np.array(votes, dtype=np.int32), np.eye(3))
    assert prior.rounds == 1
    assert prior.agreements.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    # Models 0 and 1 share one vote, so that the two labels tie and everybody is half odd.
    assert prior.penalty().tolist() == [2, 2, 2]
    plain = ConsensusPrior(3, 3, prior=4.0, fade=2.0, votes="plain")
    plain.see(np.array([0, 0, 1], dtype=np.int32), np.eye(3))
    assert plain.penalty().tolist() == [0, 0, 4]
    plain.learn()
    plain.learn()
    assert plain.penalty().tolist() == [0, 0, 2]
    assert ConsensusPrior(3, 3, prior=0.5, fade=0.5, votes="plain").state_names == plain.state_names != ()
    assert ConsensusPrior(3, 3, prior=0, fade=2, votes="plain").state_names == ()


def test_the_weights_that_are_shown_know_the_prior() -> None:
    """Two models of three agree: with K = 5 the third, alone, starts with exp(-5) of the weight of each other."""
    learner: Any = make("cams_plus", k=3, n=0, c=2, prior=5.0, votes="plain")
    bundle = cams.Bundle(predictions=[[0, 0, 1]], labels=[0], num_classes=2)
    assert learner.weights()[1].tolist() == pytest.approx([1 / 3] * 3)
    list(cams.play(learner, bundle, range(1), np.full((1, 4), 0.5), budget=0))
    policies, models = learner.weights()
    assert policies.size == 0
    assert models / models[0] == pytest.approx([1, 1, np.exp(-5)])


@LIGHT
@given(z=st.lists(st.floats(0.01, 1), min_size=1, max_size=30))
def test_a_label_adds_no_more_than_the_root_of_ln_m_to_a_log_weight(z: list[float]) -> None:
    learner = make("cams_evidence")
    for each in z:
        learner.rate_rule.learn(each)
        assert learner.learning_rate() / each <= np.sqrt(np.log(learner.m)) * (1 + 1e-12)


@settings(LIGHT, max_examples=10)
@given(seed=seeds)
def test_labels_count_when_they_come(seed: int) -> None:
    """Asked for early and answered late, they leave the same memory; until then they are no evidence."""
    bundle = _history(seed)

    def after(late: bool) -> dict[str, Any]:
        learner = make("cams_plus", k=5, n=3, c=4)
        rounds = [learner.decide(bundle.predictions[i], bundle.advice[i], np.zeros(4)) for i in range(6)]
        assert learner.rate_rule.V == learner.prior.labels == 0
        bought = [(each, int(bundle.labels[i])) for i, each in enumerate(rounds) if each.query]
        for each, label in reversed(bought) if late else bought:
            learner.learn(each, label)
        return dict(learner.state())

    prompt, late = after(False), after(True)
    assert prompt["labels"] > 0
    for key, value in prompt.items():
        np.testing.assert_allclose(value, late[key], rtol=1e-12)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"rate_rule": "round"}, "there is no rate rule 'round'; did you mean 'rounds'"),
        ({"votes": "loud"}, "votes is 'loud', expected 'plain' or 'shared'"),
        ({"prior": -1.0}, "prior is -1"),
        ({"fade": 0.0}, "fade is 0"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings_: dict[str, Any], message: str) -> None:
    with pytest.raises(cams.InputError, match=message):
        make("cams_plus", **settings_)


def test_without_a_prior_or_evidence_nothing_more_is_remembered() -> None:
    assert set(make("cams").state()) == {"t", "early_labels", "L"}
    assert set(make("cams_evidence").state()) == {"t", "early_labels", "L", "V"}


# ---- plain loops, where numba's internals cannot be relied on ----

_SCRIPT = """
import numpy as np, cams
from cams.engine.compiled import PLAIN_LOOPS
rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 60)
votes = np.where(rng.random((60, 18)) < 0.6, labels[:, None], rng.integers(0, 3, (60, 18)))
advice = rng.dirichlet(np.full(18, 0.3), (60, 5)).astype(np.float32)
bundle = cams.Bundle(predictions=votes, labels=labels, advice=advice, num_classes=3)
names = ["cams", "cqbc", "cams_adversarial", "cams_evidence", "cams_plus", "exp4"]
result = cams.replay(bundle, names, horizon=60, budgets=[0, 3, 9, 20, 60], realizations=1, seed=0, progress=False)
print(PLAIN_LOOPS, result.loss.ravel().tolist(), result.queries.ravel().tolist())
"""


def test_plain_loops_decide_alike() -> None:
    """The same replay in an interpreter in which nothing is compiled, and so no instruction of numba's is used."""
    runs = []
    for added in ({}, {"NUMBA_DISABLE_JIT": "1"}):
        command, environment = [sys.executable, "-c", _SCRIPT], {**os.environ, **added}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        runs.append(done.stdout.split(maxsplit=1))
    assert [run[0] for run in runs] == ["False", "True"]
    assert runs[0][1] == runs[1][1]


@pytest.mark.parametrize(
    ("version", "known"), [("0.61.0", True), ("0.68.1", True), ("0.60.2", False), ("0.69.0", False), ("1.0", False)]
)
def test_only_releases_of_numba_that_were_tested_are_relied_on(version: str, known: bool) -> None:
    assert compiled.tested_with(version) == known
