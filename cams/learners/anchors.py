"""Anchors from the wider literature. None of them saves labels: each buys one on every round while it may.

| learner | over        | sees after a round                        | plays                |
|---------|-------------|-------------------------------------------|----------------------|
| hedge   | classifiers | every classifier's loss                   | j ~ w                |
| exp3    | classifiers | only the loss of the classifier it played | j ~ w                |
| exp4    | policies    | only the loss of the classifier it played | i ~ q, j ~ pi_i(x_t) |
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from cams.engine import spec
from cams.learners.base import Floats, Problem, Round
from cams.learners.cams import Cams


class Hedge(Cams):
    """Exponential weights over classifiers with full information; eta_t = rate * sqrt(ln k / t)."""

    def __init__(self, problem: Problem, **settings: Any) -> None:
        super().__init__(problem, query="always", recommend="sample_model", weigh="models", **settings)


class Bandit(Cams):
    """EXP3 over models, EXP4 over policies: the played model's loss, divided by the probability of playing it.

    eta_t = rate * sqrt(ln size / (k t)); no extra mixing. EXP4 draws a policy and then a model from its advice, so
    that it plays a model with probability w_j, w = q . pi(x_t).
    """

    rate_kind = spec.RATE_BANDIT

    def __init__(self, problem: Problem, *, weigh: str, **settings: Any) -> None:
        recommend = "sample_policy" if str(weigh) == "policies" else "sample_model"
        super().__init__(problem, query="always", recommend=recommend, weigh=weigh, **settings)

    def learning_rate(self) -> float:
        return self.rate * sqrt(log(self.m) / (self.problem.num_models * self.rate_rule.clock(self.t)))

    def estimated_losses(self, round_: Round, label: int) -> Floats:
        lhat: Floats = np.zeros(self.problem.num_models)
        j = round_.model
        lhat[j] = float(round_.predictions[j] != label) / (round_.query_probability * round_.model_probability)
        return lhat

    def kernel(self) -> spec.KernelSpec | None:
        plain = super().kernel()
        return plain and plain._replace(feedback=spec.FEEDBACK_BANDIT)
