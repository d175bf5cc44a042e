"""The query rules of `cams.learners.queries`, compiled. votes (k,) are predicted labels, w (k,) the mixture."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from cams.engine import spec
from cams.engine.compiled import Array, compiled, compiled_inline
from cams.engine.spec import KernelSpec
from cams.engine.state import Scratch, State, Turn

# So many classes are summed up one by one, in vector registers; adding each vote to its class waits for the one before.
_FEW_CLASSES = 16


@compiled
def models_disagree(votes: Array, first_answer: int) -> bool:
    """Say whether two models that answer predict different labels."""
    for j in range(votes.size):  # noqa: SIM110 (compiled code has no generators)
        if votes[j] != first_answer and votes[j] >= 0:
            return True
    return False


@compiled
def class_masses(votes: Array, w: Array, mass: Array, masses: Array) -> int:
    """Write p_y of all classes that have a vote, each once, to masses (k,) and return how many are written there.

    Classes without a vote are written as 0, or left out where there are many. mass (c,) is work space. A model without
    an answer has no weight, so the last class, which its number -1 leads to, loses nothing by it.
    """
    if mass.size <= votes.size and mass.size <= _FEW_CLASSES:
        for y in range(mass.size):
            total = 0.0
            for j in range(votes.size):
                total += w[j] if votes[j] == y else 0.0
            masses[y] = total
        return mass.size
    for j in range(votes.size):
        mass[votes[j]] = 0.0
    for j in range(votes.size):
        mass[votes[j]] += w[j]
    count = 0
    for j in range(votes.size):
        if mass[votes[j]] >= 0.0:
            masses[count] = mass[votes[j]]
            mass[votes[j]] = -1.0
            count += 1
    return count


@compiled_inline
def label_mass(turn: Turn, w: Array) -> float:
    """Return p_y of the true label; where all agree the mixture was not computed, and it is all or nothing."""
    if not turn.disagree:
        return 1.0 if turn.first_answer == turn.label else 0.0
    total = 0.0
    for j in range(w.size):
        if turn.votes[j] == turn.label:
            total += w[j]
    return total


@compiled
def _entropy(masses: Array, num_classes: int) -> float:
    """Return E: the entropy terms of 1 - p_y, summed and scaled."""
    total = 0.0
    for y in range(masses.size):
        loss = 1.0 - masses[y]
        if 0.0 < loss < 1.0:
            total -= loss * log(loss)
    return total / (num_classes * log(num_classes))


@compiled
def _variance(masses: Array) -> float:
    largest = 0.0
    for y in range(masses.size):
        largest = max(largest, masses[y] * (1.0 - masses[y]))
    return largest


@compiled
def _classes_with_mass(masses: Array) -> int:
    """Count the classes with any mass; below 1e-300 digits are lost, and two ways to compute it need not agree."""
    count = 0
    for y in range(masses.size):
        count += masses[y] > 1e-300
    return count


@compiled
def _vote_entropy(shares: Array, num_votes: int, num_classes: int) -> float:
    """Return the entropy of the shares of votes, 1 where they are spread as evenly as can be."""
    total = 0.0
    for y in range(shares.size):
        if shares[y] > 0:
            total -= shares[y] * log(shares[y])
    return total / log(min(num_votes, num_classes))


@compiled
def _survivors_disagree(votes: Array, losses: Array, alive: Array, t: int, delta: float, slack: float) -> bool:
    """Drop models whose mean loss is too far behind, then say whether two of the rest disagree."""
    if t > 1:
        size = 0
        best = np.inf
        for j in range(votes.size):
            if alive[j]:
                size += 1
                best = min(best, losses[j] / (t - 1))
        bar = best + sqrt(slack / t * log(2.0 * t * (t + 1) * size**2 / delta))
        for j in range(votes.size):
            if losses[j] / (t - 1) > bar:
                alive[j] = False
    first = -1
    for j in range(votes.size):
        if alive[j] and votes[j] >= 0:
            if first < 0:
                first = votes[j]
            elif votes[j] != first:
                return True
    return False


@compiled_inline
def query_probability(
    learner: KernelSpec, num_classes: int, state: State, work: Scratch, turn: Turn, eta: float
) -> float:
    """Return z_t before scaling, for the slot whose mixture is in the work space and whose rate is eta."""
    if learner.query == spec.QUERY_CONSTANT:
        return learner.query_a
    if learner.query == spec.QUERY_SURVIVORS:
        # Every round counts here, for models are dropped by a bar that moves with t.
        disagree = _survivors_disagree(
            turn.votes, state.model_losses, state.alive, turn.t, learner.query_a, learner.query_b
        )
        return 1.0 if disagree else 0.0
    if not turn.disagree:
        return 0.0
    weights = work.even if learner.query == spec.QUERY_VOTES else work.w
    p = work.masses[: class_masses(turn.votes, weights, work.mass, work.masses)]
    if learner.query == spec.QUERY_VOTES:
        return _vote_entropy(p, turn.num_answers, num_classes)
    if learner.query == spec.QUERY_ENTROPY:
        return max(learner.query_a / sqrt(turn.t), _entropy(p, num_classes))
    return max(_variance(p), eta) if _classes_with_mass(p) > 1 else 0.0
