"""Query rules: how much a label is wanted, given what the learner believes. Each returns z_t before scaling.

A rule is picked by name (`QUERY_RULES`) and works under any recommendation.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cams.checks import number
from cams.classes import ABSTAINS
from cams.engine import spec
from cams.errors import InputError, lookup, nearest
from cams.learners.base import Floats, Problem, Round, require

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Belief:
    """What a learner thinks at round t: its mixture w_t over models (empty if it has none) and its rate."""

    t: int
    predictions: npt.NDArray[np.int32]
    num_classes: int
    eta: float
    w: Floats

    def votes(self) -> npt.NDArray[np.int32]:
        """Return the labels of the models that do not abstain."""
        votes: npt.NDArray[np.int32] = self.predictions[self.predictions != ABSTAINS]
        return votes

    def models_disagree(self) -> bool:
        votes = self.votes()
        return bool((votes != votes[0]).any())

    def class_mass(self) -> Floats:
        """Return p_y (c,): the mass of models voting y. The expected loss if the label were y is 1 - p_y."""
        weights = self.w[self.predictions != ABSTAINS]
        mass: Floats = np.bincount(self.votes(), weights=weights, minlength=self.num_classes).astype(np.float64)
        return mass


class QueryRule(ABC):
    """A rule: `probability(belief)`, and memory of its own (`state_names`) where it needs any."""

    # By what compiled code knows the rule. Each names its own: one made from another would be played as that one.
    code: ClassVar[int | None] = None
    # Whether the rule asks for the mixture w_t, which a learner that follows the leader does not have.
    reads_mixture: ClassVar[bool] = False
    budget_shapes_queries: ClassVar[bool] = False
    state_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "code" not in vars(cls):
            cls.code = None

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @abstractmethod
    def probability(self, belief: Belief) -> float:
        """Return how much the label of this round is wanted, in [0, 1]."""

    def learn(self, round_: Round, label: int) -> None:  # noqa: B027 (rules without memory leave it as it is)
        """Take in a bought label; most rules keep nothing of it."""

    def constants(self) -> tuple[float, float]:
        """Return up to two numbers for the compiled engine."""
        return 0.0, 0.0


class Entropy(QueryRule):
    """CAMS: z_t = max(1/sqrt(t), E), E = (1/c) sum of lbar_y log_c(1/lbar_y) over labels with 0 < lbar_y < 1."""

    code = spec.QUERY_ENTROPY
    reads_mixture = True

    def __init__(self, problem: Problem, *, floor: float = 1.0) -> None:
        super().__init__(problem)
        self.floor = number("floor", floor, 0)

    def probability(self, belief: Belief) -> float:
        if not belief.models_disagree():
            return 0.0  # nothing to be learnt where all answers are the same
        return max(self.floor / sqrt(belief.t), disagreement(belief.class_mass()))

    def constants(self) -> tuple[float, float]:
        return self.floor, 0.0


def disagreement(class_mass: Floats) -> float:
    """Return E(yhat_t, w_t) for p_y (c,), with lbar_y = 1 - p_y."""
    c = len(class_mass)
    expected_loss = 1.0 - class_mass
    inside = expected_loss[(expected_loss > 0) & (expected_loss < 1)]
    return float(-(inside * np.log(inside)).sum() / (c * log(c)))


class Variance(QueryRule):
    """Model Picker: z_t = max(v, eta_t), v = max_y lbar_y (1 - lbar_y); 0 where v is 0."""

    code = spec.QUERY_VARIANCE
    reads_mixture = True

    def probability(self, belief: Belief) -> float:
        if not belief.models_disagree():
            return 0.0
        mass = belief.class_mass()
        # v > 0, asked so that a sum of 1 - 1e-16 instead of 1 does not decide it.
        if (mass > 1e-300).sum() < 2:
            return 0.0
        return max(float((mass * (1.0 - mass)).max()), belief.eta)


class Random(QueryRule):
    """A coin of b/T on every round."""

    code = spec.QUERY_CONSTANT
    budget_shapes_queries = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        horizon = require(problem.horizon, "horizon", "the random query rule")
        self.z = min(1.0, require(problem.budget, "budget", "the random query rule") / horizon)

    def probability(self, belief: Belief) -> float:
        return self.z

    def constants(self) -> tuple[float, float]:
        return self.z, 0.0


class Always(QueryRule):
    """Every label, also where all models agree."""

    code = spec.QUERY_CONSTANT

    def probability(self, belief: Belief) -> float:
        return 1.0

    def constants(self) -> tuple[float, float]:
        return 1.0, 0.0


class VoteEntropy(QueryRule):
    """Query by committee: entropy of the k unweighted votes over ln min(k, c); who abstains is not of the k."""

    code = spec.QUERY_VOTES

    def probability(self, belief: Belief) -> float:
        if not belief.models_disagree():
            return 0.0
        k = len(belief.votes())
        shares = np.bincount(belief.votes()) / k
        shares = shares[shares > 0]
        return float(-(shares * np.log(shares)).sum() / log(min(k, belief.num_classes)))


class Survivors(QueryRule):
    """IWAL: 1 if two surviving models disagree. A model survives while its mean importance-weighted loss is
    within D_t = sqrt((8/t) ln(2t(t+1)|H|^2/delta)) of the best survivor's."""

    code = spec.QUERY_SURVIVORS
    state_names = ("alive", "model_losses")

    def __init__(self, problem: Problem, *, delta: float = 0.01, slack: float = 8.0) -> None:
        super().__init__(problem)
        self.delta, self.slack = number("delta", delta, 1e-12, 1), number("slack", slack, 0)
        self.alive = np.ones(problem.num_models, dtype=np.bool_)
        self.model_losses: Floats = np.zeros(problem.num_models)

    def probability(self, belief: Belief) -> float:
        t = belief.t
        if t > 1:
            size = int(self.alive.sum())
            threshold = sqrt(self.slack / t * log(2 * t * (t + 1) * size**2 / self.delta))
            mean_losses = self.model_losses / (t - 1)
            self.alive &= mean_losses <= mean_losses[self.alive].min() + threshold
        votes = belief.predictions[self.alive & (belief.predictions != ABSTAINS)]
        return float((votes != votes[:1]).any())

    def learn(self, round_: Round, label: int) -> None:
        self.model_losses += (round_.predictions != label) / round_.query_probability

    def constants(self) -> tuple[float, float]:
        return self.delta, self.slack


QUERY_RULES: dict[str, type[QueryRule]] = {
    "entropy": Entropy,
    "variance": Variance,
    "random": Random,
    "always": Always,
    "vote_entropy": VoteEntropy,
    "survivors": Survivors,
}


def make_query_rule(name: str, problem: Problem, settings: Mapping[str, Any]) -> QueryRule:
    """Make a rule of `QUERY_RULES` by name; a setting that it does not have is refused."""
    rule = lookup(QUERY_RULES, name, "query rule")
    known = list(inspect.signature(rule).parameters)[1:]  # all but the problem
    for setting in settings:
        if setting not in known:
            raise InputError(f"query rule '{name}' has no setting '{setting}'{nearest(setting, known)}")
    return rule(problem, **settings)
