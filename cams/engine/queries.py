"""The query rules of `cams.learners.queries`, compiled. votes (k,) are predicted labels, w (k,) the mixture."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from cams.engine import spec
from cams.engine.compiled import Array, compiled


@compiled
def models_disagree(votes: Array) -> bool:
    for j in range(1, votes.size):  # noqa: SIM110 (compiled code has no generators)
        if votes[j] != votes[0]:
            return True
    return False


@compiled
def class_mass(votes: Array, w: Array, mass: Array) -> None:
    """Write p_y into mass (c,) for every class that has a vote; other entries are left as they were."""
    for j in range(votes.size):
        mass[votes[j]] = 0.0
    for j in range(votes.size):
        mass[votes[j]] += w[j]


@compiled
def largest_class_mass(votes: Array, w: Array, mass: Array) -> float:
    class_mass(votes, w, mass)
    top = 0.0
    for j in range(votes.size):
        top = max(top, mass[votes[j]])
    return top


@compiled
def label_mass(votes: Array, w: Array, label: int, disagree: bool) -> float:
    """Return p_y of the true label; where all agree the mixture was not computed, and it is all or nothing."""
    if not disagree:
        return 1.0 if votes[0] == label else 0.0
    total = 0.0
    for j in range(votes.size):
        if votes[j] == label:
            total += w[j]
    return total


@compiled
def _entropy(votes: Array, mass: Array, num_classes: int) -> float:
    """Return E over the classes that have a vote, emptying the masses it has used, so that each counts once."""
    total = 0.0
    for j in range(votes.size):
        p = mass[votes[j]]
        mass[votes[j]] = 0.0
        loss = 1.0 - p
        if 0.0 < loss < 1.0:
            total -= loss * log(loss)
    return total / (num_classes * log(num_classes))


@compiled
def _variance(votes: Array, mass: Array) -> float:
    largest = 0.0
    for j in range(votes.size):
        p = mass[votes[j]]
        largest = max(largest, p * (1.0 - p))
    return largest


@compiled
def _vote_entropy(votes: Array, mass: Array, num_classes: int) -> float:
    k = votes.size
    for j in range(k):
        mass[votes[j]] = 0.0
    for j in range(k):
        mass[votes[j]] += 1.0 / k
    total = 0.0
    for j in range(k):
        p = mass[votes[j]]
        mass[votes[j]] = 0.0
        if p > 0:
            total -= p * log(p)
    return total / log(min(k, num_classes))


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
        if alive[j]:
            if first < 0:
                first = votes[j]
            elif votes[j] != first:
                return True
    return False


@compiled
def query_probability(
    rule: int,
    a: float,
    b: float,
    t: int,
    eta: float,
    votes: Array,
    w: Array,
    disagree: bool,
    num_classes: int,
    model_losses: Array,
    alive: Array,
    mass: Array,
) -> float:
    """Return z_t before scaling; a and b are the rule's constants."""
    if rule == spec.QUERY_CONSTANT:
        return a
    if rule == spec.QUERY_SURVIVORS:
        # Every round counts here, for models are dropped by a bar that moves with t.
        return 1.0 if _survivors_disagree(votes, model_losses, alive, t, a, b) else 0.0
    if not disagree:
        return 0.0
    if rule == spec.QUERY_VOTES:
        return _vote_entropy(votes, mass, num_classes)
    class_mass(votes, w, mass)
    if rule == spec.QUERY_ENTROPY:
        return max(a / sqrt(t), _entropy(votes, mass, num_classes))
    variance = _variance(votes, mass)
    return max(variance, eta) if variance > 0 else 0.0
