"""Rounds worked out by hand for every rule of CAMS, with the numbers in the comments."""

import numpy as np
import pytest
from hand_worked import ADVICE, AGREE, TWO, approx, at, draws, losses, make

import cams

# ---- CAMS ----


def test_cams_first_round() -> None:
    # L = 0, so q = (1, 1, 1)/3 and w = ((0.8 + 1 + 0)/3, (0.2 + 0 + 1)/3) = (0.6, 0.4): model 0.
    # 1/sqrt(1) = 1, so the label is bought for certain: lhat = (0, 1) if y = 0,
    # ltilde = (0.2, 0, 1).
    learner = make("cams")
    round_ = learner.decide(TWO, ADVICE, draws(coin=0.999))
    assert round_.model_weights == approx(0.6, 0.4)
    assert (round_.model, round_.query, round_.query_probability) == (0, True, 1.0)
    learner.learn(round_, 0)
    assert losses(learner) == approx(0.2, 0.0, 1.0)


def test_cams_second_round() -> None:
    # eta_2 = sqrt(ln 3 / 2) = 0.741152; exp(-eta L) = (0.862232, 1, 0.476564), sum 2.338796,
    # q = (0.368665, 0.427570, 0.203765), w_0 = 0.8 q_0 + q_1 = 0.722502.
    # E = 0.426009 < 1/sqrt(2) = 0.707107 = z. y = 1: lhat_0 = 1/z = 1.414214,
    # ltilde = (0.8 * 1.414214, 1.414214, 0), L = (0.2 + 1.131371, 1.414214, 1).
    learner = at(make("cams"), 2, L=[0.2, 0.0, 1.0])
    round_ = learner.decide(TWO, ADVICE, draws(coin=0.7071))
    assert round_.model_weights == approx(0.722502, 0.277498)
    assert round_.query_probability == approx(0.707107)
    assert round_.query
    learner.learn(round_, 1)
    assert losses(learner) == approx(1.331371, 1.414214, 1.0)


def test_cams_coin_just_above_z_buys_nothing() -> None:
    learner = at(make("cams"), 2, L=[0.2, 0.0, 1.0])
    assert not learner.decide(TWO, ADVICE, draws(coin=0.70711)).query


def test_cams_disagreement_of_two_classes() -> None:
    # t = 100, L = 0: w = (0.6, 0.4), lbar = (0.4, 0.6).
    # E = (0.4 log2(1/0.4) + 0.6 log2(1/0.6)) / 2 = (0.528771 + 0.442179) / 2 = 0.485475 > 0.1.
    learner = at(make("cams"), 100)
    assert learner.decide(TWO, ADVICE, draws()).query_probability == approx(0.485475)


def test_cams_disagreement_leaves_out_classes_without_a_vote() -> None:
    # k = 3, n = 0, c = 3, w = (1, 1, 1)/3, votes (0, 0, 2): p = (2/3, 0, 1/3), lbar = (1/3, 1, 2/3);
    # lbar_1 = 1 is left out. E = (1/3 * log3(3) + 2/3 * log3(3/2)) / 3 = (0.333333 + 0.246047) / 3.
    learner = at(make("cams", k=3, n=0, c=3), 400)
    votes = np.array([0, 0, 2], dtype=np.int32)
    assert learner.decide(votes, np.empty((0, 3)), draws()).query_probability == approx(0.193127)


def test_cams_disagreement_is_of_expected_losses_not_of_masses() -> None:
    # w = (1, 1, 1, 1)/4, votes (0, 1, 2, 0): p = (1/2, 1/4, 1/4), lbar = (1/2, 3/4, 3/4).
    # E = (0.5 * log3(2) + 1.5 * log3(4/3)) / 3 = (0.315465 + 0.392790) / 3 = 0.236085.
    learner = at(make("cams", k=4, n=0, c=3), 400)
    votes = np.array([0, 1, 2, 0], dtype=np.int32)
    assert learner.decide(votes, np.empty((0, 4)), draws()).query_probability == approx(0.236085)


def test_cams_importance_weight_is_one_over_the_disagreement() -> None:
    # z = 0.485475 as above; y = 0: lhat_1 = 1/z = 2.059838, ltilde = (0.411968, 0, 2.059838).
    learner = at(make("cams"), 100)
    learner.learn(learner.decide(TWO, ADVICE, draws()), 0)
    assert losses(learner) == approx(0.411968, 0.0, 2.059838)


def test_cams_never_buys_where_all_models_agree_and_the_round_counts() -> None:
    learner = make("cams")
    round_ = learner.decide(AGREE, ADVICE, draws(coin=0.0))
    assert (round_.query, round_.query_probability, learner.t) == (False, 0.0, 1)


def test_cams_settings_scale_rate_and_floor() -> None:
    # rate 2: eta_2 = 1.482304, exp(-eta L) = (0.743443, 1, 0.227114), sum 1.970557,
    # w_0 = (0.8 * 0.743443 + 1) / 1.970557 = 0.809292. floor 0.9: 0.9/sqrt(2) = 0.636396.
    learner = at(make("cams", rate=2.0, floor=0.9), 2, L=[0.2, 0.0, 1.0])
    round_ = learner.decide(TWO, ADVICE, draws())
    assert round_.model_weights[0] == approx(0.809292)
    assert round_.query_probability == approx(0.636396)


def test_losses_freeze_with_the_budget_but_the_rate_goes_on_falling() -> None:
    # L = (0, 0, 5). t = 4: eta = 0.524074, exp(-5 eta) = 0.072776: w_0 = 1.8 / 2.072776 = 0.868401.
    # t = 400: eta = 0.0524074, exp(-5 eta) = 0.769483: w_0 = 1.8 / 2.769483 = 0.649941.
    learner = at(make("cams"), 4, L=[0.0, 0.0, 5.0])
    early = learner.decide(TWO, ADVICE, draws(), can_buy=False)
    at(learner, 400)
    late = learner.decide(TWO, ADVICE, draws(), can_buy=False)
    assert (early.query, late.query) == (False, False)
    assert (early.model_weights[0], late.model_weights[0]) == approx(0.868401, 0.649941)
    assert losses(learner) == approx(0.0, 0.0, 5.0)


# ---- recommendations under CAMS's weights ----

# t = 1, eta = sqrt(ln 3) = 1.048147, L = (0.1, 0.11, 1.0): exp(-eta L) = (0.900491, 0.891102, 0.350587),
# sum 2.142180, q = (0.420362, 0.415979, 0.163659). The policy advises (0.3, 0.7):
# w_0 = 0.3 * 0.420362 + 0.415979 = 0.542088, so the mixture names 0 and the best policy names 1.
LIGHT = [0.1, 0.11, 1.0]
OTHER = np.array([[0.3, 0.7]])


def test_mixture_and_best_policy_differ() -> None:
    mixture = at(make("cams"), 1, L=LIGHT).decide(TWO, OTHER, draws())
    best = at(make("cams_max"), 1, L=LIGHT).decide(TWO, OTHER, draws())
    assert (mixture.model, best.model) == (0, 1)
    assert best.model_weights == approx(0.542088, 0.457912)
    assert mixture.query_probability == best.query_probability  # z comes from w, whatever is named


@pytest.mark.parametrize(
    ("uniform", "model"),
    [(0.42, 1), (0.421, 0), (0.836, 0), (0.837, 1)],  # q_0 = 0.420362, q_0 + q_1 = 0.836341
)
def test_random_policy_names_the_favourite_of_a_drawn_policy(uniform: float, model: int) -> None:
    learner = at(make("cams_random_policy"), 1, L=LIGHT)
    assert learner.decide(TWO, OTHER, draws(policy=uniform)).model == model


def test_best_policy_breaks_ties_of_policies_and_of_models_with_separate_uniforms() -> None:
    # L = 0: all three policies tie. policy uniform 0.5 picks e_0, 0.9 picks e_1;
    # 0.1 picks the flat policy, whose two models tie in turn.
    flat = np.array([[0.5, 0.5]])
    for policy, tie, model in [(0.5, 0.9, 0), (0.9, 0.0, 1), (0.1, 0.4, 0), (0.1, 0.6, 1)]:
        assert make("cams_max").decide(TWO, flat, draws(policy=policy, tie=tie)).model == model


def test_conventional_weighs_only_the_policies() -> None:
    # n = 2, L = (0, 1), t = 2: eta = sqrt(ln 2 / 2) = 0.588705, exp(-eta) = 0.555046,
    # q = (0.643068, 0.356932), w_0 = 0.8 * 0.643068 + 0.1 * 0.356932 = 0.550148.
    learner = at(make("cams_conventional", n=2), 2, L=[0.0, 1.0])
    round_ = learner.decide(TWO, np.array([[0.8, 0.2], [0.1, 0.9]]), draws())
    assert round_.model_weights == approx(0.550148, 0.449852)
    learner.learn(round_, 1)  # z = 1/sqrt(2): L += (0.8, 0.1) * 1.414214
    assert losses(learner) == approx(1.131371, 1.141421)


def test_context_free_weighs_only_the_constants() -> None:
    # m = k = 2: eta_2 = sqrt(ln 2 / 2) = 0.588705, w_0 = 1 / (1 + exp(-0.588705)) = 0.643068.
    learner = at(make("cams_context_free"), 2, L=[0.0, 1.0])
    assert learner.decide(TWO, ADVICE, draws()).model_weights == approx(0.643068, 0.356932)


def test_oracle_follows_its_policy_and_buys_as_cams() -> None:
    learner = at(make("oracle", policy=0), 100)
    round_ = learner.decide(TWO, OTHER, draws())
    plain = at(make("cams"), 100).decide(TWO, OTHER, draws())
    assert (round_.model, round_.query_probability) == (1, plain.query_probability)
    assert make("oracle", policy=1).decide(TWO, OTHER, draws()).model == 0  # e_0
    with pytest.raises(cams.InputError, match="best policy"):
        make("oracle").decide(TWO, OTHER, draws())


# ---- query rules under CAMS's recommendation ----


def test_variance_rule_takes_the_variance_or_the_rate() -> None:
    # w = (0.6, 0.4): v = 0.24. t = 100: eta = sqrt(ln 3 / 100) = 0.104815 < v.
    assert at(make("cams_variance"), 100).decide(TWO, ADVICE, draws()).query_probability == approx(0.24)
    # L = (50, 0, 50): exp(-50 eta) = 0.005296, w_1 = 1.2 * 0.005296 / 1.010592 = 0.006289, v = 0.006249 < eta.
    sharp = at(make("cams_variance"), 100, L=[50.0, 0.0, 50.0]).decide(TWO, ADVICE, draws())
    assert sharp.query_probability == approx(0.104815)
    # t = 1: eta = 1.048147, and a probability is at most 1.
    assert make("cams_variance").decide(TWO, ADVICE, draws()).query_probability == 1.0
    assert make("cams_variance").decide(AGREE, ADVICE, draws()).query_probability == 0.0


def test_variance_is_the_largest_over_classes() -> None:
    # w = (1, 1, 1, 1)/4 over votes (0, 1, 2, 0): p = (1/2, 1/4, 1/4), v = max(0.25, 0.1875) = 0.25.
    learner = at(make("cams_variance", k=4, n=0, c=3), 10_000)
    votes = np.array([0, 1, 2, 0], dtype=np.int32)
    assert learner.decide(votes, np.empty((0, 4)), draws()).query_probability == approx(0.25)


def test_random_rule_is_the_share_of_the_budget_also_where_models_agree() -> None:
    learner = make("cams_random_query", horizon=20, budget=5)
    round_ = learner.decide(AGREE, ADVICE, draws(coin=0.24))
    assert (round_.query, round_.query_probability) == (True, 0.25)
    learner.learn(round_, 0)  # every model is wrong: lhat = (4, 4), every policy loses 4
    assert losses(learner) == approx(4.0, 4.0, 4.0)
    assert make("cams_random_query", horizon=20, budget=50).decide(TWO, ADVICE, draws()).query_probability == 1.0


def test_nonactive_buys_every_label() -> None:
    learner = at(make("cams_nonactive"), 100)
    for votes in (TWO, AGREE):
        round_ = learner.decide(votes, ADVICE, draws(coin=0.9999))
        assert (round_.query, round_.query_probability) == (True, 1.0)
    assert not learner.decide(TWO, ADVICE, draws(), can_buy=False).query


# ---- adversarial CAMS ----

# T = 100, m = 3, c = 2: sqrt(ln 3 / 100) = 0.104815, 1/(c^2 ln c) = 0.360674.
# t = 1, rho = 1:   eta = sqrt(1 + 0.360674) * 0.104815 = 0.122264.
# L = (2, 0, 10): exp(-eta L) = (0.783076, 1, 0.294452), sum 2.077528, w_0 = 0.8 * 0.376927 + 0.481341 = 0.782883.
FAR = [2.0, 0.0, 10.0]


def test_adversarial_rate_on_the_first_round() -> None:
    round_ = at(make("cams_adversarial", horizon=100), 1, L=FAR).decide(TWO, ADVICE, draws())
    assert round_.model_weights[0] == approx(0.782883)


def _second_weight(rho: str, *, label: int | None, votes: np.ndarray = TWO) -> float:
    """w_0 of the second round with losses FAR, after a first round at L = 0 (w = (0.6, 0.4))."""
    learner = make("cams_adversarial", horizon=100, rho=rho)
    first = learner.decide(votes, ADVICE, draws(coin=0.0))
    if label is not None:
        learner.learn(first, label)
    return float(at(learner, 2, L=FAR).decide(TWO, ADVICE, draws()).model_weights[0])


@pytest.mark.parametrize("label", [None, 0, 1])
def test_rho_of_the_proof_is_one_less_the_largest_mass_seen(label: int | None) -> None:
    # rho_2 = 1 - 0.6 = 0.4: eta_2 = sqrt(0.707107 + 0.4 * 0.360674) * 0.104815 = 0.096713,
    # exp(-eta L) = (0.824124, 1, 0.380160), w_0 = (0.8 * 0.824124 + 1) / 2.204284 = 0.752757, whatever the label.
    assert _second_weight("proof", label=label) == approx(0.752757)


def test_rho_of_the_main_text_is_one_less_the_largest_mass_of_a_bought_label() -> None:
    # y = 1 has mass 0.4: rho_2 = 0.6, eta_2 = sqrt(0.707107 + 0.6 * 0.360674) * 0.104815 = 0.100726,
    # exp(-eta L) = (0.817543, 1, 0.365219), w_0 = (0.8 * 0.817543 + 1) / 2.182762 = 0.757772.
    assert _second_weight("label", label=1) == approx(0.757772)
    assert _second_weight("label", label=0) == approx(0.752757)  # mass 0.6, as in the proof
    # Nothing bought: rho_2 = 1, eta_2 = sqrt(0.707107 + 0.360674) * 0.104815 = 0.108309,
    # exp(-eta L) = (0.805238, 1, 0.338548), w_0 = (0.8 * 0.805238 + 1) / 2.143786 = 0.766956.
    assert _second_weight("label", label=None) == approx(0.766956)


def test_rho_of_the_proof_ignores_rounds_without_disagreement() -> None:
    assert _second_weight("proof", label=None, votes=AGREE) == approx(0.766956)  # rho_2 is still 1


@pytest.mark.parametrize(
    ("policy", "model", "named"),
    [(0.1, 0.79, 0), (0.1, 0.81, 1), (0.5, 0.99, 0), (0.9, 0.01, 1)],  # the policy, then e_0, then e_1
)
def test_adversarial_draws_a_policy_and_then_a_model(policy: float, model: float, named: int) -> None:
    learner = make("cams_adversarial", horizon=100)
    assert learner.decide(TWO, ADVICE, draws(policy=policy, model=model)).model == named
