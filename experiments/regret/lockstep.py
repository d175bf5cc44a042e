"""Many streams of one learner side by side: every array of a round has a leading axis of S streams.

Operation for operation the arithmetic of `cams.learners`, in NumPy as there, so that each stream comes out to the last
bit as if its learner had been asked alone; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.engine import spec
from cams.learners import Learner
from cams.learners.cams import Cams
from cams.randomness import COIN, MODEL, POLICY, TIE
from experiments.regret.adaptive import Course
from experiments.regret.losses import labels_of

Array = npt.NDArray[np.float64]
Advice = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]

_RATES = (spec.RATE_ANYTIME, spec.RATE_BANDIT, spec.RATE_ADVERSARIAL_PROOF)
_QUERIES = (spec.QUERY_ENTROPY, spec.QUERY_VARIANCE, spec.QUERY_CONSTANT)
_RECOMMENDATIONS = (spec.RECOMMEND_MIXTURE, spec.RECOMMEND_SAMPLE_POLICY, spec.RECOMMEND_SAMPLE_MODEL)


def can_march(learner: Learner) -> TypeGuard[Cams]:
    """Say whether streams of a learner can be played in lockstep; others are asked one round at a time."""
    kernel = learner.kernel() if isinstance(learner, Cams) else None
    return (
        kernel is not None
        and kernel.rate_kind in _RATES
        and kernel.query in _QUERIES
        and kernel.recommend in _RECOMMENDATIONS
        and not kernel.scaled
        and not kernel.by_evidence
        and kernel.prior == 0
    )


class Sight(NamedTuple):
    """What is seen at some rows (..., one per stream or several): votes (..., k), policies (..., m, k) and the mixture
    w (..., k) of the learner as it stands, and which models are wrong."""

    rows: Integers
    votes: npt.NDArray[np.int32]
    wrong: npt.NDArray[np.bool_]
    pi: Array
    w: Array

    def pick(self, chosen: Integers) -> Sight:
        """Return what is seen at one of the several rows of each stream."""
        return Sight(*(_at(values, chosen) for values in self))


class Lockstep:
    """A learner of the CAMS family on S streams: each round `begin`, `see` rows, `name` models, `decide`."""

    def __init__(self, bundle: Bundle, learner: Cams, advice: Advice, streams: int) -> None:
        self.kernel, self.constants = learner.kernel(), learner.constant_policies
        self.votes, self.truth, self.num_classes = bundle.predictions, labels_of(bundle), bundle.num_classes
        self.advice, self.horizon, self.size = advice, learner.problem.horizon or 0, learner.m
        self.t = 0
        self.L = np.zeros((streams, learner.m))
        self.largest_mass = np.zeros(streams)
        self.q = self.L

    def begin(self) -> None:
        """Start a round: the weights q of every stream's policies."""
        self.t += 1
        self.eta = self._rates()
        q = np.exp(-self.eta[:, None] * (self.L - self.L.min(axis=1, keepdims=True)))
        self.q = q / q.sum(axis=1, keepdims=True)

    def _rates(self) -> Array:
        kernel, k, streams = self.kernel, self.votes.shape[1], len(self.L)
        if kernel.rate_kind == spec.RATE_ANYTIME:
            return np.full(streams, kernel.rate * sqrt(log(self.size) / self.t))
        if kernel.rate_kind == spec.RATE_BANDIT:
            return np.full(streams, kernel.rate * sqrt(log(self.size) / (k * self.t)))
        c = max(2, self.num_classes)
        rho = np.maximum(0.0, 1.0 - self.largest_mass)
        factor = sqrt(log(self.size) / self.horizon)
        return kernel.rate * np.sqrt(1 / sqrt(self.t) + rho / (c**2 * log(c))) * factor

    def see(self, rows: Integers) -> Sight:
        """Look at rows (S,), or at several for each stream (S, C), without deciding anything."""
        votes, pi = self.votes[rows], self._policies(rows)
        q = self._weights_for(rows)[..., None, :]
        return Sight(rows, votes, votes != self.truth[rows][..., None], pi, (q @ pi)[..., 0, :])

    def _weights_for(self, rows: Integers) -> Array:
        """Return q (S, m), or (S, 1, m) where each stream has several rows."""
        return self.q if rows.ndim == 1 else self.q[:, None, :]

    def _policies(self, rows: Integers) -> Array:
        k = self.votes.shape[1]
        if self.kernel.weigh == spec.WEIGH_MODELS:
            return np.broadcast_to(self.constants, (*rows.shape, k, k))
        n = self.advice.shape[1]
        pi = np.empty((*rows.shape, self.size, k))
        pi[..., :n, :] = self.advice[rows]
        if self.kernel.weigh == spec.WEIGH_EXTENDED:
            pi[..., n:, :] = self.constants
        return pi

    def name(self, seen: Sight, uniforms: Array) -> tuple[Integers, Array]:
        """Return models and the probabilities with which they were drawn (1 where nothing was drawn)."""
        if self.kernel.recommend == spec.RECOMMEND_MIXTURE:
            models = _pick_tied(seen.w, uniforms[..., TIE])
            return models, np.ones(models.shape)
        if self.kernel.recommend == spec.RECOMMEND_SAMPLE_MODEL:
            models = _sample(seen.w, uniforms[..., MODEL])
        else:
            drawn = _sample(self._weights_for(seen.rows), uniforms[..., POLICY])
            policies = drawn if drawn.shape == seen.rows.shape else np.repeat(drawn, seen.rows.shape[1], axis=1)
            models = _sample(_at(seen.pi, policies), uniforms[..., MODEL])
        return models, _at(seen.w, models)

    def expected_loss(self, seen: Sight, models: Integers, probabilities: Array) -> Array:
        """Return the chance that each answer is wrong, before the learner's coins are known."""
        drawn = (seen.w[..., None, :] @ seen.wrong[..., :, None])[..., 0, 0]
        return np.where(probabilities < 1, drawn, _at(seen.wrong, models))

    def decide(self, seen: Sight, models: Integers, probabilities: Array, coins: Array) -> npt.NDArray[np.bool_]:
        """Buy labels by the coins (S,), learn from those bought, and return which they are."""
        disagree = (seen.votes != seen.votes[:, :1]).any(axis=1)
        mass = self._class_mass(seen) if self.kernel.query != spec.QUERY_CONSTANT else np.empty((0, 0))
        z = np.minimum(1.0, self._query_probability(disagree, mass))
        bought = coins < z
        if self.kernel.rate_kind == spec.RATE_ADVERSARIAL_PROOF:
            largest = np.maximum(self.largest_mass, mass.max(axis=1))
            self.largest_mass = np.where(disagree, largest, self.largest_mass)
        self._learn(seen, np.flatnonzero(bought), models, probabilities, z)
        return bought

    def _class_mass(self, seen: Sight) -> Array:
        """Return (S, c) the mass of models voting for each class."""
        streams, c = len(seen.votes), self.num_classes
        bins = seen.votes + c * np.arange(streams)[:, None]
        mass: Array = np.bincount(bins.ravel(), weights=seen.w.ravel(), minlength=streams * c).astype(np.float64)
        return mass.reshape(streams, c)

    def _query_probability(self, disagree: npt.NDArray[np.bool_], mass: Array) -> Array:
        kernel = self.kernel
        if kernel.query == spec.QUERY_CONSTANT:
            return np.full(len(disagree), kernel.query_a)
        if kernel.query == spec.QUERY_ENTROPY:
            z = np.maximum(kernel.query_a / sqrt(self.t), _disagreement(mass))
        else:
            z = np.maximum((mass * (1.0 - mass)).max(axis=1), self.eta)
            disagree = disagree & ((mass > 1e-300).sum(axis=1) > 1)
        return np.where(disagree, z, 0.0)

    def _learn(self, seen: Sight, bought: Integers, models: Integers, probabilities: Array, z: Array) -> None:
        if self.kernel.feedback == spec.FEEDBACK_BANDIT:
            played = models[bought]
            lhat = np.zeros((len(bought), self.votes.shape[1]))
            divisor = z[bought] * probabilities[bought]
            lhat[np.arange(len(bought)), played] = seen.wrong[bought, played] / divisor
        else:
            lhat = seen.wrong[bought] / z[bought, None]
        self.L[bought] += (seen.pi[bought] @ lhat[..., None])[..., 0]


def march(
    bundle: Bundle, learner: Cams, advice: Advice, coins: Array, adversary: Callable[[Lockstep, int], Sight]
) -> list[Course]:
    """Play S streams of a learner, coins (S, T, 4), on the rows that an adversary shows each at round t."""
    streams, horizon = coins.shape[:2]
    lanes = Lockstep(bundle, learner, advice, streams)
    order, wrong, bought = np.empty((3, horizon, streams), dtype=np.int64)
    expected, largest_mass = np.empty((2, horizon, streams))
    for t in range(horizon):
        lanes.begin()
        seen = adversary(lanes, t)
        models, probabilities = lanes.name(seen, coins[:, t])
        order[t], wrong[t] = seen.rows, _at(seen.wrong, models)
        expected[t] = lanes.expected_loss(seen, models, probabilities)
        bought[t] = lanes.decide(seen, models, probabilities, coins[:, t, COIN])
        largest_mass[t] = lanes.largest_mass
    loss, expected_loss, queries = wrong.cumsum(axis=0), expected.cumsum(axis=0), bought.cumsum(axis=0)
    return [
        Course(order[:, s], loss[:, s], expected_loss[:, s], queries[:, s], largest_mass[:, s]) for s in range(streams)
    ]


def _at(values: npt.NDArray[Any], chosen: Integers) -> npt.NDArray[Any]:
    """Return values (..., x, ...) at one of the x for each leading index (...)."""
    flat = values.reshape(chosen.size, *values.shape[chosen.ndim :])
    return flat[np.arange(chosen.size), chosen.ravel()].reshape(chosen.shape + flat.shape[2:])


def _pick_tied(scores: Array, uniforms: Array) -> Integers:
    """Return the argmax of scores (..., k); the uniforms (...) pick among those that tie."""
    top = scores.max(axis=-1, keepdims=True)
    tied = scores >= top - 1e-12 * np.abs(top)
    rank = tied.cumsum(axis=-1)
    wanted = (uniforms * rank[..., -1]).astype(np.int64)
    picked: Integers = (rank > wanted[..., None]).argmax(axis=-1)
    return picked


def _sample(probabilities: Array, uniforms: Array) -> Integers:
    """Return indices drawn from probabilities (..., k) by inversion."""
    cumulative = probabilities.cumsum(axis=-1)
    drawn = (cumulative <= (uniforms * cumulative[..., -1])[..., None]).sum(axis=-1)
    index: Integers = np.minimum(drawn, probabilities.shape[-1] - 1)
    return index


def _disagreement(mass: Array) -> Array:
    """Return E (S,) for class masses (S, c)."""
    c = mass.shape[1]
    loss = 1.0 - mass
    inside = (loss > 0) & (loss < 1)
    counts = inside.sum(axis=1)
    total = np.empty(len(mass))
    # The order in which numpy sums depends on how many there are, so streams with as many terms go together.
    for count in set(counts.tolist()):
        some = counts == count
        terms = loss[some][inside[some]].reshape(np.count_nonzero(some), count)
        total[some] = (terms * np.log(terms)).sum(axis=1)
    entropy: Array = -total / (c * log(c))
    return entropy
