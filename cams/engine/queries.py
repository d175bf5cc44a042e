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
def class_masses(votes: Array, w: Array, mass: Array, masses: Array) -> Array:
    """Return p_y of all classes that have a vote, each once; of classes without one, 0 or nothing.

    mass (c,) and masses (k,) are work space. Where classes are many, only those with a vote are looked at.
    """
    if mass.size <= votes.size:
        mass[:] = 0.0
        for j in range(votes.size):
            mass[votes[j]] += w[j]
        return mass
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
    return masses[:count]


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
    masses: Array,
) -> float:
    """Return z_t before scaling; a and b are the rule's constants, mass and masses work space."""
    if rule == spec.QUERY_CONSTANT:
        return a
    if rule == spec.QUERY_SURVIVORS:
        # Every round counts here, for models are dropped by a bar that moves with t.
        return 1.0 if _survivors_disagree(votes, model_losses, alive, t, a, b) else 0.0
    if not disagree:
        return 0.0
    p = class_masses(votes, w, mass, masses)
    if rule == spec.QUERY_VOTES:
        return _vote_entropy(p, votes.size, num_classes)
    if rule == spec.QUERY_ENTROPY:
        return max(a / sqrt(t), _entropy(p, num_classes))
    return max(_variance(p), eta) if _classes_with_mass(p) > 1 else 0.0
