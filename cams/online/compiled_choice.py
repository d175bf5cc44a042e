"""A learner's choice of a round made by compiled code, on the learner's own memory.

The readable learner stays the reference and keeps everything: this only gives it a faster `choose`, put together from
the engine's own functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cams.engine.one_round import choose
from cams.engine.state import State, Stream, new_scratch
from cams.learners import Choice, Learner
from cams.learners.cams import Cams, CamsAdversarial
from cams.learners.queries import Survivors
from cams.online.instance import Intake
from cams.policies import constant_masses, regularize

Array = npt.NDArray[Any]


def hasten(learner: Learner, intake: Intake, uniforms: Array) -> None:
    """Let a learner that weighs policies choose by compiled code; others stay as they are.

    Those that follow a leader have less to do; a prior is memory that compiled code would have to keep as well.
    """
    if isinstance(learner, Cams) and learner.prior.strength == 0:
        learner.choose = CompiledChoice(learner, intake, uniforms)  # type: ignore[method-assign]


class CompiledChoice:
    """Stands in for `Cams.choose`. What it is called with lies in the intake and in `uniforms` (4,) already.

    Rounds on which a model abstains are rare, and left to the learner itself.
    """

    def __init__(self, learner: Cams, intake: Intake, uniforms: Array) -> None:
        k, rule = learner.problem.num_models, learner.query_rule
        self.learner, self.intake, self.spec = learner, intake, tuple(learner.kernel())
        # Regularised advice has a place of its own, for a label is learnt from advice as it came.
        self.advice = np.zeros_like(intake.advice) if learner.regularize else intake.advice
        on, off = constant_masses(k, regularized=learner.regularize)
        # A stream of one row, and a state of one slot.
        stream = Stream(
            rows=np.zeros(1, dtype=np.int64),
            predictions=intake.votes[None],
            labels=np.zeros(1, dtype=np.int32),
            advice=self.advice[None],
            uniforms=uniforms[None],
            num_classes=learner.problem.num_classes,
            on=on,
            off=off,
        )
        state = State(
            policy_losses=learner.L[None],
            errors=np.zeros((1, k)),
            rewards=np.zeros((1, k)),
            largest_mass=np.zeros(1),
            evidence=np.zeros(1),
            labels=np.zeros(1),
            mistakes=np.zeros(1, dtype=np.int64),
            model_losses=rule.model_losses if isinstance(rule, Survivors) else np.zeros(k),
            alive=rule.alive if isinstance(rule, Survivors) else np.ones(k, dtype=np.bool_),
        )
        work = new_scratch(1, learner.m, k, learner.problem.num_classes)
        self.largest_mass, self.w = state.largest_mass, work.w
        self.stream, self.state, self.work = tuple(stream), tuple(state), tuple(work)

    def __call__(self, predictions: Array, advice: Array, uniforms: Array) -> Choice:
        learner = self.learner
        if self.intake.some_abstain:
            return type(learner).choose(learner, predictions, advice, uniforms)
        if learner.regularize:
            np.copyto(self.advice, regularize(advice))
        if isinstance(learner, CamsAdversarial):
            self.largest_mass[0] = learner.largest_mass
        found = choose(self.spec, self.stream, self.state, self.work, learner.learning_rate(), learner.t)
        if isinstance(learner, CamsAdversarial):
            learner.largest_mass = float(self.largest_mass[0])
        model, z, probability = found
        return Choice(model, z, probability, self.w)
