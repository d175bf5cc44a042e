"""What can be laid over any learner, worked out by hand: regularised policies, scaled queries, ties, draws."""

from typing import Any

import numpy as np
import pytest
from hand_worked import ADVICE, AGREE, TWO, approx, at, draws, losses, make

import cams
from cams.classes import ABSTAINS
from cams.learners.base import among_answers, exponential_weights, pick_tied, sample
from cams.learners.queries import Belief, disagreement, make_query_rule
from cams.policies import complement, constant_masses, constant_policies, opposite, regularize, sharpen

# ---- regularisation ----


def test_regularised_policy() -> None:
    # eta = 0.3^2 + 0.3^2 = 0.18: (0.8 + 0.18)/1.36, (0.2 + 0.18)/1.36.
    assert regularize(ADVICE)[0] == approx(0.720588, 0.279412)
    assert regularize(np.full(4, 0.25)) == approx(0.25, 0.25, 0.25, 0.25)


@pytest.mark.parametrize("k", [1, 2, 3, 80])
def test_regularised_constants_have_a_closed_form(k: int) -> None:
    np.testing.assert_allclose(constant_policies(k, regularized=True), regularize(np.eye(k)), atol=1e-15)
    on, off = constant_masses(k, regularized=True)
    assert on + (k - 1) * off == pytest.approx(1)
    np.testing.assert_array_equal(constant_policies(k, regularized=False), np.eye(k))


def test_regularised_constants_of_eighty_models_are_nearly_flat() -> None:
    assert constant_masses(80, regularized=True) == approx(0.024844, 0.012344)  # (1 + 79/80)/80, (79/80)/80


def test_cams_regularised() -> None:
    # Constants of k = 2 become (0.75, 0.25): w_0 = (0.720588 + 0.75 + 0.25)/3 = 0.573529.
    # y = 1, z = 1: L = (0.720588, 0.75, 0.25).
    learner = make("cams", regularize=True)
    round_ = learner.decide(TWO, ADVICE, draws())
    assert round_.model_weights[0] == approx(0.573529)
    learner.learn(round_, 1)
    assert losses(learner) == approx(0.720588, 0.75, 0.25)


def test_model_picker_and_hedge_know_no_policies_to_regularise() -> None:
    for name in ("mp", "hedge", "exp3"):
        learner = at(make(name, regularize=True), 2, L=[0.0, 1.0])
        plain = at(make(name), 2, L=[0.0, 1.0])
        weights = [each.decide(TWO, ADVICE, draws()).model_weights for each in (learner, plain)]
        np.testing.assert_array_equal(*weights)


# ---- scaled queries ----


@pytest.mark.parametrize(
    ("bought", "budget", "factor"),
    [
        (1, 5, 0.444444),  # (5 - 1)/(20 - 2) * 2/1
        (0, 5, 0.555556),  # (5 - 0)/18 * 2/1: at least one label is assumed
        (2, 5, 0.166667),  # (5 - 2)/18 * 2/2
        (5, 5, 0.0),
        (1, 20, 2.111111),  # 19/18 * 2
    ],
)
def test_scaled_queries_multiply_after_the_first_tenth(bought: int, budget: int, factor: float) -> None:
    # T = 20, so the first two rounds only count. On round 3 of `cams_variance` at L = 0: v = 0.24,
    # eta_3 = sqrt(ln 3 / 3) = 0.605147 = z before scaling.
    learner = make("cams_variance", horizon=20, budget=budget, scaled=True)
    learner.t, learner.early_labels = 2, bought
    round_ = learner.decide(TWO, ADVICE, draws(), can_buy=bought < budget)
    assert round_.query_probability == approx(min(1.0, 0.605147 * factor))
    if round_.query:
        learner.learn(round_, 0)  # the scaled z is also the importance weight
        assert learner.L[2] == approx(1 / round_.query_probability)
    assert learner.early_labels == bought


def test_scaled_queries_count_labels_bought_in_the_first_tenth() -> None:
    learner = make("cams", horizon=30, budget=10, scaled=True)
    for votes, can_buy in [(TWO, True), (AGREE, True), (TWO, False)]:
        assert learner.decide(votes, ADVICE, draws(), can_buy=can_buy).query_probability in (0.0, *_floors())
    assert learner.early_labels == 1


def test_the_last_round_of_the_first_tenth_still_counts() -> None:
    # T = 29, so the tenth is two rounds: both labels count, and the factor is on the third, (8 - 2)/27 * 2/2.
    learner = make("cams_variance", horizon=29, budget=8, scaled=True)
    plain = make("cams_variance", horizon=29, budget=8)
    for t in (1, 2):
        expected = plain.decide(TWO, ADVICE, draws()).query_probability
        assert learner.decide(TWO, ADVICE, draws()).query_probability == expected
        assert learner.early_labels == t
    expected = plain.decide(TWO, ADVICE, draws()).query_probability
    assert learner.decide(TWO, ADVICE, draws()).query_probability == approx(expected * 6 / 27)
    assert learner.early_labels == 2


def test_a_dropped_label_is_taken_back_if_it_was_of_the_first_tenth() -> None:
    learner = make("cams_variance", horizon=29, budget=8, scaled=True)
    for _ in range(3):
        assert learner.decide(TWO, ADVICE, draws()).query
    counted = []
    for t in (3, 2, 1):
        learner.drop(t)
        counted.append(learner.early_labels)
    assert counted == [2, 1, 0]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"name": "cams", "budget": 5, "scaled": True}, "scaled queries needs a horizon"),
        ({"name": "cams", "horizon": 20, "scaled": True}, "scaled queries needs a budget"),
        ({"name": "rs", "budget": 5}, "the random query rule needs a horizon"),
        ({"name": "rs", "horizon": 20}, "the random query rule needs a budget"),
        ({"name": "cams", "rate": 1e7}, "rate is 1e"),
        ({"name": "cams", "floor": -1}, "floor is -1"),
        ({"name": "cams_plus", "prior": 1e7}, "prior is 1e"),
        ({"name": "cams_plus", "fade": 0}, "fade is 0"),
    ],
)
def test_what_a_learner_needs_is_said_by_name(given: dict[str, Any], sentence: str) -> None:
    def tenth_round() -> None:
        at(make(**given), 10).decide(TWO, ADVICE, draws())

    with pytest.raises(cams.InputError, match=rf"^(?:learner '\w+': )?{sentence}"):
        tenth_round()


def test_a_random_rule_asks_for_no_more_than_every_label() -> None:
    assert make("rs", horizon=10, budget=40).query_rule.z == 1


def _floors() -> list[float]:
    return [1 / np.sqrt(t) for t in range(1, 4)]


def test_random_sampling_and_oracle_are_not_scaled() -> None:
    rs = make("rs", horizon=20, budget=5, scaled=True)
    rs.t, rs.early_labels = 10, 2
    assert rs.decide(TWO, ADVICE, draws()).query_probability == 0.25
    oracle = make("oracle", horizon=20, budget=5, scaled=True, policy=0)
    oracle.t, oracle.early_labels = 3, 2
    assert oracle.decide(TWO, ADVICE, draws()).query_probability == 0.5  # 1/sqrt(4)


# ---- the parts ----


@pytest.mark.parametrize(("uniform", "winner"), [(0.0, 0), (0.33, 0), (0.34, 1), (0.66, 1), (0.67, 3), (0.999, 3)])
def test_a_tie_goes_to_the_floor_of_uniform_times_count(uniform: float, winner: int) -> None:
    assert pick_tied(np.array([0.5, 0.5, 0.1, 0.5]), uniform) == winner


def test_ties_are_relative_and_narrow() -> None:
    assert pick_tied(np.array([1.0, 1.0 - 1e-13]), 0.9) == 1
    assert pick_tied(np.array([1.0, 1.0 - 1e-11]), 0.9) == 0
    assert pick_tied(np.array([-3.0, -3.0, -2.9999]), 0.9) == 2
    assert pick_tied(np.array([1e-20, 2e-20]), 0.0) == 1  # small scores are not all alike
    assert pick_tied(np.array([1e9, 1e9 * (1 - 1e-13)]), 0.9) == 1


def test_sampling_by_inversion_never_names_what_has_no_mass() -> None:
    assert sample(np.array([0.0, 1.0, 0.0]), 0.0) == 1
    assert sample(np.array([0.2, 0.0, 0.8]), 0.2) == 2
    assert sample(np.array([2.0, 2.0]), 0.49) == 0


def test_sampling_needs_no_sum_of_one() -> None:
    # Masses 1, 1 and 2 of 4.
    for uniform, drawn in ((0.0, 0), (0.24, 0), (0.26, 1), (0.49, 1), (0.51, 2), (1 - 1e-16, 2)):
        assert sample(np.array([1.0, 1.0, 2.0]), uniform) == drawn


def test_advice_goes_from_those_who_abstain_to_those_who_answer() -> None:
    votes = np.array([0, ABSTAINS, 1], dtype=np.int32)
    advice = np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(among_answers(advice, votes), [[0.4, 0, 0.6], [0.5, 0, 0.5]])


def test_one_answer_is_no_disagreement() -> None:
    belief = Belief(2, np.array([1, ABSTAINS, ABSTAINS], dtype=np.int32), 3, 0.5, np.array([0.2, 0.3, 0.5]))
    assert not belief.models_disagree()
    assert belief.class_mass().tolist() == [0, 0.2, 0]


def test_a_mixture_that_is_sure_leaves_nothing_to_ask() -> None:
    """All mass is on one of two models that disagree: no entropy, no variance; only the floor asks."""
    sure = Belief(4, TWO, 2, 0.5, np.array([1.0, 0.0]))
    assert disagreement(sure.class_mass()) == 0
    problem = make("cams").problem
    assert make_query_rule("variance", problem, {}).probability(sure) == 0
    assert make_query_rule("entropy", problem, {}).probability(sure) == 0.5
    with pytest.raises(cams.InputError, match=r"^query rule 'variance' has no setting 'flor'"):
        make_query_rule("variance", problem, {"flor": 1})
    with pytest.raises(cams.InputError, match=r"^query rule 'entropy' has no setting 'flor'; did you mean 'floor'"):
        make_query_rule("entropy", problem, {"flor": 1})
    with pytest.raises(cams.InputError, match="query rule 'entropi'"):
        make_query_rule("entropi", problem, {})


def test_exponential_weights_survive_large_losses() -> None:
    # exp(-2 * 1) = 0.135335 relative to the smallest, wherever the smallest is.
    for offset in (0.0, 1e6):
        assert exponential_weights(np.array([offset, offset + 1.0]), 2.0) == approx(0.880797, 0.119203)


def test_sharpened_advice_its_opposite_and_its_complement() -> None:
    assert sharpen(np.array([1.0, 0.5]), 4.0) == approx(0.880797, 0.119203)  # softmax(4, 2)
    assert opposite(np.array([1.0, 0.5]), 4.0) == approx(0.119203, 0.880797)  # softmax(-4, -2)
    assert complement(np.array([0.7, 0.2, 0.1])) == approx(0.15, 0.4, 0.45)  # (1 - pi)/2
