"""Rounds worked out by hand for every rule of the baselines, with the numbers in the comments."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hand_worked import ADVICE, AGREE, BOTH, TWO, approx, at, draws, losses, make

# ---- Model Picker ----


def test_model_picker() -> None:
    # eta_1 = sqrt(ln 2 / 2) = 0.588705; w = (1/2, 1/2), v = 0.25 < eta_1 = z. y = 0: Lhat_1 = 1/z = 1.698644.
    # eta_2 = sqrt(ln 2 / 4) = 0.416277: exp(-eta_2 Lhat_1) = exp(-1/sqrt(2)) = 0.493069, w_0 = 0.669762,
    # v = 0.669762 * 0.330238 = 0.221181 < eta_2 = z.
    learner = make("mp")
    first = learner.decide(TWO, ADVICE, draws(coin=0.5))
    assert first.query_probability == approx(0.588705)
    learner.learn(first, 0)
    assert losses(learner) == approx(0.0, 1.698644)
    second = learner.decide(TWO, ADVICE, draws(coin=0.5))
    assert second.model_weights == approx(0.669762, 0.330238)
    assert (second.model, second.query_probability) == (0, approx(0.416277))
    assert make("mp").decide(AGREE, ADVICE, draws()).query_probability == 0.0


# ---- follow the leader: RS, QBC, IWAL ----


def test_random_sampling_follows_the_leader() -> None:
    learner = make("rs", k=3, n=0, horizon=40, budget=10)
    votes = np.array([1, 0, 1], dtype=np.int32)
    round_ = learner.decide(votes, np.empty((0, 3)), draws(coin=0.2499, tie=0.5))
    assert (round_.model, round_.query, round_.query_probability) == (1, True, 0.25)  # floor(0.5 * 3) = 1
    learner.learn(round_, 1)  # only model 1 was wrong; models 0 and 2 lead together
    assert learner.errors == approx(0.0, 1.0, 0.0)
    assert learner.decide(votes, np.empty((0, 3)), draws(tie=0.49)).model == 0
    assert learner.decide(votes, np.empty((0, 3)), draws(tie=0.51)).model == 2


@pytest.mark.parametrize(("classes", "probability"), [(10, 0.75), (3, 0.946395)])
def test_vote_entropy(classes: int, probability: float) -> None:
    # Shares (1/2, 1/4, 1/4): entropy 1.5 ln 2 = 1.039721; over ln 4 = 1.386294 (k = 4 < c = 10) or ln 3 = 1.098612.
    votes = np.array([0, 1, 0, 2], dtype=np.int32)
    round_ = make("qbc", k=4, n=0, c=classes).decide(votes, np.empty((0, 4)), draws())
    assert round_.query_probability == approx(probability)


def test_vote_entropy_is_zero_where_all_agree_and_one_where_all_differ() -> None:
    assert make("qbc").decide(AGREE, ADVICE, draws()).query_probability == 0.0
    assert make("qbc").decide(TWO, ADVICE, draws()).query_probability == approx(1.0)


def _iwal(t: int, model_losses: list[float], **settings: float) -> Any:
    """IWAL at the end of round t - 1 with these importance-weighted losses."""
    learner = at(make("iwal", k=len(model_losses), **settings), t)
    learner.query_rule.model_losses = np.array(model_losses)
    return learner


def test_iwal_drops_no_model_at_its_default_slack_while_losses_are_ordinary() -> None:
    # D_2 = sqrt(8/2 ln(2*2*3*4/0.01)) = sqrt(4 * 8.476371) = 5.822841.
    learner = _iwal(2, [0.0, 5.8])
    assert learner.decide(TWO, ADVICE, draws()).query_probability == 1.0
    learner = _iwal(2, [0.0, 5.83])
    assert learner.decide(TWO, ADVICE, draws()).query_probability == 0.0
    assert learner.query_rule.alive.tolist() == [True, False]


def test_iwal_bar_shrinks_with_the_survivors() -> None:
    # slack 0.02, t = 3: |H| = 3 gives D = sqrt(0.02/3 ln(24*9/0.01)) = 0.257947,
    # |H| = 2 gives sqrt(0.02/3 ln(24*4/0.01)) = 0.247245. A mean loss of 0.505/2 = 0.2525 lies between.
    votes = np.array([0, 1, 0], dtype=np.int32)
    three = _iwal(3, [0.0, 0.505, 0.1], slack=0.02)
    assert three.decide(votes, np.empty((0, 3)), draws()).query_probability == 1.0
    # |H|^2 = 9, not 2 |H| = 6, which would give 0.252649.
    assert _iwal(3, [0.0, 0.51, 0.1], slack=0.02).decide(votes, np.empty((0, 3)), draws()).query_probability == 1.0
    two = _iwal(3, [0.0, 0.505, 0.1], slack=0.02)
    two.query_rule.alive = np.array([True, True, False])
    assert two.decide(votes, np.empty((0, 3)), draws()).query_probability == 0.0
    assert two.query_rule.alive.tolist() == [True, False, False]


def test_iwal_compares_with_the_best_survivor_and_drops_for_good() -> None:
    # Model 0 was dropped with loss 0; the bar is set by model 1, so model 2 at 0.1 more than model 1 stays.
    learner = _iwal(3, [0.0, 2.0, 2.2], slack=0.02)
    learner.query_rule.alive = np.array([False, True, True])
    votes = np.array([5, 1, 2], dtype=np.int32)
    assert learner.decide(votes, np.empty((0, 3)), draws()).query_probability == 1.0
    assert learner.query_rule.alive.tolist() == [False, True, True]


def test_iwal_drops_nobody_on_the_first_round_and_learns_weighted_losses() -> None:
    learner = _iwal(1, [0.0, 9.0], slack=1e-9)
    round_ = learner.decide(TWO, ADVICE, draws())
    assert (round_.query_probability, round_.query) == (1.0, True)
    learner.learn(round_, 1)
    assert learner.query_rule.model_losses == approx(1.0, 9.0)
    learner.query_rule.learn(replace(round_, query_probability=0.25), 1)
    assert learner.query_rule.model_losses == approx(5.0, 9.0)
    assert learner.errors == approx(1.0, 0.0)


# ---- CQBC and CIWAL ----


@pytest.mark.parametrize("name", ["cqbc", "ciwal"])
def test_contextual_leader_multiplies_success_by_advice(name: str) -> None:
    # r = (3, 1)/4. t = 4: rate sqrt(ln 2 / 4) = 0.416277, exp(-2 * 0.416277) = 0.434936,
    # q = (0.303106, 0.696894), q.pi = (0.412174, 0.587826), r * q.pi = (0.309131, 0.146957): model 0.
    # With r uniform q.pi alone decides: model 1.
    learner = at(make(name, n=2), 4, rewards=[3.0, 1.0], policy_loss=[2.0, 0.0])
    assert learner.decide(TWO, BOTH, draws()).model == 0
    assert at(make(name, n=2), 4, policy_loss=[2.0, 0.0]).decide(TWO, BOTH, draws()).model == 1


def test_contextual_scores_by_the_numbers() -> None:
    learner = at(make("cqbc", n=2), 5, rewards=[3.0, 1.0], policy_loss=[2.0, 0.0])  # round 4 is under way
    assert learner.scores(np.zeros(2, dtype=np.int32), BOTH) == approx(0.309131, 0.146957)


def test_contextual_leader_learns_success_and_weighted_policy_losses() -> None:
    # Votes (0, 1, 0) of three models: shares (2/3, 1/3), entropy 0.636514 / ln 2 = 0.918296 = z with c = 2.
    # y = 0: only model 1 errs. lhat_1 = 1/z = 1.088974; the policy puts 0.5 on it: 0.544487.
    learner = make("cqbc", k=3, n=1)
    round_ = learner.decide(np.array([0, 1, 0], dtype=np.int32), np.array([[0.2, 0.5, 0.3]]), draws())
    assert round_.query_probability == approx(0.918296)
    learner.learn(round_, 0)
    assert learner.rewards == approx(1.0, 0.0, 1.0)
    assert learner.policy_loss[0] == approx(0.544487)


def test_contextual_leader_without_policies_goes_by_success_alone() -> None:
    learner = make("cqbc", n=0)
    none = np.empty((0, 2))
    round_ = learner.decide(TWO, none, draws(tie=0.6))
    assert round_.model == 1  # nobody has been right yet: a tie
    learner.learn(round_, 0)
    assert learner.decide(TWO, none, draws(tie=0.6)).model == 0


# ---- anchors ----


def test_hedge() -> None:
    # t = 1: w = (1/2, 1/2); the model uniform 0.6 draws model 1. y = 0: L = (0, 1), z = 1.
    # t = 2: eta = sqrt(ln 2 / 2) = 0.588705, w_0 = 1/(1 + 0.555046) = 0.643068.
    learner = make("hedge")
    first = learner.decide(TWO, ADVICE, draws(coin=0.999, model=0.6))
    assert (first.model, first.query) == (1, True)
    learner.learn(first, 0)
    assert losses(learner) == approx(0.0, 1.0)
    assert learner.decide(TWO, ADVICE, draws(model=0.643)).model == 0
    learner.t = 1
    assert learner.decide(TWO, ADVICE, draws(model=0.644)).model == 1


def test_exp3_sees_only_the_loss_of_the_model_it_played() -> None:
    # Played model 1 with probability 1/2, y = 0: lhat_1 = 1/0.5 = 2, model 0 unseen.
    # t = 2: eta = sqrt(ln 2 / (2 * 2)) = 0.416277, exp(-2 eta) = 0.434936, w_0 = 0.696895.
    learner = make("exp3")
    learner.learn(learner.decide(TWO, ADVICE, draws(model=0.6)), 0)
    assert losses(learner) == approx(0.0, 2.0)
    assert learner.decide(TWO, ADVICE, draws()).model_weights == approx(0.696895, 0.303105)
    unseen = make("exp3")
    unseen.learn(unseen.decide(TWO, ADVICE, draws(model=0.4)), 0)  # plays model 0, which is right
    assert losses(unseen) == approx(0.0, 0.0)


def test_exp4_spreads_the_played_loss_over_the_policies() -> None:
    # q = (1/2, 1/2): 0.3 draws policy 0, (0.9, 0.1), and 0.95 draws model 1 from it. Whatever the policy,
    # model 1 was played with probability w_1, w = (0.55, 0.45). y = 0: lhat_1 = 1/0.45 = 2.222222,
    # ltilde = (0.1, 0.8) * 2.222222. t = 2: eta = sqrt(ln 2 / (2 * 2)) = 0.416277,
    # exp(-eta * 1.555556) = 0.523331, q_0 = 0.656456, w_0 = 0.9 q_0 + 0.2 q_1 = 0.659520.
    learner = make("exp4", n=2)
    decided = learner.decide(TWO, BOTH, draws(policy=0.3, model=0.95))
    assert (decided.model, decided.model_probability) == (1, approx(0.45))
    learner.learn(decided, 0)
    assert losses(learner) == approx(0.222222, 1.777778)
    assert learner.decide(TWO, BOTH, draws()).model_weights[0] == approx(0.659520)


@pytest.mark.parametrize("name", ["hedge", "exp3", "exp4"])
def test_anchors_pay_one_label_a_round(name: str) -> None:
    learner = make(name)
    for votes in (AGREE, TWO):
        assert learner.decide(votes, ADVICE, draws(coin=0.9999)).query
