"""A slot's learning rate, its exponential weights, and their mixture over the models."""

from __future__ import annotations

from math import log, sqrt

from cams.engine import spec
from cams.engine.answers import mix_answers
from cams.engine.arithmetic import mix, weigh, weigh_with_prior
from cams.engine.compiled import Array, compiled_inline
from cams.engine.consensus import strength
from cams.engine.state import Game, Scratch, Stream, Turn, some_abstain, total_rounds


@compiled_inline
def rate_at(game: Game, t: int, evidence: float, mass: float) -> float:
    """Return eta_t; `mass` is the largest class mass so far, which only the adversarial rates look at."""
    learner, stream, log_size = game.learner, game.stream, game.traits.log_size
    clock = max(1.0, evidence) if learner.by_evidence else float(t)
    if learner.rate_kind == spec.RATE_ANYTIME:
        return learner.rate * sqrt(log_size / clock)
    if learner.rate_kind == spec.RATE_BANDIT:
        return learner.rate * sqrt(log_size / (stream.predictions.shape[1] * clock))
    c = max(2, stream.num_classes)
    rho = max(0.0, 1.0 - mass)
    return learner.rate * sqrt(1.0 / sqrt(t) + rho / (c**2 * log(c))) * sqrt(log_size / total_rounds(stream))


@compiled_inline
def rate_of(game: Game, slot: int, t: int) -> float:
    return rate_at(game, t, game.state.evidence[slot], game.state.largest_mass[slot])


@compiled_inline
def weigh_slot(game: Game, slot: int, eta: float, q: Array) -> float:
    """Write a slot's weights, the largest 1, into q and return their sum."""
    losses, work = game.state.policy_losses[slot], game.work
    if game.learner.prior > 0.0:
        faded = strength(game.learner, game.state.labels[slot])
        return weigh_with_prior(losses, eta, game.consensus.mean, faded, q, work.low_bits, work.high_bits)
    return weigh(losses, eta, q, work.low_bits, work.high_bits)


@compiled_inline
def mix_models(weighed: int, stream: Stream, turn: Turn, total: float, work: Scratch) -> None:
    """Write the mixture of the weights in the work space, over the models that answer."""
    pi, on, off = turn.pi, stream.on, stream.off
    if some_abstain(turn):
        mix_answers(pi, work.q, total, weighed, on, off, work.reach, work.even, work.heard, work.w)
    else:
        mix(pi, work.q, total, weighed, on, off, work.w)
