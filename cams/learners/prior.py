"""A prior over policies from the stream itself: before any label, who keeps disagreeing with the others is odd."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cams.checks import number
from cams.classes import ABSTAINS
from cams.errors import InputError
from cams.learners.base import Floats

# K and s0 of `cams_plus`, chosen on the training side by the rule in conf/prep.yaml.
STRENGTH = 5.0
FADE = 3.0

VOTES = ("plain", "shared")


class ConsensusPrior:
    """A penalty K/(1 + s/s0) Dbar_i on the log-weight of policy i, s the labels that have come; K = 0 is no prior.

    On each round on which models disagree, v_t is the label with most votes; Dbar_i is the mean over these rounds, this
    one included, of <pi_i(x_t), [yhat_t != v_t]>. Labels whose votes are within 1e-12 (relative) of the most tie, and
    [yhat_t != v_t] is then averaged over them: no label comes first by its number. Votes are `plain`, 1 for each
    model, or `shared`: model j votes with 1 / sum_l a_jl^4, a_jl the share of these rounds on which j and l predicted
    the same, so that copies of one model count about as one.

    rounds      rounds with disagreement so far
    agreements  (k, k) on how many of them two models predicted the same, where votes are shared
    oddness     (m,) the sum behind Dbar
    labels      s
    """

    state_names: tuple[str, ...] = ()
    _memory: ClassVar[tuple[str, ...]] = ("rounds", "agreements", "oddness", "labels")

    def __init__(self, num_models: int, size: int, *, prior: float, fade: float, votes: str) -> None:
        if not isinstance(votes, str) or votes not in VOTES:
            raise InputError(f"votes is '{votes}', expected 'plain' or 'shared'")
        self.strength, self.fade = number("prior", prior, 0, 1e6), number("fade", fade, 1e-6)
        self.shared = votes == "shared"
        self.rounds, self.labels = 0, 0
        self.agreements: Floats = np.zeros((num_models, num_models))
        self.oddness: Floats = np.zeros(size)
        if self.strength > 0:
            self.state_names = self._memory

    def see(self, predictions: npt.NDArray[np.int32], pi: Floats) -> None:
        """Take in a round's votes (k,) and the advice (m, k) of what is weighed."""
        answers = predictions != ABSTAINS
        votes = predictions[answers]
        if self.strength == 0 or (votes == votes[0]).all():
            return
        self.rounds += 1
        if self.shared:
            # Two models that both abstain have not said the same; each still is its own copy.
            same = (predictions[:, None] == predictions) & answers
            self.agreements += same | np.eye(len(predictions), dtype=np.bool_)
        self.oddness += pi @ misses_of_plurality(predictions, self.vote_weights())

    def vote_weights(self) -> Floats:
        """Return (k,) how much each model's vote counts."""
        if not self.shared:
            return np.ones(len(self.agreements))
        weights: Floats = 1 / ((self.agreements / self.rounds) ** 4).sum(axis=1)
        return weights

    def learn(self) -> None:
        self.labels += 1

    def penalty(self) -> Floats:
        """Return (m,) what is subtracted from each log-weight."""
        strength = self.strength / (1 + self.labels / self.fade)
        penalty: Floats = strength * self.oddness / max(1, self.rounds)
        return penalty


def misses_of_plurality(predictions: npt.NDArray[np.int32], weights: Floats) -> Floats:
    """Return (k,) [yhat_j != v] for the label v with most votes, averaged over the labels that tie for it.

    A model that abstains has no vote, and misses.
    """
    answers = predictions != ABSTAINS
    votes = np.bincount(predictions[answers], weights=weights[answers])
    tied = np.flatnonzero(votes >= votes.max() * (1 - 1e-12))
    misses: Floats = (predictions[:, None] != tied).mean(axis=1)
    return misses
