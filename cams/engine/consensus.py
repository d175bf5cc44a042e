"""The consensus prior of `cams.learners.prior`, compiled: who is odd, before any label says so.

It depends on the stream alone, so all budgets of a curve share it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cams.engine.arithmetic import add_expected, tie_bar
from cams.engine.compiled import Array, compiled, compiled_making_arrays
from cams.engine.spec import KernelSpec

# A vote that no model has, not even one without an answer.
_NOBODYS = np.int32(-2)


class Consensus(NamedTuple):
    """What the rounds with disagreement have shown so far.

    rounds      (1,)    how many there were
    agreements  (k, k)  on how many of them two models predicted the same; empty if votes are not shared
    oddness     (m,)    the sum of <pi_i(x_t), miss_t> of what is weighed, miss_t as below
    mean        (m,)    oddness / rounds, Dbar
    weights     (k,)    how much each model's vote counts
    misses, tally       work space: how far each model (k,) is off the plurality, votes for each label (c,)
    """

    rounds: Array
    agreements: Array
    oddness: Array
    mean: Array
    weights: Array
    misses: Array
    tally: Array


@compiled_making_arrays
def new_consensus(learner: KernelSpec, size: int, k: int, num_classes: int) -> Consensus:
    used = learner.prior > 0.0
    pairs = k if used and learner.shared_votes else 0
    return Consensus(
        np.zeros(1),
        np.zeros((pairs, pairs)),
        np.zeros(size if used else 0),
        np.zeros(size if used else 0),
        np.ones(k),
        np.zeros(k),
        np.zeros(num_classes),
    )


@compiled
def _share_votes(votes: Array, rounds: float, agreements: Array, weights: Array) -> None:
    """Count who agreed on this round; a model votes with 1 / sum_l a_jl^4, so that copies count about as one.

    A model without an answer agrees with nobody, but still is its own copy.
    """
    share = 1.0 / rounds
    for j in range(votes.size):
        total = 0.0
        vote, with_others = votes[j], agreements[j]
        if vote < 0:
            with_others[j] += 1.0
            vote = _NOBODYS
        for other in range(votes.size):
            with_others[other] += 1.0 if votes[other] == vote else 0.0
            a = with_others[other] * share
            total += (a * a) * (a * a)
        weights[j] = 1.0 / total


@compiled
def _miss_plurality(votes: Array, weights: Array, tally: Array, misses: Array) -> None:
    """Write how far each model is off the label with most votes; labels that tie for it share the blame.

    A model without an answer has no vote, and misses.
    """
    for j in range(votes.size):
        tally[votes[j]] = 0.0
    for j in range(votes.size):
        tally[votes[j]] += weights[j] if votes[j] >= 0 else 0.0
    top = 0.0
    for j in range(votes.size):
        top = max(top, tally[votes[j]])
    bar = tie_bar(top)
    tied = 0
    for j in range(votes.size):
        # A label once counted is marked by a tally above all others.
        misses[j] = 0.0 if votes[j] >= 0 and tally[votes[j]] >= bar else 1.0
        if misses[j] == 0.0 and tally[votes[j]] <= top:
            tied += 1
            tally[votes[j]] = np.inf
    for j in range(votes.size):
        if misses[j] == 0.0:
            misses[j] = 1.0 - 1.0 / tied


@compiled
def take_in_votes(learner: KernelSpec, votes: Array, pi: Array, on: float, off: float, consensus: Consensus) -> None:
    """Take in a round on which models disagree."""
    consensus.rounds[0] += 1.0
    rounds = consensus.rounds[0]
    if learner.shared_votes:
        _share_votes(votes, rounds, consensus.agreements, consensus.weights)
    _miss_plurality(votes, consensus.weights, consensus.tally, consensus.misses)
    add_expected(learner.weigh, pi, on, off, consensus.misses, consensus.oddness)
    for i in range(consensus.mean.size):
        consensus.mean[i] = consensus.oddness[i] / rounds


@compiled
def strength(learner: KernelSpec, labels: float) -> float:
    """Return K / (1 + s/s0): how much the prior counts after s labels."""
    return learner.prior / (1.0 + labels / learner.fade)
