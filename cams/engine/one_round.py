"""One round of one learner, compiled, for the online selector: is the instance sound, and which model is named."""

from __future__ import annotations

from typing import Any

from cams.engine import spec
from cams.engine.answers import count_answers, first_answer, hear
from cams.engine.arithmetic import largest, weigh, weigh_with_prior
from cams.engine.compiled import Array, compiled, compiled_in_order
from cams.engine.consensus import Consensus, strength, take_in_votes
from cams.engine.naming import name_model
from cams.engine.queries import class_masses, models_disagree, query_probability
from cams.engine.spec import KernelSpec
from cams.engine.state import Scratch, State, Stream, Turn
from cams.engine.weighing import mix_models

SOUND = 0
NORMALISED = 1  # sound after division by the sums
BAD_PREDICTION = 2
BAD_ADVICE = 3


# In order, because what comes in may be NaN, and everything else here is compiled as if nothing were.
@compiled_in_order
def take_in(
    given: Array, least_class: int, num_classes: int, votes: Array, pi: Array, exact: float, tolerance: float
) -> int:
    """Check one instance: write its class numbers (k,) to votes, make every row of pi (n, k) sum to 1 in place.

    The least class is 0, or the number of a model that abstains where some do. Rows off by no more than `exact` stay as
    they are; one off by more than `tolerance` is wrong, not rounded.
    """
    for j in range(given.size):
        if not least_class <= given[j] < num_classes:
            return BAD_PREDICTION
        votes[j] = given[j]
    n, k = pi.shape
    all_exact = True
    for i in range(n):
        total, least = 0.0, 0.0
        for j in range(k):
            total += pi[i, j]
            least = min(least, pi[i, j])
        # Written so that NaN fails.
        if not (abs(total - 1.0) <= tolerance and least >= 0.0):
            return BAD_ADVICE
        all_exact = all_exact and abs(total - 1.0) <= exact
    if all_exact:
        return SOUND
    for i in range(n):
        total = 0.0
        for j in range(k):
            total += pi[i, j]
        for j in range(k):
            pi[i, j] /= total
    return NORMALISED


@compiled
def choose(
    learner: Any, stream: Any, state: Any, consensus: Any, work: Any, eta: float, t: int
) -> tuple[int, float, float]:
    """Return what `_choose` does, from plain tuples, which cross over to compiled code faster than those with names."""
    return _choose(KernelSpec(*learner), Stream(*stream), State(*state), Consensus(*consensus), Scratch(*work), eta, t)


@compiled
def _weigh(learner: KernelSpec, state: State, consensus: Consensus, work: Scratch, eta: float) -> float:
    """Write the weights, the largest 1, to the work space and return their sum."""
    losses = state.policy_losses[0]
    if learner.prior == 0.0:
        return weigh(losses, eta, work.q, work.low_bits, work.high_bits)
    # A learner keeps the sum alone, not the mean that the engine has beside it.
    faded = strength(learner, state.labels[0]) / max(1.0, consensus.rounds[0])
    return weigh_with_prior(losses, eta, consensus.oddness, faded, work.q, work.low_bits, work.high_bits)


@compiled
def _choose(
    learner: KernelSpec, stream: Stream, state: State, consensus: Consensus, work: Scratch, eta: float, t: int
) -> tuple[int, float, float]:
    """Return the model of round t, the probability with which its label is wanted, and the model's own probability.

    The stream has one row, the instance; the state has one slot, the learner's memory.
    """
    votes, pi = stream.predictions[0], stream.advice[0]
    answer, num_answers = first_answer(votes), count_answers(votes)
    turn = Turn(t, votes, pi, 0, stream.uniforms[0], pi, models_disagree(votes, answer), answer, num_answers)
    hear(learner.weigh, votes, pi, stream.on, stream.off, work.even, work.reach)
    if turn.disagree and learner.prior > 0.0:
        take_in_votes(learner, votes, pi, stream.on, stream.off, consensus)
    # Who follows the leader and has no policies weighs nothing.
    if state.policy_losses.size > 0:
        total = _weigh(learner, state, consensus, work, eta)
        mix_models(learner.weigh, stream, turn, total, work)
    model = name_model(learner, stream, state, work, turn, 0)
    drawn = learner.recommend == spec.RECOMMEND_SAMPLE_POLICY or learner.recommend == spec.RECOMMEND_SAMPLE_MODEL
    z = query_probability(learner, stream.num_classes, state, work, turn, eta)
    if turn.disagree and learner.rate_kind == spec.RATE_ADVERSARIAL_PROOF:
        count = class_masses(votes, work.w, work.mass, work.masses)
        state.largest_mass[0] = max(state.largest_mass[0], largest(work.masses[:count]))
    return model, z, work.w[model] if drawn else 1.0
