"""One realization of one learner, compiled.

All budgets of a curve run in one pass. Slot b of each state array is budget b's state. The slot after the spent
budgets is the live one, whose path all budgets share that are not yet spent. When the live budget is spent, its slot
stays behind as it is and a copy goes on as the live one; `cams.engine.spent` plays those left behind.

The code follows `cams.learners` rule by rule; the tests hold the two to the same decisions.
"""

from __future__ import annotations

from math import log

import numpy as np

from cams.engine import spec
from cams.engine.answers import count_answers, first_answer, hear
from cams.engine.arithmetic import add_expected, largest
from cams.engine.compiled import Array, compiled, compiled_inline, compiled_making_arrays
from cams.engine.consensus import new_consensus, take_in_votes
from cams.engine.frozen import IN_FULL, OPEN, new_frozen, way_to_play
from cams.engine.instructions import ask_for
from cams.engine.naming import name_model
from cams.engine.queries import class_masses, label_mass, models_disagree, query_probability
from cams.engine.spec import KernelSpec
from cams.engine.spent import judge_spent, leave_behind
from cams.engine.state import Game, Stream, Traits, Turn, new_scratch, new_state, total_rounds
from cams.engine.weighing import mix_models, rate_of, weigh_slot
from cams.randomness import COIN


@compiled
def _traits(learner: KernelSpec, n: int, size: int, on: float) -> Traits:
    by_context = learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER
    by_mixture = learner.recommend == spec.RECOMMEND_MIXTURE or learner.recommend == spec.RECOMMEND_SAMPLE_MODEL
    adversarial = learner.rate_kind >= spec.RATE_ADVERSARIAL_PROOF
    query_mixes = learner.query == spec.QUERY_ENTROPY or learner.query == spec.QUERY_VARIANCE
    mixes = by_mixture or by_context or learner.rate_kind == spec.RATE_ADVERSARIAL_PROOF
    return Traits(
        log(size),
        way_to_play(learner, n, on),
        learner.recommend != spec.RECOMMEND_LEADER and not (by_context and n == 0),
        mixes,
        mixes or query_mixes or adversarial or learner.feedback == spec.FEEDBACK_BANDIT,
        adversarial or learner.by_evidence,
    )


@compiled_making_arrays
def new_game(learner: KernelSpec, stream: Stream, num_budgets: int) -> Game:
    n, k, c = stream.advice.shape[1], stream.predictions.shape[1], stream.num_classes
    size = n + k if learner.weigh == spec.WEIGH_EXTENDED else (n if learner.weigh == spec.WEIGH_POLICIES else k)
    traits = _traits(learner, n, size, stream.on)
    return Game(
        learner,
        traits,
        stream,
        new_state(num_budgets + 1, size, k),
        new_consensus(learner, size, k, c),
        new_frozen(traits.way, num_budgets, size, n, k),
        new_scratch(num_budgets + 1, size, k, c),
        np.zeros(4, dtype=np.int64),
    )


@compiled_inline
def _turn(stream: Stream, step: int) -> Turn:
    row, next_row = stream.rows[step], stream.rows[min(step + 1, stream.rows.size - 1)]
    votes = stream.predictions[row]
    answer = first_answer(votes)
    return Turn(
        stream.before + step + 1,
        votes,
        stream.advice[row],
        stream.labels[row],
        stream.uniforms[step],
        stream.advice[next_row],
        models_disagree(votes, answer),
        answer,
        count_answers(votes) if stream.gaps else votes.size,
    )


@compiled_inline
def _play_slot(game: Game, turn: Turn, slot: int, is_live: bool, eta: float) -> int:
    """Return the model that a slot names, and count it if it is wrong; weights and mixture stay in the work space."""
    learner, traits, state, work = game.learner, game.traits, game.state, game.work
    mixes = traits.live_mixes if is_live else traits.mixes
    if traits.weighs:
        if mixes:
            ask_for(turn.pi)
        total = weigh_slot(game, slot, eta, work.q)
        if mixes:
            mix_models(learner.weigh, game.stream, turn, total, work)
    model = name_model(learner, game.stream, state, work, turn, slot)
    state.mistakes[slot] += turn.votes[model] != turn.label
    if learner.rate_kind == spec.RATE_ADVERSARIAL_PROOF:
        count = class_masses(turn.votes, work.w, work.mass, work.masses)
        state.largest_mass[slot] = max(state.largest_mass[slot], largest(work.masses[:count]))
    return model


@compiled_inline
def _play_frozen(game: Game, turn: Turn, count: int) -> None:
    """Play the spent budgets: cheaply where that settles the outcome, in full where it does not."""
    state, verdicts = game.state, game.work.verdicts
    # Where all models agree every choice costs the same.
    if not turn.disagree:
        wrong = int(turn.first_answer != turn.label)
        for slot in range(count):
            state.mistakes[slot] += wrong
        return
    if game.traits.way != IN_FULL:
        judge_spent(game, turn, count)
    for slot in range(count):
        if verdicts[slot] == OPEN:
            _play_slot(game, turn, slot, False, rate_of(game, slot, turn.t))
        else:
            state.mistakes[slot] += verdicts[slot]


@compiled_inline
def _play_live(game: Game, turn: Turn, slot: int, scale: float) -> bool:
    """Play the budget that may still buy labels, and return whether it bought this one."""
    learner, state, work = game.learner, game.state, game.work
    eta, model = rate_of(game, slot, turn.t), 0
    # Where all agree only a bandit needs to know which model it named.
    if turn.disagree or learner.feedback == spec.FEEDBACK_BANDIT:
        model = _play_slot(game, turn, slot, True, eta)
    else:
        state.mistakes[slot] += turn.first_answer != turn.label
    z = min(1.0, scale * query_probability(learner, game.stream.num_classes, state, work, turn, eta))
    if turn.uniforms[COIN] >= z:
        return False
    if learner.rate_kind == spec.RATE_ADVERSARIAL_LABEL:
        state.largest_mass[slot] = max(state.largest_mass[slot], label_mass(turn, work.w))
    _learn(game, turn, slot, model, z)
    return True


@compiled_inline
def _learn(game: Game, turn: Turn, slot: int, model: int, z: float) -> None:
    """Take in a bought label: counts, importance-weighted losses of models, and of what is weighed."""
    learner, stream, state, lhat = game.learner, game.stream, game.state, game.work.lhat
    for j in range(turn.votes.size):
        wrong = 1.0 if turn.votes[j] != turn.label else 0.0
        lhat[j] = wrong / z
        state.errors[slot, j] += wrong
        state.rewards[slot, j] += 1.0 - wrong
        state.model_losses[j] += wrong / z
    state.evidence[slot] += 1.0 / (z * z)
    state.labels[slot] += 1.0
    if learner.recommend == spec.RECOMMEND_LEADER:
        return
    if learner.feedback == spec.FEEDBACK_BANDIT:
        for j in range(turn.votes.size):
            lhat[j] = lhat[j] / game.work.w[j] if j == model else 0.0
    add_expected(learner.weigh, turn.pi, stream.on, stream.off, lhat, state.policy_losses[slot])


@compiled
def _scale(t: int, early: int, early_labels: int, horizon: int, budget: int) -> float:
    """Return the factor on the query probability that spreads a budget over the rounds after the early ones."""
    if early == 0 or t <= early:
        return 1.0
    return (budget - early_labels) / (horizon - early) * early / max(1, early_labels)


@compiled
def play_rounds(
    game: Game,
    budgets: Array,
    grid: Array,
    loss_trace: Array,
    queries_trace: Array,
    first: int,
    last: int,
) -> None:
    """Play the rounds from first to before last of the game's stream, all budgets in one pass.

    budgets (B,) ascend; grid (G,) are the rounds to record in the traces (B, G).
    """
    learner, stream, progress = game.learner, game.stream, game.progress
    horizon = total_rounds(stream)
    early = horizon // 10 if learner.scaled else 0
    bought, early_labels, num_frozen, recorded = progress[0], progress[1], progress[2], progress[3]
    for step in range(first, last):
        turn = _turn(stream, step)
        if stream.gaps and (turn.disagree or learner.feedback == spec.FEEDBACK_BANDIT):
            work = game.work
            hear(learner.weigh, turn.votes, turn.pi, stream.on, stream.off, work.even, work.reach)
        while num_frozen < budgets.size and bought >= budgets[num_frozen]:
            leave_behind(game, num_frozen, turn.t)
            num_frozen += 1
        if turn.disagree and learner.prior > 0.0:
            take_in_votes(learner, turn.votes, turn.pi, stream.on, stream.off, game.consensus)
        if num_frozen > 0:
            _play_frozen(game, turn, num_frozen)
        if num_frozen < budgets.size:
            scale = _scale(turn.t, early, early_labels, horizon, budgets[-1])
            if _play_live(game, turn, num_frozen, scale):
                bought += 1
                early_labels += turn.t <= early
        if recorded < grid.size and grid[recorded] == turn.t:
            _record(game, num_frozen, bought, budgets, loss_trace[:, recorded], queries_trace[:, recorded])
            recorded += 1
    progress[0], progress[1], progress[2], progress[3] = bought, early_labels, num_frozen, recorded


@compiled_inline
def _record(game: Game, num_frozen: int, bought: int, budgets: Array, loss: Array, queries: Array) -> None:
    """Write the mistakes and labels so far of every budget; those not yet spent share the live slot."""
    for b in range(budgets.size):
        loss[b] = game.state.mistakes[min(b, num_frozen)]
        queries[b] = min(budgets[b], bought)
