"""CAMS, in the paper's symbols: one class, its parts exchangeable.

L    (m,)   importance-weighted cumulative loss of each policy, starting at 0
pi   (m,k)  advice of the n policies, and below it the k constant policies e_j (together Pi*, m = n + k)
q    (m,)   distribution over policies, q_i ~ exp(-eta_t L_i), times a prior where there is one
w    (k,)   distribution over models, w = sum_i q_i pi_i(x_t)
z           query probability; the coin U_t ~ Ber(z) is thrown in `Learner.decide`
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

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
    require,
)
from cams.learners.prior import FADE, ConsensusPrior
from cams.learners.queries import Belief, make_query_rule
from cams.learners.rates import RATE_RULES
from cams.learners.recommendations import RECOMMENDATIONS
from cams.policies import constant_policies, regularize

WEIGH = {
    "extended": spec.WEIGH_EXTENDED,  # Pi*
    "policies": spec.WEIGH_POLICIES,  # Pi
    "constants": spec.WEIGH_MODELS,  # the k constant policies, which regularisation softens like any policy
    "models": spec.WEIGH_MODELS,  # the k models themselves, for learners that know no policies
}


class Cams(Learner):
    """Contextual active model selection for a stochastic stream; its parts are names.

    query      which label to buy (`cams.learners.queries`)
    recommend  which model to name (`cams.learners.recommendations`)
    weigh      what is weighed: extended, policies, constants or models
    rate       factor on eta_t = sqrt(ln m / clock)
    rate_rule  the clock: `rounds`, t as the paper has it, or `evidence` (`cams.learners.rates`)
    prior, fade, votes  the consensus prior K, s0 and who votes how (`cams.learners.prior`); K = 0 is none
    Further settings go to the query rule, such as `floor` (factor on 1/sqrt(t)) of `entropy`.
    """

    state_names: ClassVar[tuple[str, ...]] = ("L",)
    rate_kind = spec.RATE_ANYTIME

    def __init__(
        self,
        problem: Problem,
        *,
        query: str = "entropy",
        recommend: str = "mixture",
        weigh: str = "extended",
        rate: float = 1.0,
        rate_rule: str = "rounds",
        prior: float = 0.0,
        fade: float = FADE,
        votes: str = "shared",
        **query_settings: Any,
    ) -> None:
        super().__init__(problem)
        self.query_rule = make_query_rule(query, problem, query_settings)
        self.budget_shapes_queries = self.query_rule.budget_shapes_queries
        self.recommendation = lookup(RECOMMENDATIONS, recommend, "recommendation rule")
        self.weigh_code = lookup(WEIGH, weigh, "way to weigh")
        self.weigh, self.rate = weigh, checked_rate(rate)
        n, k = problem.num_policies, problem.num_models
        if weigh == "policies" and n == 0:
            raise InputError("a learner over policies alone needs at least one policy, and there is none")
        self.m = {"extended": n + k, "policies": n}.get(weigh, k)
        self.L: Floats = np.zeros(self.m)
        self.rate_rule = lookup(RATE_RULES, rate_rule, "rate rule")()
        self.prior = ConsensusPrior(k, self.m, prior=prior, fade=fade, votes=votes)
        self.regularize = problem.regularize and weigh != "models"
        self.constant_policies: Floats = constant_policies(k, regularized=self.regularize)

    def choose(self, predictions: npt.NDArray[np.int32], advice: Array, uniforms: Floats) -> Choice:
        pi = self.policies(advice)
        self.prior.see(predictions, pi)
        pi = among_answers(pi, predictions)
        eta = self.learning_rate()
        q = exponential_weights(self.L, eta, self.prior.penalty())
        w = q @ pi
        model, probability = self.recommendation.pick(q, pi, w, uniforms)
        belief = Belief(self.t, predictions, self.problem.num_classes, eta, w)
        z = self.query_rule.probability(belief)
        self.remember(belief)
        return Choice(model, z, probability, w)

    def learn(self, round_: Round, label: int) -> None:
        self.L += self.policies(round_.advice) @ self.estimated_losses(round_, label)  # ltilde_i = <pi_i(x_t), lhat_t>
        self.query_rule.learn(round_, label)
        self.rate_rule.learn(round_.query_probability)
        self.prior.learn()

    def estimated_losses(self, round_: Round, label: int) -> Floats:
        """Return lhat (k,), the models' losses as far as the label shows them, unbiased over coin and draw."""
        loss = (round_.predictions != label).astype(np.float64)  # l_{t,j} = [yhat_{t,j} != y_t]
        lhat: Floats = loss / round_.query_probability
        return lhat

    def learning_rate(self) -> float:
        """Return eta_t."""
        return self.rate * sqrt(log(self.m) / self.rate_rule.clock(self.t))

    def weights(self) -> tuple[Floats, Floats]:
        # Before the first round there is no rate, nor a loss that it could weigh.
        q = exponential_weights(self.L, self.learning_rate() if self.t else 0.0, self.prior.penalty())
        n = 0 if self.weigh in ("constants", "models") else self.problem.num_policies
        return q[:n], q[n:]

    def policies(self, advice: Array) -> Floats:
        """Return the policies that are weighed, (m, k)."""
        if self.weigh in ("constants", "models"):
            return self.constant_policies
        pi: Floats = (regularize(advice) if self.regularize else advice).astype(np.float64)
        return pi if self.weigh == "policies" else np.vstack([pi, self.constant_policies])

    def remember(self, belief: Belief) -> None:
        """Keep what later rounds need of this one's belief; the stochastic learner needs nothing."""

    def rules(self) -> Sequence[Rule]:
        return self.query_rule, self.rate_rule, self.prior

    def kernel(self) -> spec.KernelSpec | None:
        if self.query_rule.code is None:  # a rule of somebody's own, as where a subclass changes one
            return None
        a, b = self.query_rule.constants()
        return spec.KernelSpec(
            weigh=self.weigh_code,
            rate_kind=self.rate_kind,
            rate=self.rate,
            query=self.query_rule.code,
            query_a=a,
            query_b=b,
            recommend=self.recommendation.code,
            by_evidence=self.rate_rule.by_evidence,
            prior=self.prior.strength,
            fade=self.prior.fade,
            shared_votes=self.prior.shared,
            regularize=self.regularize,
            scaled=self.problem.scaled and self.scalable,
        )


class CamsAdversarial(Cams):
    """CAMS for a stream an adversary may order: i ~ q, j ~ pi_i, and a rate that knows T.

    eta_t = sqrt(1/sqrt(t) + rho_t / (c^2 ln c)) sqrt(ln m / T). With `rho="proof"` (default) rho_t is 1 less the
    largest class mass p_y of past rounds on which models disagreed, as the proof has it; with `rho="label"` it is
    1 less the largest mass of a bought true label, as the main text has it. With `rate_rule="evidence"` the rate is
    that rule's, and neither T nor rho plays a part in it.
    """

    state_names = ("L", "largest_mass")

    def __init__(self, problem: Problem, *, rho: str = "proof", **settings: Any) -> None:
        super().__init__(problem, recommend="sample_policy", **settings)
        if not isinstance(rho, str) or rho not in ("proof", "label"):
            raise InputError(f"rho is '{rho}', expected 'proof' or 'label'")
        self.rho = rho
        if not self.rate_rule.by_evidence:
            self.rate_kind = spec.RATE_ADVERSARIAL_PROOF if rho == "proof" else spec.RATE_ADVERSARIAL_LABEL
        self.horizon = require(problem.horizon, "horizon", "the adversarial rate")
        self.largest_mass = 0.0

    def learning_rate(self) -> float:
        if self.rate_rule.by_evidence:
            return super().learning_rate()
        c = max(2, self.problem.num_classes)
        rho = max(0.0, 1.0 - self.largest_mass)
        return self.rate * sqrt(1 / sqrt(self.t) + rho / (c**2 * log(c))) * sqrt(log(self.m) / self.horizon)

    def remember(self, belief: Belief) -> None:
        if self.rho == "proof" and belief.models_disagree():
            self.largest_mass = max(self.largest_mass, float(belief.class_mass().max()))

    def learn(self, round_: Round, label: int) -> None:
        super().learn(round_, label)
        if self.rho == "label":
            mass = float(round_.model_weights[round_.predictions == label].sum())
            self.largest_mass = max(self.largest_mass, mass)

    def kernel(self) -> spec.KernelSpec | None:
        return super().kernel()  # `rate_kind` says the rest
