"""Follow the leader: RS, QBC and IWAL, and the contextual CQBC and CIWAL, which differ only in their query rule."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cams.classes import ABSTAINS
from cams.engine import spec
from cams.errors import InputError, lookup
from cams.learners.base import (
    Array,
    Choice,
    Floats,
    Learner,
    Problem,
    Round,
    Rule,
    among_answers,
    checked_rate,
    exponential_weights,
    pick_tied,
)
from cams.learners.prior import FADE, ConsensusPrior
from cams.learners.queries import Belief, make_query_rule
from cams.learners.rates import RATE_RULES
from cams.policies import regularize
from cams.randomness import TIE


class FollowTheLeader(Learner):
    """Name the model with the fewest losses on bought labels, ties at random.

    errors  (k,) losses on bought labels
    """

    state_names: ClassVar[tuple[str, ...]] = ("errors",)
    recommend_code = spec.RECOMMEND_LEADER

    def __init__(self, problem: Problem, *, query: str, **query_settings: Any) -> None:
        super().__init__(problem)
        self.query_rule = make_query_rule(query, problem, query_settings)
        if self.query_rule.reads_mixture:
            raise InputError(f"query rule '{query}' needs weights over models, and following the leader has none")
        self.budget_shapes_queries = self.query_rule.budget_shapes_queries
        self.errors: Floats = np.zeros(problem.num_models)

    def choose(self, predictions: npt.NDArray[np.int32], advice: Array, uniforms: Floats) -> Choice:
        scores = np.where(predictions != ABSTAINS, self.scores(predictions, advice), -np.inf)
        model = pick_tied(scores, uniforms[TIE])
        belief = Belief(self.t, predictions, self.problem.num_classes, 0.0, np.empty(0))
        return Choice(model, self.query_rule.probability(belief))

    def scores(self, predictions: npt.NDArray[np.int32], advice: Array) -> Floats:
        return -self.errors

    def learning_rate(self) -> float:
        """Return eta_t, 0 where nothing is weighed."""
        return 0.0

    def learn(self, round_: Round, label: int) -> None:
        loss = (round_.predictions != label).astype(np.float64)
        self.errors += loss
        self.query_rule.learn(round_, label)

    def weights(self) -> tuple[Floats, Floats]:
        """All weight is on the leaders, and evenly, as ties are broken at random."""
        leads = (self.errors == self.errors.min()).astype(np.float64)
        return np.empty(0), leads / leads.sum()

    def rules(self) -> Sequence[Rule]:
        return (self.query_rule,)

    def kernel(self) -> spec.KernelSpec | None:
        if self.query_rule.code is None:  # a rule of somebody's own, as where a subclass changes one
            return None
        a, b = self.query_rule.constants()
        return spec.KernelSpec(
            weigh=spec.WEIGH_MODELS,
            rate_kind=spec.RATE_ANYTIME,
            rate=0.0,
            query=self.query_rule.code,
            query_a=a,
            query_b=b,
            recommend=self.recommend_code,
            scaled=self.problem.scaled and self.scalable,
        )


class RandomSampling(FollowTheLeader):
    """RS: a coin of b/T on every round. It uses its budget by design, so scaled queries leave it alone."""

    scalable = False

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, query="random")


class ContextualLeader(FollowTheLeader):
    """Name the argmax of r * (q . pi): past success of each model times what the policies say here.

    rewards      (k,) correct answers on bought labels; r is this normalised, uniform while none was right
    policy_loss  (n,) importance-weighted losses behind q, eta_t = rate * sqrt(ln n / clock)
    The clock and the prior are those of `Cams`.
    """

    state_names = ("errors", "rewards", "policy_loss")
    recommend_code = spec.RECOMMEND_CONTEXTUAL_LEADER

    def __init__(
        self,
        problem: Problem,
        *,
        query: str,
        rate: float = 1.0,
        rate_rule: str = "rounds",
        prior: float = 0.0,
        fade: float = FADE,
        votes: str = "shared",
        **query_settings: Any,
    ) -> None:
        super().__init__(problem, query=query, **query_settings)
        self.rate = checked_rate(rate)
        self.rate_rule = lookup(RATE_RULES, rate_rule, "rate rule")()
        self.prior = ConsensusPrior(problem.num_models, problem.num_policies, prior=prior, fade=fade, votes=votes)
        self.rewards: Floats = np.zeros(problem.num_models)
        self.policy_loss: Floats = np.zeros(problem.num_policies)

    def scores(self, predictions: npt.NDArray[np.int32], advice: Array) -> Floats:
        k, n = self.problem.num_models, self.problem.num_policies
        total = self.rewards.sum()
        r: Floats = self.rewards / total if total > 0 else np.full(k, 1 / k)
        if n == 0:
            return r
        pi = self.policies(advice)
        self.prior.see(predictions, pi)
        scores: Floats = r * (self.policy_weights() @ among_answers(pi, predictions))
        return scores

    def learning_rate(self) -> float:
        if self.problem.num_policies == 0:
            return 0.0
        return self.rate * sqrt(log(self.problem.num_policies) / self.rate_rule.clock(max(1, self.t)))

    def policy_weights(self) -> Floats:
        """Return q (n,); before the first round all are alike."""
        return exponential_weights(self.policy_loss, self.learning_rate(), self.prior.penalty())

    def weights(self) -> tuple[Floats, Floats]:
        return (self.policy_weights(), np.empty(0)) if len(self.policy_loss) else super().weights()

    def learn(self, round_: Round, label: int) -> None:
        super().learn(round_, label)
        loss = (round_.predictions != label).astype(np.float64)
        self.rewards += 1 - loss
        self.policy_loss += self.policies(round_.advice) @ (loss / round_.query_probability)
        self.rate_rule.learn(round_.query_probability)
        self.prior.learn()

    def rules(self) -> Sequence[Rule]:
        return self.query_rule, self.rate_rule, self.prior

    def policies(self, advice: Array) -> Floats:
        return (regularize(advice) if self.problem.regularize else advice).astype(np.float64)

    def kernel(self) -> spec.KernelSpec | None:
        has_policies, plain = self.problem.num_policies > 0, super().kernel()
        return plain and (
            plain._replace(
                weigh=spec.WEIGH_POLICIES if has_policies else spec.WEIGH_MODELS,
                rate=self.rate,
                by_evidence=self.rate_rule.by_evidence,
                # Without policies there is nothing to have a prior over.
                prior=self.prior.strength if has_policies else 0.0,
                fade=self.prior.fade,
                shared_votes=self.prior.shared,
                regularize=self.problem.regularize,
            )
        )
