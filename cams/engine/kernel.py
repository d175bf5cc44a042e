"""One realization of one learner, compiled.

All budgets of a curve run in one pass. Slot b of each state array is budget b's state. The slot after the spent
budgets is the live one, whose path all budgets share that are not yet spent. When the live budget is spent, its slot
stays behind as it is and a copy goes on as the live one; `cams.engine.frozen` has what becomes of those left behind.

The code follows `cams.learners` rule by rule; the tests hold the two to the same decisions.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from cams.engine import spec
from cams.engine.arithmetic import copy_row, draw, mix, pick_tied, weigh
from cams.engine.compiled import Array, compiled, smaller, uncounted
from cams.engine.frozen import (
    BY_DRAW,
    BY_LEADERS,
    BY_MIXTURE,
    BY_RATES,
    IN_FULL,
    OPEN,
    Frozen,
    draw_between,
    judge_mixtures,
    largest_masses,
    list_best,
    list_heaviest,
    new_frozen,
    pick_leaders,
    set_ends,
    span_of,
    way_to_play,
)
from cams.engine.queries import class_masses, label_mass, models_disagree, query_probability
from cams.engine.spec import KernelSpec
from cams.engine.state import Scratch, State, Stream, new_scratch, new_state
from cams.engine.tiles import TILE_SLOTS, mix_roughly, rough_margin
from cams.randomness import COIN, MODEL, POLICY, TIE


@compiled
def _subtract_smallest(losses: Array) -> None:
    smallest = losses[0]
    for i in range(losses.size):
        smallest = smaller(smallest, losses[i])
    for i in range(losses.size):
        losses[i] -= smallest


@compiled
def _leave_behind(
    learner: KernelSpec, stream: Stream, way: int, state: State, slot: int, eta_now: float, eta_last: float,
    frozen: Frozen,
) -> None:  # fmt: skip
    """Freeze the live slot and go on with a copy of it in the next.

    Only differences of losses matter, so a frozen slot's smallest is made 0 once instead of on every round.
    """
    copy_row(state.policy_losses[slot], state.policy_losses[slot + 1])
    _subtract_smallest(state.policy_losses[slot])
    copy_row(state.errors[slot], state.errors[slot + 1])
    copy_row(state.rewards[slot], state.rewards[slot + 1])
    state.largest_mass[slot + 1] = state.largest_mass[slot]
    state.mistakes[slot + 1] = state.mistakes[slot]
    if way == BY_LEADERS:
        if learner.recommend == spec.RECOMMEND_LEADER:
            list_best(state.errors[slot], -1.0, slot, frozen)
        elif learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER:
            list_best(state.rewards[slot], 1.0, slot, frozen)
        elif learner.recommend == spec.RECOMMEND_BEST_POLICY:
            list_heaviest(state.policy_losses[slot], slot, eta_now, eta_last, 1.0, 0.0, frozen)
        else:
            list_heaviest(state.policy_losses[slot], slot, eta_now, eta_last, stream.on, stream.off, frozen)
    if way == BY_MIXTURE and learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER:
        most = state.rewards[slot].max()
        # While nobody was right all count alike.
        for j in range(state.rewards.shape[1]):
            frozen.factors[slot, j] = state.rewards[slot, j] / most if most > 0 else 1.0


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
def _names_policy(learner: KernelSpec) -> bool:
    """Say whether a policy is chosen first, and then the model it advises."""
    return (
        learner.recommend == spec.RECOMMEND_BEST_POLICY
        or learner.recommend == spec.RECOMMEND_RANDOM_POLICY
        or learner.recommend == spec.RECOMMEND_SAMPLE_POLICY
    )


@compiled
def _model_of_policy(learner: KernelSpec, stream: Stream, pi: Array, i: int, u: Array, advice: Array) -> int:
    """Return the model that policy i advises: its favourite, or one drawn. advice (k,) is work space."""
    n = 0 if learner.weigh == spec.WEIGH_MODELS else pi.shape[0]
    if i < n:
        for j in range(advice.size):
            advice[j] = pi[i, j]
    else:
        advice[:] = stream.off
        advice[i - n] = stream.on
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
    best = learner.recommend == spec.RECOMMEND_BEST_POLICY
    i = pick_tied(work.q, u[POLICY]) if best else draw(work.q, u[POLICY])
    return _model_of_policy(learner, stream, pi, i, u, work.scores)


@compiled
def _judge_spent(
    learner: KernelSpec, stream: Stream, way: int, frozen: Frozen, work: Scratch, count: int, step: int, position: float
) -> None:
    """Write to verdicts whether each spent budget's model is wrong (1) or right (0) on this round, OPEN if unclear."""
    row, next_row, u = stream.rows[step], stream.rows[min(step + 1, stream.rows.size - 1)], stream.uniforms[step]
    votes, pi, label, verdicts = stream.predictions[row], stream.advice[row], stream.labels[row], work.verdicts
    if way == BY_MIXTURE:
        for j in range(votes.size):
            work.misses[j] = votes[j] != label
        ahead = stream.advice[next_row]
        judge_mixtures(learner.weigh, pi, ahead, work.misses, stream.on, stream.off, position, count, frozen, verdicts)
        return
    by_policy = _names_policy(learner)
    uniform = u[POLICY] if by_policy else (u[MODEL] if way == BY_DRAW else u[TIE])
    if way == BY_DRAW:
        draw_between(frozen.near, frozen.far, frozen.slack, position, uniform, count, verdicts)
    else:
        pick_leaders(frozen.leaders, frozen.num_leaders, uniform, count, verdicts)
    previous, verdict = OPEN, OPEN
    for slot in range(count):
        chosen = verdicts[slot]
        # Neighbouring budgets often choose alike.
        if chosen != previous:
            previous, verdict = chosen, OPEN
            if chosen != OPEN:
                model = _model_of_policy(learner, stream, pi, chosen, u, work.scores) if by_policy else chosen
                verdict = int(votes[model] != label)
        verdicts[slot] = verdict


@compiled
def _judge_by_rates(
    learner: KernelSpec, stream: Stream, state: State, frozen: Frozen, work: Scratch, count: int, step: int,
    log_size: float,
) -> None:  # fmt: skip
    """As `_judge_spent`, where each slot has a rate of its own; OPEN where that rate may be about to change."""
    row, u, horizon = stream.rows[step], stream.uniforms[step], stream.rows.size
    votes, pi, label, k = stream.predictions[row], stream.advice[row], stream.labels[row], stream.predictions.shape[1]
    size = frozen.weights.shape[1]
    watches_mass = learner.rate_kind == spec.RATE_ADVERSARIAL_PROOF
    for slot in range(count):
        eta = _rate(learner, log_size, k, stream.num_classes, step + 1, horizon, state.largest_mass[slot])
        total = weigh(state.policy_losses[slot], eta, frozen.near[slot], work.low_bits, work.high_bits)
        if watches_mass:
            for i in range(size):
                frozen.weights[slot, i] = frozen.near[slot, i] / total
    if watches_mass:
        ahead = stream.advice[stream.rows[min(step + 1, horizon - 1)]]
        mix_roughly(
            pi, frozen.weights, count, frozen.listed, frozen.num_listed, learner.weigh, stream.on, stream.off, ahead,
            frozen.scores,
        )  # fmt: skip
        for first in range(0, count, TILE_SLOTS):
            largest_masses(votes, frozen.scores, first, work.rough_mass, work.rough_largest)
    # Generous: a class's mass is a sum of up to k such mixtures, each over `size` policies.
    doubt = 1.0 + 2.0 * rough_margin(size + k)
    for slot in range(count):
        # From 1 on the rate no longer depends on the mass.
        known = state.largest_mass[slot]
        if watches_mass and known < 1.0 and work.rough_largest[slot] * doubt > known:
            work.verdicts[slot] = OPEN
        else:
            policy = draw(frozen.near[slot], u[POLICY])
            model = _model_of_policy(learner, stream, pi, policy, u, work.scores)
            work.verdicts[slot] = int(votes[model] != label)


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
    shared: Stream,
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
    stream = Stream(
        shared.rows,
        uncounted(shared.predictions),
        uncounted(shared.labels),
        uncounted(shared.advice),
        uncounted(shared.uniforms),
        shared.num_classes,
        shared.on,
        shared.off,
    )
    horizon, k, n = stream.rows.size, stream.predictions.shape[1], stream.advice.shape[1]
    num_budgets, num_classes = budgets.size, stream.num_classes
    size = n + k if learner.weigh == spec.WEIGH_EXTENDED else (n if learner.weigh == spec.WEIGH_POLICIES else k)
    log_size = log(size)
    state = new_state(num_budgets + 1, size, k)
    work = new_scratch(num_budgets + 1, size, k, num_classes)
    way = way_to_play(learner, n, stream.on)
    frozen = new_frozen(way, num_budgets, size, n, k)

    by_hindsight = learner.recommend == spec.RECOMMEND_HINDSIGHT
    by_leader = learner.recommend == spec.RECOMMEND_LEADER
    by_context = learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER
    by_mixture = learner.recommend == spec.RECOMMEND_MIXTURE or learner.recommend == spec.RECOMMEND_SAMPLE_MODEL
    weighs = not by_leader and not (by_context and n == 0)
    adversarial = learner.rate_kind >= spec.RATE_ADVERSARIAL_PROOF
    by_proof = learner.rate_kind == spec.RATE_ADVERSARIAL_PROOF
    always_mixes = by_mixture or by_context or by_proof
    bandit = learner.feedback == spec.FEEDBACK_BANDIT
    query_reads_mixture = learner.query == spec.QUERY_ENTROPY or learner.query == spec.QUERY_VARIANCE
    live_mixes = bandit or adversarial or query_reads_mixture

    early = horizon // 10 if learner.scaled else 0
    # Not a plain 0, for which the functions called with it would be compiled once more.
    zero = int(np.int64(0))
    early_labels, spent, num_frozen, recorded, model = zero, zero, zero, zero, zero
    scale = 1.0
    # Between which rates, and up to which round, spent budgets' weights are interpolated.
    eta_near, eta_far, last_round = 0.0, 0.0, zero

    for step in range(horizon):
        t = step + 1
        eta = _rate(learner, log_size, k, num_classes, t, horizon, 0.0)
        while num_frozen < num_budgets and spent >= budgets[num_frozen]:
            eta_last = _rate(learner, log_size, k, num_classes, horizon, horizon, 1.0)
            _leave_behind(learner, stream, way, state, num_frozen, eta, eta_last, frozen)
            num_frozen += 1
            last_round = 0
        can_buy = num_frozen < num_budgets
        if early > 0 and t == early + 1:
            scale = (budgets[-1] - early_labels) / (horizon - early) * early / max(1, early_labels)
        row = stream.rows[step]
        votes, pi, label, u = stream.predictions[row], stream.advice[row], stream.labels[row], stream.uniforms[step]
        disagree = models_disagree(votes)

        if disagree and num_frozen > 0 and way != IN_FULL:
            if t > last_round and way in (BY_DRAW, BY_MIXTURE):
                goes_on = last_round > 0 and t <= last_round + span_of(last_round)
                first_round = last_round if goes_on else t
                last_round = first_round + span_of(first_round)
                eta_near = eta_far if goes_on else eta
                eta_far = _rate(learner, log_size, k, num_classes, last_round, horizon, 0.0)
                set_ends(
                    way, n, state.policy_losses, num_frozen, eta_near, eta_far, goes_on, frozen,
                    work.low_bits, work.high_bits,
                )  # fmt: skip
            position = (eta_near - eta) / (eta_near - eta_far) if eta_far < eta_near else 0.0
            if way == BY_RATES:
                _judge_by_rates(learner, stream, state, frozen, work, num_frozen, step, log_size)
            else:
                _judge_spent(learner, stream, way, frozen, work, num_frozen, step, position)

        # The live slot comes last, so that what the query rule and the update read below is its own.
        for slot in range(num_frozen + can_buy):
            is_live = slot == num_frozen
            # Where all models agree every choice costs the same, and only a bandit needs to know which it was.
            if not disagree and not (is_live and bandit):
                state.mistakes[slot] += votes[0] != label
                continue
            if not is_live and work.verdicts[slot] != OPEN:
                state.mistakes[slot] += work.verdicts[slot]
                continue
            if adversarial:
                eta = _rate(learner, log_size, k, num_classes, t, horizon, state.largest_mass[slot])
            mixes = always_mixes or (is_live and live_mixes)
            if weighs and (mixes or not by_hindsight):
                total = weigh(state.policy_losses[slot], eta, work.q, work.low_bits, work.high_bits)
                if mixes:
                    mix(pi, work.q, total, learner.weigh, stream.on, stream.off, work.w)
            if by_hindsight:  # noqa: SIM108 (a line of its own for each says more)
                model = hindsight_models[step]
            else:
                model = _name_model(learner, stream, state, work, slot, pi, u)
            state.mistakes[slot] += votes[model] != label
            if by_proof:
                largest = class_masses(votes, work.w, work.mass, work.masses).max()
                state.largest_mass[slot] = max(state.largest_mass[slot], largest)

        if can_buy:
            weights = work.even if learner.query == spec.QUERY_VOTES else work.w
            z = query_probability(
                learner.query, learner.query_a, learner.query_b, t, eta, votes, weights, disagree, num_classes,
                state.model_losses, state.alive, work.mass, work.masses,
            )  # fmt: skip
            z = min(1.0, z * scale)
            if u[COIN] < z:
                spent += 1
                early_labels += t <= early
                if learner.rate_kind == spec.RATE_ADVERSARIAL_LABEL:
                    mass = label_mass(votes, work.w, label, disagree)
                    state.largest_mass[num_frozen] = max(state.largest_mass[num_frozen], mass)
                _learn(learner, stream, state, work, num_frozen, row, model, z)

        if recorded < grid.size and grid[recorded] == t:
            for b in range(num_budgets):
                loss_trace[b, recorded] = state.mistakes[min(b, num_frozen)]
                queries_trace[b, recorded] = min(budgets[b], spent)
            recorded += 1

    for b in range(num_budgets):
        loss[b] = state.mistakes[min(b, num_frozen)]
        queries[b] = min(budgets[b], spent)
