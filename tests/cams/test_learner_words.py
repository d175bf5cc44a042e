"""The learners by name and by class: the same defaults, and one sentence for what none of them takes."""

from typing import Any

import numpy as np
import pytest
from hand_worked import BOTH, TWO, draws, make

import cams
from cams.classes import ABSTAINS
from cams.learners.anchors import Bandit
from cams.learners.base import Learner, Problem
from cams.learners.cams import Cams, CamsAdversarial
from cams.learners.follow_the_leader import ContextualLeader, FollowTheLeader
from cams.learners.model_picker import ModelPicker
from cams.learners.prior import ConsensusPrior

PROBLEM = Problem(num_models=2, num_policies=2, num_classes=2, horizon=40, budget=10)


@pytest.mark.parametrize(
    ("name", "factory", "parts"),
    [
        ("cams", Cams, {}),
        ("cams_nonactive", Cams, {"query": "always"}),
        ("cams_random_query", Cams, {"query": "random"}),
        ("cams_adversarial", CamsAdversarial, {}),
        ("mp", ModelPicker, {}),
        ("exp4", Bandit, {"weigh": "policies"}),
        ("iwal", FollowTheLeader, {"query": "survivors"}),
        ("cqbc", ContextualLeader, {"query": "vote_entropy"}),
    ],
)
def test_a_class_has_the_defaults_of_the_learner_it_is(
    name: str, factory: type[Learner], parts: dict[str, Any]
) -> None:
    listed, made = make(name, n=2, horizon=40, budget=10), factory(PROBLEM, **parts)
    assert made.kernel() == listed.kernel()
    assert made.budget_shapes_queries is listed.budget_shapes_queries is (name == "cams_random_query")
    assert vars(made).get("rho") == vars(listed).get("rho")


SENTENCES: list[tuple[dict[str, Any], str]] = [
    ({"name": "camz"}, "there is no learner 'camz'; did you mean 'cams'?"),
    ({"name": "rs", "rate": 1}, "learner 'rs' has no setting 'rate' (it has: none)"),
    (
        {"name": "iwal", "dleta": 1},
        "learner 'iwal' has no setting 'dleta' (it has: delta, slack, query); did you mean 'delta'?",
    ),
    ({"name": "iwal", "policy": 1}, "learner 'iwal' has no setting 'policy' (it has: delta, slack, query)"),
    (
        {"name": "oracle", "floof": 1, "policy": 0},
        "learner 'oracle' has no setting 'floof' (it has: rate, rate_rule, prior, fade, votes, floor); did you mean "
        "'floor'?",
    ),
    ({"name": "cams_max", "recommend": "best"}, "learner 'cams_max': there is no recommendation rule 'best'"),
    (
        {"name": "cams_context_free", "weigh": "constant"},
        "learner 'cams_context_free': there is no way to weigh 'constant'; did you mean 'constants'?",
    ),
    ({"name": "cams", "rate_rule": "round"}, "learner 'cams': there is no rate rule 'round'; did you mean 'rounds'?"),
    ({"name": "cqbc", "rate_rule": "round"}, "learner 'cqbc': there is no rate rule 'round'; did you mean 'rounds'?"),
    (
        {"name": "cams_variance", "query": "varience"},
        "learner 'cams_variance': there is no query rule 'varience'; did you mean 'variance'?",
    ),
    (
        {"name": "exp4", "n": 0},
        "learner 'exp4': a learner over policies alone needs at least one policy, and there is none",
    ),
    (
        {"name": "qbc", "query": "entropy"},
        "learner 'qbc': query rule 'entropy' needs weights over models, and following the leader has none",
    ),
    ({"name": "cams_adversarial"}, "learner 'cams_adversarial': the adversarial rate needs a horizon"),
    ({"name": "cams", "rate": 1_000_001}, "learner 'cams': rate is 1e+06, expected a number from 0 to 1e+06"),
    ({"name": "cams", "prior": 1_000_001}, "learner 'cams': prior is 1e+06, expected a number from 0 to 1e+06"),
]


@pytest.mark.parametrize(("given", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES])
def test_what_no_learner_takes(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(cams.InputError) as refused:
        make(**given)
    assert str(refused.value) == sentence


def test_an_oracle_needs_to_be_told() -> None:
    with pytest.raises(cams.InputError) as refused:
        make("oracle", n=2).decide(TWO, BOTH, draws())
    assert str(refused.value) == "the oracle needs to be told the best policy, which only a replay can know"


def test_an_oracle_is_told_one_of_the_policies_or_of_the_models() -> None:
    # Two policies and two models.
    assert make("oracle", n=2, policy=3).policy == 3
    with pytest.raises(cams.InputError, match=r"policy is 4, expected a whole number from 0 to 3$"):
        make("oracle", n=2, policy=4)


@pytest.mark.parametrize(("policy", "model", "named"), [(0.3, 0.6, 0), (0.7, 0.3, 1)])
def test_exp4_draws_a_policy_and_then_a_model_of_it(policy: float, model: float, named: int) -> None:
    # q = (1/2, 1/2). The first policy is (0.9, 0.1), the second (0.2, 0.8); their mixture (0.55, 0.45) would name
    # the other model with either draw.
    assert make("exp4", n=2).decide(TWO, BOTH, draws(policy=policy, model=model)).model == named


def test_a_learner_that_weighs_nothing_says_so() -> None:
    class Silent(FollowTheLeader):
        weights = Learner.weights

    policies, models = Silent(PROBLEM, query="random").weights()
    assert (policies.shape, models.shape) == ((0,), (0,))
    round_ = make("qbc").decide(TWO, BOTH[:1], draws())
    assert (round_.model_weights.shape, round_.model_probability) == ((0,), 1.0)


def test_weights_before_the_first_round_and_after_it() -> None:
    # Nothing is known: policy, e_0 and e_1 are alike.
    policies, models = make("cams").weights()
    assert (policies, models) == (pytest.approx([1 / 3]), pytest.approx([1 / 3, 1 / 3]))
    assert make("cqbc", n=2).weights()[0] == pytest.approx([0.5, 0.5])
    assert (make("cqbc", n=0).learning_rate(), make("qbc").learning_rate()) == (0.0, 0.0)
    # ln 1 = 0: a single policy has nothing to be weighed against.
    assert make("cqbc", n=1).learning_rate() == 0.0
    # Before and on the first round sqrt(ln 2).
    learner = make("cqbc", n=2)
    assert learner.learning_rate() == pytest.approx(np.log(2) ** 0.5)
    learner.t = 1
    assert learner.learning_rate() == pytest.approx(np.log(2) ** 0.5)


@pytest.mark.parametrize("name", ["cams", "cqbc"])
def test_a_prior_weighs_before_any_label(name: str) -> None:
    """Three models vote 0, 0 and 1: the second policy, which trusts the odd one, is held back by exp(-K)."""
    learner = make(name, k=3, n=2, prior=2.0, votes="plain")
    advice = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    learner.decide(np.array([0, 0, 1], dtype=np.int32), advice, draws(), can_buy=False)
    policies = learner.weights()[0]
    assert policies[1] / policies[0] == pytest.approx(np.exp(-2))


def test_a_prior_fades_with_every_label_and_remembers_only_where_it_is_one() -> None:
    prior = ConsensusPrior(3, 2, prior=0.5, fade=0.5, votes="shared")
    assert prior.state_names == ("rounds", "agreements", "oddness", "labels")
    assert ConsensusPrior(3, 2, prior=0.0, fade=3.0, votes="plain").state_names == ()
    pi = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    prior.see(np.array([0, ABSTAINS, ABSTAINS], dtype=np.int32), pi)  # a single answer has nobody to differ from
    assert prior.rounds == 0
    prior.see(np.array([0, 0, 1], dtype=np.int32), pi)
    assert prior.agreements.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    # Two that always agree vote as one, so the labels tie, and each policy misses half.
    assert prior.penalty() == pytest.approx([0.25, 0.25])
    # 0.5 / (1 + s / 0.5) after s labels.
    for expected in (0.25 / 3, 0.25 / 5):
        prior.learn()
        assert prior.penalty() == pytest.approx([expected, expected])


def test_a_regularised_contextual_leader() -> None:
    # (0.9, 0.1) becomes (0.9 + 0.32, 0.1 + 0.32) / 1.64, and (0.2, 0.8) (0.2 + 0.18, 0.8 + 0.18) / 1.36.
    learner = make("cqbc", n=2, regularize=True)
    expected = [[1.22 / 1.64, 0.42 / 1.64], [0.38 / 1.36, 0.98 / 1.36]]
    assert learner.policies(BOTH) == pytest.approx(np.array(expected))
    assert make("cqbc", n=2).policies(BOTH).tolist() == BOTH.tolist()
