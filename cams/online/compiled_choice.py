"""A learner's choice of a round made by compiled code, on the learner's own memory.

The readable learner stays the reference and keeps everything: this only gives it a faster `choose`, put together from
the engine's own functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cams.engine.consensus import Consensus
from cams.engine.one_round import choose
from cams.engine.spec import KernelSpec
from cams.engine.state import State, Stream, new_scratch, new_state
from cams.learners import Choice, Learner
from cams.learners.cams import Cams, CamsAdversarial
from cams.learners.follow_the_leader import ContextualLeader, FollowTheLeader
from cams.learners.queries import Survivors
from cams.online.instance import Intake
from cams.policies import constant_masses, regularize

Array = npt.NDArray[Any]


def hasten(learner: Learner, intake: Intake, uniforms: Array) -> None:
    """Let a learner of this library choose by compiled code; others stay as they are."""
    if isinstance(learner, Cams | FollowTheLeader) and (kernel := learner.kernel()) is not None:
        learner.choose = CompiledChoice(learner, kernel, intake, uniforms)  # type: ignore[method-assign]


class CompiledChoice:
    """Stands in for a learner's `choose`. What it is called with lies in the intake and in `uniforms` (4,) already."""

    def __init__(self, learner: Cams | FollowTheLeader, kernel: KernelSpec, intake: Intake, uniforms: Array) -> None:
        k, num_classes = learner.problem.num_models, learner.problem.num_classes
        self.learner, self.regularize = learner, kernel.regularize
        self.prior = learner.prior if kernel.prior > 0 and isinstance(learner, Cams | ContextualLeader) else None
        # Regularised advice has a place of its own, for a label is learnt from advice as it came.
        self.advice = np.zeros_like(intake.advice) if self.regularize else intake.advice
        on, off = constant_masses(k, regularized=self.regularize)
        # A stream of one row, and a state of one slot.
        stream = Stream(
            rows=np.zeros(1, dtype=np.int64),
            predictions=intake.votes[None],
            labels=np.zeros(1, dtype=np.int32),
            advice=self.advice[None],
            uniforms=uniforms[None],
            num_classes=num_classes,
            on=on,
            off=off,
        )
        state, consensus = _state_of(learner), self._consensus(k, num_classes)
        work = new_scratch(1, state.policy_losses.shape[1] or k, k, num_classes)
        self.largest_mass, self.labels, self.rounds = state.largest_mass, state.labels, consensus.rounds
        self.w = work.w if isinstance(learner, Cams) else None
        self.memory = tuple(kernel), tuple(stream), tuple(state), tuple(consensus), tuple(work)

    def __call__(self, predictions: Array, advice: Array, uniforms: Array) -> Choice:
        learner = self.learner
        if self.regularize:
            np.copyto(self.advice, regularize(advice))
        self._lend()
        model, z, probability = choose(*self.memory, learner.learning_rate(), learner.t)
        self._give_back()
        return Choice(model, z, probability, self.w)

    def _lend(self) -> None:
        """Copy such memory of the learner's as is plain numbers to where compiled code finds it."""
        if isinstance(self.learner, CamsAdversarial):
            self.largest_mass[0] = self.learner.largest_mass
        if self.prior is not None:
            self.rounds[0], self.labels[0] = self.prior.rounds, self.prior.labels

    def _give_back(self) -> None:
        if isinstance(self.learner, CamsAdversarial):
            self.learner.largest_mass = float(self.largest_mass[0])
        if self.prior is not None:
            self.prior.rounds = int(self.rounds[0])

    def _consensus(self, k: int, num_classes: int) -> Consensus:
        """Return the prior's own arrays, empty ones where there is no prior."""
        prior = self.prior
        return Consensus(
            rounds=np.zeros(1),
            agreements=np.zeros((0, 0)) if prior is None else prior.agreements,
            oddness=np.zeros(0) if prior is None else prior.oddness,
            mean=np.zeros(0),  # the sum is enough for one round
            weights=np.ones(k),
            misses=np.zeros(k),
            tally=np.zeros(num_classes),
        )


def _state_of(learner: Cams | FollowTheLeader) -> State:
    """Return a state of one slot made of the learner's own arrays; what it does not keep is there but not used."""
    state: State = new_state(1, 0, learner.problem.num_models)
    if isinstance(learner, Cams):
        state = state._replace(policy_losses=learner.L[None])
    if isinstance(learner, FollowTheLeader):
        state = state._replace(errors=learner.errors[None])
    if isinstance(learner, ContextualLeader):
        state = state._replace(policy_losses=learner.policy_loss[None], rewards=learner.rewards[None])
    rule = learner.query_rule
    if isinstance(rule, Survivors):
        state = state._replace(model_losses=rule.model_losses, alive=rule.alive)
    return state
