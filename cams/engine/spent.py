"""Playing the budgets that are spent, in the ways of `cams.engine.frozen`."""

from __future__ import annotations

from cams.engine import spec
from cams.engine.arithmetic import copy_row, largest
from cams.engine.compiled import Array, compiled, compiled_inline
from cams.engine.frozen import (
    BY_DRAW,
    BY_LEADERS,
    BY_MIXTURE,
    BY_RATES,
    OPEN,
    doubt_between,
    draw_between,
    draw_roughly,
    interpolate,
    judge_mixtures,
    largest_masses,
    list_best,
    list_heaviest,
    list_policies,
    pick_leaders,
    set_ends,
    span_of,
)
from cams.engine.instructions import smaller
from cams.engine.naming import model_of_policy, names_policy
from cams.engine.spec import TILE_SLOTS
from cams.engine.state import Game, Turn, some_abstain, total_rounds
from cams.engine.tiles import mix_roughly, rough_margin
from cams.engine.weighing import rate_at, rate_of, weigh_slot
from cams.randomness import MODEL, POLICY, TIE


@compiled
def _subtract_smallest(losses: Array) -> None:
    smallest = losses[0]
    for i in range(losses.size):
        smallest = smaller(smallest, losses[i])
    for i in range(losses.size):
        losses[i] -= smallest


@compiled_inline
def leave_behind(game: Game, slot: int, t: int) -> None:
    """Freeze the live slot before round t and go on with a copy of it in the next.

    Only differences of losses matter, so a frozen slot's smallest is made 0 once instead of on every round.
    """
    state, frozen = game.state, game.frozen
    copy_row(state.policy_losses[slot], state.policy_losses[slot + 1])
    _subtract_smallest(state.policy_losses[slot])
    copy_row(state.errors[slot], state.errors[slot + 1])
    copy_row(state.rewards[slot], state.rewards[slot + 1])
    state.largest_mass[slot + 1] = state.largest_mass[slot]
    state.evidence[slot + 1] = state.evidence[slot]
    state.labels[slot + 1] = state.labels[slot]
    state.mistakes[slot + 1] = state.mistakes[slot]
    frozen.last_round[0] = 0
    way = game.traits.way
    if way == BY_LEADERS:
        _list_leaders(game, slot, t)
    if way == BY_MIXTURE and game.learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER:
        most = largest(state.rewards[slot])
        # While nobody was right all count alike.
        for j in range(state.rewards.shape[1]):
            frozen.factors[slot, j] = state.rewards[slot, j] / most if most > 0 else 1.0
    if _stands_still(game) and way in (BY_MIXTURE, BY_DRAW):
        eta, work = rate_of(game, slot, t), game.work
        set_ends(
            way, state.policy_losses[slot], slot, eta, eta, False, frozen, work.low_bits, work.high_bits
        )  # fmt: skip
        if way == BY_MIXTURE:
            list_policies(game.stream.advice.shape[1], slot + 1, frozen)


@compiled_inline
def _list_leaders(game: Game, slot: int, t: int) -> None:
    learner, stream, state, frozen = game.learner, game.stream, game.state, game.frozen
    if learner.recommend == spec.RECOMMEND_LEADER:
        list_best(state.errors[slot], -1.0, slot, frozen)
        return
    if learner.recommend == spec.RECOMMEND_CONTEXTUAL_LEADER:
        list_best(state.rewards[slot], 1.0, slot, frozen)
        return
    # From the largest rate that may come to the smallest.
    eta_now = rate_at(game, t, state.evidence[slot], 0.0)
    eta_last = rate_at(game, total_rounds(stream), state.evidence[slot], 1.0)
    best_policy = learner.recommend == spec.RECOMMEND_BEST_POLICY
    on, off = (1.0, 0.0) if best_policy else (stream.on, stream.off)
    list_heaviest(state.policy_losses[slot], slot, eta_now, eta_last, on, off, frozen)


@compiled_inline
def _stands_still(game: Game) -> bool:
    """Say whether a spent budget's weights never change again."""
    return game.learner.by_evidence and game.learner.prior == 0.0


@compiled_inline
def judge_spent(game: Game, turn: Turn, count: int) -> None:
    """Write to verdicts whether each spent budget's model is wrong (1) or right (0) on this round, OPEN if unclear."""
    way = game.traits.way
    # Which policy is chosen does not depend on who answers; everything else does.
    if some_abstain(turn) and not (way in (BY_LEADERS, BY_DRAW) and names_policy(game.learner)):
        for slot in range(count):
            game.work.verdicts[slot] = OPEN
    elif way == BY_RATES:
        _judge_by_rates(game, turn, count)
    elif way == BY_MIXTURE:
        _judge_by_mixture(game, turn, count)
    else:
        _judge_by_choice(game, turn, count)


@compiled_inline
def _position(game: Game, t: int, count: int) -> float:
    """Return where between the near and the far rate round t is, after setting both anew where t is beyond them."""
    if _stands_still(game):
        return 0.0
    frozen, way = game.frozen, game.traits.way
    if t > frozen.last_round[0]:
        goes_on = _set_rates(game, 0, t, 0.0)
        for slot in range(count):
            _set_ends(game, slot, 0, goes_on)
        if way == BY_MIXTURE:
            list_policies(game.stream.advice.shape[1], count, frozen)
    return _between(frozen.rates[0, 0], frozen.rates[0, 1], rate_at(game, t, 0.0, 0.0))


@compiled_inline
def _own_position(game: Game, slot: int, t: int) -> float:
    """Return the same for a slot with rates of its own, which a larger mass moves as well."""
    frozen, mass = game.frozen, game.state.largest_mass[slot]
    if mass != frozen.masses[slot]:
        frozen.masses[slot], frozen.last_round[slot] = mass, 0
    if t > frozen.last_round[slot]:
        _set_ends(game, slot, slot, _set_rates(game, slot, t, mass))
    return _between(frozen.rates[slot, 0], frozen.rates[slot, 1], rate_at(game, t, 0.0, mass))


@compiled_inline
def _set_rates(game: Game, slot: int, t: int, mass: float) -> bool:
    """Set the near and the far rate for round t and those to come; return whether near is where far has been."""
    rates, last_round = game.frozen.rates, game.frozen.last_round
    last = last_round[slot]
    goes_on: bool = last > 0 and t <= last + span_of(last)
    first = last if goes_on else t
    last_round[slot] = first + span_of(first)
    rates[slot, 0] = rates[slot, 1] if goes_on else rate_at(game, t, 0.0, mass)
    rates[slot, 1] = rate_at(game, last_round[slot], 0.0, mass)
    return goes_on


@compiled_inline
def _set_ends(game: Game, slot: int, owner: int, goes_on: bool) -> None:
    """Compute a slot's weights at both rates of an owner, which is itself or the first slot."""
    frozen, work = game.frozen, game.work
    set_ends(
        game.traits.way, game.state.policy_losses[slot], slot, frozen.rates[owner, 0], frozen.rates[owner, 1], goes_on,
        frozen, work.low_bits, work.high_bits,
    )  # fmt: skip


@compiled
def _between(near: float, far: float, eta: float) -> float:
    return (near - eta) / (near - far) if far < near else 0.0


@compiled_inline
def _weigh_all(game: Game, t: int, count: int) -> None:
    """Compute the weights of all spent budgets for this round."""
    frozen = game.frozen
    for slot in range(count):
        weigh_slot(game, slot, rate_of(game, slot, t), frozen.far[slot])
        for i in range(frozen.far.shape[1]):
            frozen.weights[slot, i] = frozen.far[slot, i]
    list_policies(game.stream.advice.shape[1], count, frozen)


@compiled_inline
def _judge_by_mixture(game: Game, turn: Turn, count: int) -> None:
    stream, work, frozen = game.stream, game.work, game.frozen
    position = 0.0
    if game.learner.prior > 0.0:
        _weigh_all(game, turn.t, count)
    else:
        position = _position(game, turn.t, count)
        for slot in range(count):
            interpolate(position, slot, frozen)
    for j in range(turn.votes.size):
        work.misses[j] = turn.votes[j] != turn.label
    judge_mixtures(
        game.learner.weigh, turn.pi, turn.ahead, work.misses, stream.on, stream.off, position, count, frozen,
        work.verdicts,
    )  # fmt: skip


@compiled_inline
def _judge_by_choice(game: Game, turn: Turn, count: int) -> None:
    """As `judge_spent`, where each slot draws, or picks among its leaders, a policy or a model."""
    frozen, verdicts, u, way = game.frozen, game.work.verdicts, turn.uniforms, game.traits.way
    by_policy = names_policy(game.learner)
    uniform = u[POLICY] if by_policy else (u[MODEL] if way == BY_DRAW else u[TIE])
    if way == BY_DRAW:
        position = _position(game, turn.t, count)
        draw_between(frozen.start, frozen.step, frozen.slack, position, uniform, count, verdicts)
    else:
        pick_leaders(frozen.leaders, frozen.num_leaders, uniform, count, verdicts)
    if by_policy:
        _follow_policies(game, turn, count)
    _compare_with_label(turn, count, verdicts)


@compiled_inline
def _compare_with_label(turn: Turn, count: int, chosen: Array) -> None:
    """Put whether a model is wrong (1) or right (0) in its place."""
    for slot in range(count):
        if chosen[slot] != OPEN:
            chosen[slot] = int(turn.votes[chosen[slot]] != turn.label)


@compiled_inline
def _follow_policies(game: Game, turn: Turn, count: int) -> None:
    """Put the model that each slot's policy names in the policy's place."""
    chosen = game.work.verdicts
    previous, model = OPEN, OPEN
    for slot in range(count):
        # Neighbouring budgets often choose alike.
        if chosen[slot] != previous:
            previous, model = chosen[slot], OPEN
            if previous != OPEN:
                model = model_of_policy(game.learner, game.stream, game.work, turn, previous)
        chosen[slot] = model


@compiled_inline
def _judge_by_rates(game: Game, turn: Turn, count: int) -> None:
    """As `judge_spent`, where each slot has a rate of its own; OPEN where that rate may be about to change."""
    learner, state, frozen, work = game.learner, game.state, game.frozen, game.work
    size, k = frozen.weights.shape[1], turn.votes.size
    watches_mass = learner.rate_kind == spec.RATE_ADVERSARIAL_PROOF
    for slot in range(count):
        position = _own_position(game, slot, turn.t)
        interpolate(position, slot, frozen)
        work.rough_doubt[slot] = doubt_between(frozen.slack[slot], position)
    if watches_mass:
        mix_roughly(
            turn.pi, frozen.weights, count, frozen.listed, frozen.num_listed, learner.weigh, game.stream.on,
            game.stream.off, turn.ahead, frozen.scores,
        )  # fmt: skip
        for first in range(0, count, TILE_SLOTS):
            largest_masses(turn.votes, frozen.scores, first, work.rough_mass, work.rough_largest)
    # Generous: a class's mass is a sum of up to k such mixtures, each over `size` policies.
    margin = 1.0 + 2.0 * rough_margin(size + k)
    for slot in range(count):
        weights = frozen.weights[slot]
        total = 0.0
        for i in range(size):
            total += weights[i]
        # Of weights in single precision, beside that of interpolation, which never falls short of what it stands for.
        doubt = work.rough_doubt[slot] + total * 16 * 2.0**-24
        # From 1 on the rate no longer depends on the mass.
        known = state.largest_mass[slot]
        if watches_mass and known < 1.0 and work.rough_largest[slot] * margin > known * (total - doubt):
            work.verdicts[slot] = OPEN
        else:
            work.verdicts[slot] = draw_roughly(weights, total, doubt, turn.uniforms[POLICY])
    _follow_policies(game, turn, count)
    _compare_with_label(turn, count, work.verdicts)
