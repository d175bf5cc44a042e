"""The consensus priors of many learners side by side, each as `cams.learners.prior` has it, to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cams.learners.cams import Cams

Array = npt.NDArray[np.float64]
Votes = npt.NDArray[np.int32]


class Crowd(NamedTuple):
    """What rounds with disagreement have shown, for S learners (..., S first): how many there were (...,), on how many
    two models predicted the same (..., k, k), and the sums behind Dbar (..., m)."""

    rounds: Array
    agreements: Array
    oddness: Array


class Priors:
    """The priors of those of many learners that have one; `lanes` says which they are."""

    def __init__(self, learners: Sequence[Cams], num_models: int) -> None:
        self.lanes = np.array([i for i, learner in enumerate(learners) if learner.prior.strength > 0], dtype=np.int64)
        with_prior = [learners[i] for i in self.lanes]
        self.strength = np.array([learner.prior.strength for learner in with_prior])
        self.fade = np.array([learner.prior.fade for learner in with_prior])
        self.shared = np.array([learner.prior.shared for learner in with_prior], dtype=np.bool_)
        self.all_share = bool(self.shared.all())
        count, size = len(with_prior), learners[0].m
        self.crowd = Crowd(np.zeros(count), np.zeros((count, num_models, num_models)), np.zeros((count, size)))
        self.labels = np.zeros(count)
        # K / (1 + s/s0) as it now is.
        self.faded = self.strength

    def after(self, votes: Votes, pi: Array) -> Crowd:
        """Return what will have been shown after a round with votes (S, ..., k) and policies (S, ..., m, k)."""
        old = Crowd(*(_beside(values, votes.ndim - 2) for values in self.crowd))
        same = votes[..., :, None] == votes[..., None, :]
        disagree = ~same[..., 0, :].all(axis=-1)
        agreements = old.agreements + same
        # Where all agree nobody misses the plurality, so that nothing is added.
        misses = _misses_of_plurality(same, self._vote_weights(agreements, old.rounds + 1))
        return Crowd(
            old.rounds + disagree,
            np.where(disagree[..., None, None], agreements, old.agreements),
            old.oddness + (pi @ misses[..., None])[..., 0],
        )

    def _vote_weights(self, agreements: Array, rounds: Array) -> Array:
        """Return (S, ..., k) how much each model's vote counts."""
        shares = agreements / rounds[..., None, None]
        squares = shares * shares
        weights: Array = 1 / (squares * squares).sum(axis=-1)
        return weights if self.all_share else np.where(_beside(self.shared, weights.ndim - 1), weights, 1.0)

    def penalties(self, crowd: Crowd) -> Array:
        """Return (S, ..., m) what is subtracted from each log-weight."""
        extra = crowd.oddness.ndim - 1
        penalties: Array = _beside(self.faded, extra) * crowd.oddness / np.maximum(1, crowd.rounds)[..., None]
        return penalties

    def learn(self, crowd: Crowd, bought: npt.NDArray[np.bool_]) -> None:
        """Take in a round, and which of all learners (S,) bought its label."""
        self.crowd = crowd
        self.labels += bought[self.lanes]
        self.faded = self.strength / (1 + self.labels / self.fade)


def _beside(values: npt.NDArray[Any], extra: int) -> npt.NDArray[Any]:
    """Give an array as many axes of length 1 after its first as there are rows to look at beside each other."""
    return values.reshape(values.shape[0], *(1,) * extra, *values.shape[1:]) if extra else values


def _misses_of_plurality(same: npt.NDArray[np.bool_], weights: Array) -> Array:
    """Return (..., k) how far each model is off the label with most votes, labels that tie for it sharing the blame.

    `same` (..., k, k) says which models predict the same, `weights` (..., k) how much each one's vote counts.
    """
    tally = (same * weights[..., None, :]).sum(axis=-1)
    tied = tally >= tally.max(axis=-1, keepdims=True) * (1 - 1e-12)
    # A label that ties is counted once, however many models predict it: each adds its part.
    labels = np.rint((tied / same.sum(axis=-1)).sum(axis=-1, keepdims=True))
    misses: Array = np.where(tied, (labels - 1) / labels, 1.0)
    return misses
