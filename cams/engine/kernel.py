"""One realization of one learner, compiled.

All budgets of a curve run in one pass. Slot b of each state array is budget b's state. The slot after the spent
budgets is the live one, whose path all budgets share that are not yet spent. When the live budget is spent, its slot
stays behind as it is and a copy goes on as the live one: a spent budget never learns again, but still names a model
on every round, because the rate goes on falling.

The code follows `cams.learners` rule by rule; the tests hold the two to the same decisions.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from cams.engine import spec
from cams.engine.arithmetic import (
    certain_winner,
    draw,
    mix,
    mix_roughly,
    pick_tied,
    rough_margin,
    weigh,
    weigh_frozen,
)
from cams.engine.compiled import Array, compiled
from cams.engine.queries import label_mass, largest_class_mass, models_disagree, query_probability
from cams.engine.spec import KernelSpec
from cams.randomness import COIN, MODEL, POLICY, TIE

# In the mixtures of spent budgets, next to a heaviest policy of 1, one this light may be left out.
_LIGHT = 1e-9


class Stream(NamedTuple):
    """What is played: row ids (T,), the bundle's arrays, uniforms (T, 4), and what constant policies look like."""

    rows: Array
    predictions: Array
    labels: Array
    advice: Array
    uniforms: Array
    num_classes: int
    on: float
    off: float


class State(NamedTuple):
    """What a learner remembers, a slot per budget and one more; the last two belong to the live path alone.

    `factors` is what a frozen slot's mixture is multiplied with: its rewards where a contextual leader has any.
    """

    policy_losses: Array
    errors: Array
    rewards: Array
    factors: Array
    largest_mass: Array
    mistakes: Array
    model_losses: Array
    alive: Array


class Scratch(NamedTuple):
    """Work space: weights and mixture of one slot, all frozen slots' in single precision, and smaller things."""

    q: Array
    w: Array
    frozen_q: Array
    rough_q: Array
    rough_w: Array
    scores: Array
    lhat: Array
    mass: Array
    low_bits: Array
    high_bits: Array


@compiled
def _new_state(slots: int, size: int, k: int) -> State:
    return State(
        np.zeros((slots, size)),
        np.zeros((slots, k)),
        np.zeros((slots, k)),
        np.ones((slots, k), dtype=np.float32),
        np.zeros(slots),
        np.zeros(slots, dtype=np.int64),
        np.zeros(k),
        np.ones(k, dtype=np.bool_),
    )


@compiled
def _new_scratch(slots: int, size: int, k: int, num_classes: int) -> Scratch:
    return Scratch(
        np.zeros(size),
        np.zeros(k),
        np.zeros(slots * size),
        np.zeros((slots, size), dtype=np.float32),
        np.zeros((slots, k), dtype=np.float32),
        np.zeros(k),
        np.zeros(k),
        np.zeros(num_classes),
        np.zeros(slots * size, dtype=np.int64),
        np.zeros(slots * size, dtype=np.int64),
    )


@compiled
def _leave_behind(state: State, slot: int) -> None:
    """Freeze the live slot and go on with a copy of it in the next.

    Only differences of losses matter, so a frozen slot's smallest is made 0 once instead of on every round.
    """
    state.policy_losses[slot + 1] = state.policy_losses[slot]
    state.policy_losses[slot] -= state.policy_losses[slot].min()
    state.errors[slot + 1] = state.errors[slot]
    state.rewards[slot + 1] = state.rewards[slot]
    if state.rewards[slot].max() > 0:
        # Not normalised: a factor that all models share does not move the argmax.
        for j in range(state.factors.shape[1]):
            state.factors[slot, j] = state.rewards[slot, j]
    state.largest_mass[slot + 1] = state.largest_mass[slot]
    state.mistakes[slot + 1] = state.mistakes[slot]


@compiled
def _rate(learner: KernelSpec, log_size: float, k: int, num_classes: int, t: int, horizon: int, mass: float) -> float:
    if learner.rate_kind == spec.RATE_ANYTIME:
        return learner.rate * sqrt(log_size / t)
    if learner.rate_kind == spec.RATE_BANDIT:
        return learner.rate * sqrt(log_size / (k * t))
    c = max(2, num_classes)
    rho = max(0.0, 1.0 - mass)
    return learner.rate * sqrt(1.0 / sqrt(t) + rho / (c**2 * log(c))) * sqrt(log_size / horizon)


@compiled
def _name_by_policy(learner: KernelSpec, pi: Array, q: Array, on: float, off: float, u: Array, advice: Array) -> int:
    """Return the model named by one policy: the heaviest, or one drawn from q. advice (k,) is work space."""
    i = pick_tied(q, u[POLICY]) if learner.recommend == spec.RECOMMEND_BEST_POLICY else draw(q, u[POLICY])
    n = 0 if learner.weigh == spec.WEIGH_MODELS else pi.shape[0]
    if i < n:
        for j in range(advice.size):
            advice[j] = pi[i, j]
    else:
        advice[:] = off
        advice[i - n] = on
    if learner.recommend == spec.RECOMMEND_SAMPLE_POLICY:
        return draw(advice, u[MODEL])
    return pick_tied(advice, u[TIE])


@compiled
def _contextual_scores(rewards: Array, w: Array, has_policies: bool, scores: Array) -> None:
    """Write r * w, r the normalised rewards, uniform while there are none; r alone where there are no policies."""
    total = 0.0
    for j in range(rewards.size):
        total += rewards[j]
    for j in range(rewards.size):
        r = rewards[j] / total if total > 0 else 1.0 / rewards.size
        scores[j] = r * w[j] if has_policies else r


@compiled
def _name_model(
    learner: KernelSpec, stream: Stream, state: State, work: Scratch, slot: int, pi: Array, u: Array
) -> int:
    """Return a slot's model of this round, from its weights q and mixture w where it has any."""
    if learner.recommend == spec.RECOMMEND_MIXTURE:
        return pick_tied(work.w, u[TIE])
    if learner.recommend == spec.RECOMMEND_LEADER:
        for j in range(work.scores.size):
            work.scores[j] = -state.errors[slot, j]
        return pick_tied(work.scores, u[TIE])
    if learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER:
        _contextual_scores(state.rewards[slot], work.w, pi.shape[0] > 0, work.scores)
        return pick_tied(work.scores, u[TIE])
    if learner.recommend == spec.RECOMMEND_SAMPLE_MODEL:
        return draw(work.w, u[MODEL])
    return _name_by_policy(learner, pi, work.q, stream.on, stream.off, u, work.scores)


@compiled
def _name_frozen_roughly(
    learner: KernelSpec, stream: Stream, state: State, work: Scratch, frozen: int, pi: Array, eta: float, models: Array
) -> None:
    """Write every frozen slot's argmax model to models, -1 where single precision cannot tell.

    All frozen slots are mixed in one go. Their winner is nearly always clear; the rest is done again in full.
    """
    size, contextual = work.q.size, learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER
    weigh_frozen(state.policy_losses, frozen, eta, work.frozen_q, work.low_bits, work.high_bits)
    for slot in range(frozen):
        for i in range(size):
            work.rough_q[slot, i] = work.frozen_q[slot * size + i]
    # Where scores are mixtures times rewards, the winner may be light itself, and nothing may be left out.
    light = 0.0 if contextual else _LIGHT
    mix_roughly(pi, work.rough_q, frozen, learner.weigh, stream.on, stream.off, light, work.rough_w)
    margin = rough_margin(size, pi.shape[1], light)
    for slot in range(frozen):
        scores = work.rough_w[slot]
        if contextual:
            for j in range(scores.size):
                scores[j] *= state.factors[slot, j]
        models[slot] = certain_winner(scores, margin)


@compiled
def _learn(
    learner: KernelSpec, stream: Stream, state: State, work: Scratch, live: int, row: int, model: int, z: float
) -> None:
    """Take in a bought label: counts, importance-weighted losses of models, and of what is weighed."""
    votes, pi, label = stream.predictions[row], stream.advice[row], stream.labels[row]
    n, k = pi.shape
    lhat = work.lhat
    for j in range(k):
        wrong = 1.0 if votes[j] != label else 0.0
        lhat[j] = wrong / z
        state.errors[live, j] += wrong
        state.rewards[live, j] += 1.0 - wrong
        state.model_losses[j] += wrong / z
    if learner.recommend == spec.RECOMMEND_LEADER:
        return
    if learner.feedback == spec.FEEDBACK_BANDIT:
        for j in range(k):
            lhat[j] = lhat[j] / work.w[j] if j == model else 0.0
    losses = state.policy_losses[live]
    first = 0
    if learner.weigh != spec.WEIGH_MODELS:
        for i in range(n):
            total = 0.0
            for j in range(k):
                total += pi[i, j] * lhat[j]
            losses[i] += total
        first = n
    if learner.weigh != spec.WEIGH_POLICIES:
        everywhere = 0.0
        for j in range(k):
            everywhere += lhat[j]
        for j in range(k):
            losses[first + j] += (stream.on - stream.off) * lhat[j] + stream.off * everywhere


@compiled
def replay_realization(
    stream: Stream,
    learner: KernelSpec,
    hindsight_models: Array,
    budgets: Array,
    grid: Array,
    loss: Array,
    queries: Array,
    loss_trace: Array,
    queries_trace: Array,
) -> None:
    """Play one learner over one realization, all budgets in one pass.

    budgets (B,) ascend; grid (G,) are the rounds to record; hindsight_models (T,) is the oracle's model of each
    round, empty for the others. Results go to loss and queries (B,) and to the traces (B, G).
    """
    horizon, k, n = stream.rows.size, stream.predictions.shape[1], stream.advice.shape[1]
    num_budgets, num_classes = budgets.size, stream.num_classes
    size = n + k if learner.weigh == spec.WEIGH_EXTENDED else (n if learner.weigh == spec.WEIGH_POLICIES else k)
    log_size = log(size)
    state = _new_state(num_budgets + 1, size, k)
    work = _new_scratch(num_budgets + 1, size, k, num_classes)
    rough_models = np.full(num_budgets + 1, -1)

    by_hindsight = learner.recommend == spec.RECOMMEND_HINDSIGHT
    by_leader = learner.recommend == spec.RECOMMEND_LEADER
    by_context = learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER
    weighs = not by_leader and not (by_context and n == 0)
    by_argmax = weighs and (by_context or learner.recommend == spec.RECOMMEND_MIXTURE)
    adversarial = learner.rate_kind >= spec.RATE_ADVERSARIAL_PROOF
    always_mixes = by_argmax or adversarial or learner.recommend == spec.RECOMMEND_SAMPLE_MODEL
    query_reads_mixture = learner.query == spec.QUERY_ENTROPY or learner.query == spec.QUERY_VARIANCE
    bandit = learner.feedback == spec.FEEDBACK_BANDIT

    early = horizon // 10 if learner.scaled else 0
    early_labels, spent, frozen, recorded, model = 0, 0, 0, 0, 0
    scale = 1.0

    for step in range(horizon):
        t = step + 1
        while frozen < num_budgets and spent >= budgets[frozen]:
            _leave_behind(state, frozen)
            frozen += 1
        can_buy = frozen < num_budgets
        if early > 0 and t == early + 1:
            scale = (budgets[-1] - early_labels) / (horizon - early) * early / max(1, early_labels)
        row = stream.rows[step]
        votes, pi, label, u = stream.predictions[row], stream.advice[row], stream.labels[row], stream.uniforms[step]
        disagree = models_disagree(votes)
        eta = _rate(learner, log_size, k, num_classes, t, horizon, 0.0)
        if disagree and by_argmax and frozen > 1:
            _name_frozen_roughly(learner, stream, state, work, frozen, pi, eta, rough_models)

        # The live slot comes last, so that what the query rule and the update read below is its own.
        for slot in range(frozen + can_buy):
            is_live = slot == frozen
            # Where all models agree every choice costs the same, and only a bandit needs to know which it was.
            if not disagree and not (is_live and bandit):
                state.mistakes[slot] += votes[0] != label
                continue
            if by_argmax and not is_live and frozen > 1 and rough_models[slot] >= 0:
                state.mistakes[slot] += votes[rough_models[slot]] != label
                continue
            if adversarial:
                eta = _rate(learner, log_size, k, num_classes, t, horizon, state.largest_mass[slot])
            mixes = always_mixes or (is_live and query_reads_mixture)
            if weighs and (mixes or not by_hindsight):
                total = weigh(state.policy_losses[slot], eta, work.q, work.low_bits, work.high_bits)
                if mixes:
                    mix(pi, work.q, total, learner.weigh, stream.on, stream.off, work.w)
            if by_hindsight:  # noqa: SIM108 (a line of its own for each says more)
                model = hindsight_models[step]
            else:
                model = _name_model(learner, stream, state, work, slot, pi, u)
            state.mistakes[slot] += votes[model] != label
            if learner.rate_kind == spec.RATE_ADVERSARIAL_PROOF:
                largest = largest_class_mass(votes, work.w, work.mass)
                state.largest_mass[slot] = max(state.largest_mass[slot], largest)

        if can_buy:
            z = query_probability(
                learner.query, learner.query_a, learner.query_b, t, eta, votes, work.w, disagree, num_classes,
                state.model_losses, state.alive, work.mass,
            )  # fmt: skip
            z = min(1.0, z * scale)
            if u[COIN] < z:
                spent += 1
                early_labels += t <= early
                if learner.rate_kind == spec.RATE_ADVERSARIAL_LABEL:
                    mass = label_mass(votes, work.w, label, disagree)
                    state.largest_mass[frozen] = max(state.largest_mass[frozen], mass)
                _learn(learner, stream, state, work, frozen, row, model, z)

        if recorded < grid.size and grid[recorded] == t:
            for b in range(num_budgets):
                loss_trace[b, recorded] = state.mistakes[min(b, frozen)]
                queries_trace[b, recorded] = min(budgets[b], spent)
            recorded += 1

    for b in range(num_budgets):
        loss[b] = state.mistakes[min(b, frozen)]
        queries[b] = min(budgets[b], spent)
