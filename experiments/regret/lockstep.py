"""Many streams side by side: every array of a round has a leading axis of S streams.

Each stream has a learner of its own; they weigh, ask and name alike, but may differ in rate, horizon and prior.
Operation for operation the arithmetic of `cams.learners`, in NumPy as there, so that each stream comes out to the last
bit as if its learner had been asked alone; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, sqrt
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.classes import ABSTAINS
from cams.engine import spec
from cams.learners import Learner
from cams.learners.cams import Cams
from cams.randomness import COIN, MODEL, POLICY, TIE
from experiments.regret.adaptive import Course
from experiments.regret.losses import labels_of
from experiments.regret.priors import Crowd, Priors

Array = npt.NDArray[np.float64]
Advice = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_RATES = (spec.RATE_ANYTIME, spec.RATE_BANDIT, spec.RATE_ADVERSARIAL_PROOF)
_QUERIES = (spec.QUERY_ENTROPY, spec.QUERY_VARIANCE, spec.QUERY_CONSTANT)
_RECOMMENDATIONS = (spec.RECOMMEND_MIXTURE, spec.RECOMMEND_SAMPLE_POLICY, spec.RECOMMEND_SAMPLE_MODEL)

# Fewer numbers than this numpy adds one after another, more in an order of its own.
IN_ORDER = 8


def can_march(learners: Sequence[Learner], bundle: Bundle) -> TypeGuard[Sequence[Cams]]:
    """Say whether learners can be played in lockstep; others are asked one round at a time."""
    if not all(isinstance(learner, Cams) and _marches(learner) for learner in learners):
        return False
    alike = {_shared_part(learner) for learner in learners if isinstance(learner, Cams)}
    return len(alike) == 1 and bool((bundle.predictions != ABSTAINS).all())


def _marches(learner: Cams) -> bool:
    kernel = learner.kernel()
    return (
        kernel is not None
        and kernel.rate_kind in _RATES
        and kernel.query in _QUERIES
        and kernel.recommend in _RECOMMENDATIONS
        and not kernel.scaled
        and getattr(learner, "rho", "proof") == "proof"
    )


def _twin(learner: Cams) -> spec.KernelSpec:
    kernel = learner.kernel()
    assert kernel is not None, "a learner without a compiled twin does not march"
    return kernel


def _shared_part(learner: Cams) -> tuple[Any, ...]:
    """Return what the learners of all streams must have in common."""
    kernel = _twin(learner)
    return (learner.m, kernel.weigh, kernel.query, kernel.query_a, kernel.recommend, kernel.feedback, kernel.regularize)


class Sight(NamedTuple):
    """What is seen at some rows (..., one per stream or several): votes (..., k), which models are wrong, policies
    (..., m, k), their weights q (..., m) and the mixture w (..., k) of a learner as it stands, and what the crowd will
    have shown those with a prior."""

    rows: Integers
    votes: npt.NDArray[np.int32]
    wrong: Bools
    pi: Array
    q: Array
    w: Array
    crowd: Crowd | None

    def pick(self, chosen: Integers, with_prior: Integers) -> Sight:
        """Return what is seen at one of the several rows of each stream."""
        crowd = self.crowd and Crowd(*(_at(values, chosen[with_prior]) for values in self.crowd))
        rows, votes, wrong, pi, q, w = (_at(values, chosen) for values in self[:-1])
        return Sight(rows, votes, wrong, pi, q, w, crowd)


class Lockstep:
    """Learners of the CAMS family on S streams: each round `begin`, `see` rows, `name` models, `decide`."""

    def __init__(self, bundle: Bundle, learners: Sequence[Cams], advice: Advice) -> None:
        first, kernels = learners[0], [_twin(learner) for learner in learners]
        self.kernel, self.constants = kernels[0], first.constant_policies
        self.votes, self.truth, self.num_classes = bundle.predictions, labels_of(bundle), bundle.num_classes
        self.advice, self.size, streams = advice, first.m, len(learners)
        self.rate = np.array([kernel.rate for kernel in kernels])
        self.by_evidence = np.array([kernel.by_evidence for kernel in kernels])
        self.arms = np.array([bundle.num_models if k.rate_kind == spec.RATE_BANDIT else 1 for k in kernels])
        self.knows_horizon = np.array([kernel.rate_kind == spec.RATE_ADVERSARIAL_PROOF for kernel in kernels])
        self.some_know_horizon = bool(self.knows_horizon.any())
        self.horizon_factor = np.sqrt(log(self.size) / np.array([learner.problem.horizon or 1 for learner in learners]))
        self.keeps_mass = np.array([hasattr(learner, "largest_mass") for learner in learners])
        self.some_keep_mass = bool(self.keeps_mass.any())
        self.first_bins = bundle.num_classes * np.arange(streams)[:, None]
        self.priors = Priors(learners, bundle.num_models)
        self.t = 0
        self.L = np.zeros((streams, self.size))
        self.evidence, self.largest_mass = np.zeros(streams), np.zeros(streams)

    def begin(self) -> None:
        """Start a round: the rates of every stream, and what labels alone say of its policies."""
        self.t += 1
        self.eta = self._rates()
        self.exponents = self.eta[:, None] * (self.L - self.L.min(axis=1, keepdims=True))
        self.q = _weights(self.exponents)

    def _rates(self) -> Array:
        clock = np.where(self.by_evidence, np.maximum(1.0, self.evidence), float(self.t))
        rates: Array = self.rate * np.sqrt(log(self.size) / (self.arms * clock))
        if not self.some_know_horizon:
            return rates
        c = max(2, self.num_classes)
        rho = np.maximum(0.0, 1.0 - self.largest_mass)
        adversarial = self.rate * np.sqrt(1 / sqrt(self.t) + rho / (c**2 * log(c))) * self.horizon_factor
        return np.where(self.knows_horizon, adversarial, rates)

    def see(self, rows: Integers) -> Sight:
        """Look at rows (S,), or at several for each stream (S, C), without deciding anything."""
        votes, pi = self.votes[rows], self._policies(rows)
        q, crowd = self._weights_for(votes, pi)
        w = (q[..., None, :] @ pi)[..., 0, :]
        return Sight(rows, votes, votes != self.truth[rows][..., None], pi, q, w, crowd)

    def _weights_for(self, votes: npt.NDArray[np.int32], pi: Array) -> tuple[Array, Crowd | None]:
        """Return q (..., m): a prior looks at the votes of the round itself as well, so that rows differ in it."""
        several, lanes = votes.ndim > 2, self.priors.lanes
        q = np.broadcast_to(self.q[:, None, :] if several else self.q, pi.shape[:-1])
        if lanes.size == 0:
            return q, None
        crowd = self.priors.after(votes[lanes], pi[lanes])
        exponents = self.exponents[lanes]
        q = q.copy()
        q[lanes] = _weights((exponents[:, None, :] if several else exponents) + self.priors.penalties(crowd))
        return q, crowd

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
            models = _sample(_at(seen.pi, _sample(seen.q, uniforms[..., POLICY])), uniforms[..., MODEL])
        return models, _at(seen.w, models)

    def expected_loss(self, seen: Sight, models: Integers, probabilities: Array) -> Array:
        """Return the chance that each answer is wrong, before the learner's coins are known."""
        drawn = (seen.w[..., None, :] @ seen.wrong[..., :, None])[..., 0, 0]
        return np.where(probabilities < 1, drawn, _at(seen.wrong, models))

    def decide(self, seen: Sight, models: Integers, probabilities: Array, coins: Array) -> Bools:
        """Buy labels by the coins (S,), learn from those bought, and return which they are."""
        disagree = (seen.votes != seen.votes[:, :1]).any(axis=1)
        needs_mass = self.some_keep_mass or self.kernel.query != spec.QUERY_CONSTANT
        mass = self._class_mass(seen) if needs_mass else np.empty((0, 0))
        z = np.minimum(1.0, self._query_probability(disagree, mass))
        bought = coins < z
        if self.some_keep_mass:
            largest = np.maximum(self.largest_mass, mass.max(axis=1))
            self.largest_mass = np.where(disagree & self.keeps_mass, largest, self.largest_mass)
        self._learn(seen, np.flatnonzero(bought), models, probabilities, z)
        if seen.crowd:
            self.priors.learn(seen.crowd, bought)
        return bought

    def _class_mass(self, seen: Sight) -> Array:
        """Return (S, c) the mass of models voting for each class."""
        streams, c = len(seen.votes), self.num_classes
        bins = seen.votes + self.first_bins
        mass: Array = np.bincount(bins.ravel(), weights=seen.w.ravel(), minlength=streams * c).astype(np.float64)
        return mass.reshape(streams, c)

    def _query_probability(self, disagree: Bools, mass: Array) -> Array:
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
        # One number at a time, as there: an array's square may differ from a number's in the last bit.
        self.evidence[bought] += [1 / probability**2 for probability in z[bought].tolist()]


def march(
    bundle: Bundle, learners: Sequence[Cams], advice: Advice, coins: Array, adversary: Callable[[Lockstep, int], Sight]
) -> list[Course]:
    """Play S streams, one for each learner, coins (S, T, 4), on the rows that an adversary shows each at round t."""
    streams, horizon = coins.shape[:2]
    lanes = Lockstep(bundle, learners, advice)
    order, wrong, bought = np.empty((3, horizon, streams), dtype=np.int64)
    expected, largest_mass, evidence = np.empty((3, horizon, streams))
    for t in range(horizon):
        lanes.begin()
        seen = adversary(lanes, t)
        models, probabilities = lanes.name(seen, coins[:, t])
        order[t], wrong[t] = seen.rows, _at(seen.wrong, models)
        expected[t] = lanes.expected_loss(seen, models, probabilities)
        bought[t] = lanes.decide(seen, models, probabilities, coins[:, t, COIN])
        largest_mass[t], evidence[t] = lanes.largest_mass, lanes.evidence
    loss, expected_loss, queries = wrong.cumsum(axis=0), expected.cumsum(axis=0), bought.cumsum(axis=0)
    return [
        Course(order[:, s], loss[:, s], expected_loss[:, s], queries[:, s], largest_mass[:, s], evidence[:, s])
        for s in range(streams)
    ]


def _weights(exponents: Array) -> Array:
    """Return exponential weights (..., m), as `cams.learners.base.exponential_weights` does."""
    q = np.exp(exponents.min(axis=-1, keepdims=True) - exponents)
    weights: Array = q / q.sum(axis=-1, keepdims=True)
    return weights


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
    entropy: Array = -(_sums_of_few(loss, inside) if c < IN_ORDER else _sums_of_many(loss, inside)) / (c * log(c))
    return entropy


def _sums_of_few(loss: Array, inside: Bools) -> Array:
    """Return the sums over the classes inside of loss * ln loss; so few are added in order, and 0 changes nothing."""
    kept = np.where(inside, loss, 1.0)
    sums: Array = (kept * np.log(kept)).sum(axis=1)
    return sums


def _sums_of_many(loss: Array, inside: Bools) -> Array:
    """Return the same where the order in which numpy adds depends on how many there are: as many go together."""
    counts = inside.sum(axis=1)
    sums = np.empty(len(loss))
    for count in set(counts.tolist()):
        some = counts == count
        terms = loss[some][inside[some]].reshape(np.count_nonzero(some), count)
        sums[some] = (terms * np.log(terms)).sum(axis=1)
    return sums
