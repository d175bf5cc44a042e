"""Model Picker (Karimi et al., 2021): exponential weights over models and a variance query rule, no context."""

from __future__ import annotations

from math import sqrt
from typing import Any

from cams.learners.base import Problem, checked_rate
from cams.learners.cams import Cams


class ModelPicker(Cams):
    """Argmax of exp(-eta_t Lhat_j), eta_t = rate * sqrt(ln k / (2t)); labels by max(v, eta_t)."""

    def __init__(self, problem: Problem, *, rate: float = 1.0, **settings: Any) -> None:
        super().__init__(problem, query="variance", weigh="models", rate=checked_rate(rate) / sqrt(2), **settings)
