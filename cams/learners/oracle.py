"""The oracle: the best single policy in hindsight, buying labels as CAMS does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.checks import whole_number
from cams.engine.spec import KernelSpec
from cams.errors import InputError
from cams.learners.base import Array, Choice, Floats, Problem, among_answers, pick_tied
from cams.learners.cams import Cams
from cams.randomness import TIE


class Oracle(Cams):
    """Follow one policy of Pi* by its favourite model; `policy` is known only in hindsight, so replays set it."""

    scalable = False
    needs_hindsight = True

    def __init__(self, problem: Problem, *, policy: int | None = None, **settings: Any) -> None:
        super().__init__(problem, **settings)
        self.policy = None if policy is None else whole_number("policy", policy, 0, self.m - 1)

    def choose(self, predictions: npt.NDArray[np.int32], advice: Array, uniforms: Floats) -> Choice:
        if self.policy is None:
            raise InputError("the oracle needs to be told the best policy, which only a replay can know")
        choice = super().choose(predictions, advice, uniforms)
        pi = among_answers(self.policies(advice), predictions)
        return replace(choice, model=pick_tied(pi[self.policy], uniforms[TIE]))

    def kernel(self) -> KernelSpec | None:
        # It buys as CAMS does; whom it names is known without playing.
        return super().kernel()
