"""Spent budgets: they learn nothing more, yet name a model on every round, and the rate goes on falling.

Playing each of them as the live budget is played would make a curve of 25 budgets cost 25 times a single one. What no
longer learns can be had for less, in a way that depends on the learner:

BY_LEADERS  Whatever the rate, the heaviest stays the heaviest: those that tie for it are listed once.
BY_DRAW     What a uniform draws is read off the cumulative weights, interpolated between two rates.
BY_MIXTURE  Weights are interpolated, and all slots' mixtures are computed in one go, in single precision.
BY_RATES    Each slot has a rate of its own: weights are interpolated and drawn from, and where the rate follows the
            mixtures, single precision tells when it changes.
IN_FULL     Nothing can be saved.

A rate that falls with the evidence stands still once nothing more is learnt, and so do the weights: both ends of the
interpolation are the same, for good. A prior moves the weights of all slots on every round: they are computed anew each
time, and mixed as BY_MIXTURE does.

Interpolation and single precision come with a bound on their error. Where it leaves the outcome open, the slot is
played in full after all, so that every decision is exactly the learner's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cams.engine import spec
from cams.engine.arithmetic import copy_row, weigh
from cams.engine.compiled import Array, compiled, compiled_inline, compiled_making_arrays
from cams.engine.instructions import larger
from cams.engine.spec import TILE_SLOTS, KernelSpec
from cams.engine.tiles import mix_roughly, rough_margin

IN_FULL = 0
BY_LEADERS = 1
BY_DRAW = 2
BY_MIXTURE = 3
BY_RATES = 4

# What a slot's choice on a round came to, where it could not be told cheaply.
OPEN = -1

# Weights are computed anew when t has grown by this share, and interpolated in between.
_SPAN = 0.03
# Next to a heaviest policy of 1, one this light may be left out of a rough mixture.
_LIGHT = 1e-7


class Frozen(NamedTuple):
    """What spent budgets are played from, a slot each.

    leaders     (S, m|k)  of each row the first num_leaders (S,), none where the heaviest may still change
    far         (S, m)    weights at the far one of two rates, cumulative ones if BY_DRAW
    far_totals  (S,)      the sum of weights at the far rate
    slack       (S,)      how far a value interpolated half-way between the two may be off
    start, step (S, m)    weights at the near rate, and how far those at the far one are from them, in single precision
    rates       (S, 2)    the near and the far rate; last_round (S,) is the round of the far one, 0 if there is none;
                          those of the first slot are all slots' unless BY_RATES
    masses      (S,)      BY_RATES: the largest class mass that a slot's rates belong to
    listed      (S/4, n)  of each row the first num_listed: policies that weigh something in any of four slots
    factors     (S, k)    what mixtures are multiplied with, the largest 1
    weights, scores       work space: weights (S, m) and mixtures (S, k) of all slots, in single precision
    """

    leaders: Array
    num_leaders: Array
    far: Array
    far_totals: Array
    slack: Array
    start: Array
    step: Array
    rates: Array
    last_round: Array
    masses: Array
    listed: Array
    num_listed: Array
    factors: Array
    weights: Array
    scores: Array


@compiled
def way_to_play(learner: KernelSpec, n: int, on: float) -> int:
    """Return how this learner's spent budgets are played, n the number of policies."""
    recommend = learner.recommend
    only_models = n == 0 or learner.weigh == spec.WEIGH_MODELS
    by_argmax = recommend in (spec.RECOMMEND_MIXTURE, spec.RECOMMEND_CONTEXTUAL_LEADER)
    has_prior = learner.prior > 0.0
    if not learner.shortcuts:
        return IN_FULL
    if recommend == spec.RECOMMEND_LEADER or (recommend == spec.RECOMMEND_CONTEXTUAL_LEADER and n == 0):
        return BY_LEADERS
    heaviest_wins = recommend == spec.RECOMMEND_BEST_POLICY or (recommend == spec.RECOMMEND_MIXTURE and only_models)
    if heaviest_wins and not has_prior:
        return BY_LEADERS
    if learner.rate_kind in (spec.RATE_ADVERSARIAL_PROOF, spec.RATE_ADVERSARIAL_LABEL):
        return BY_RATES if recommend == spec.RECOMMEND_SAMPLE_POLICY and not has_prior else IN_FULL
    if by_argmax and not heaviest_wins:
        return BY_MIXTURE
    if has_prior:
        return IN_FULL
    if recommend in (spec.RECOMMEND_RANDOM_POLICY, spec.RECOMMEND_SAMPLE_POLICY):
        return BY_DRAW
    # Constants that regularisation has softened are weights of another shape.
    return BY_DRAW if recommend == spec.RECOMMEND_SAMPLE_MODEL and only_models and on == 1.0 else IN_FULL


@compiled_making_arrays
def new_frozen(way: int, slots: int, size: int, n: int, k: int) -> Frozen:
    groups = (slots + TILE_SLOTS - 1) // TILE_SLOTS if way in (BY_MIXTURE, BY_RATES) else 0
    mixed = groups * TILE_SLOTS
    interpolated = slots if way == BY_DRAW else mixed
    listed = np.zeros((groups, n), dtype=np.int64)
    for group in range(groups):
        copy_row(np.arange(n), listed[group])
    return Frozen(
        np.zeros((slots, max(size, k)), dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.zeros((slots, size)),
        np.zeros(slots),
        np.zeros(slots),
        np.zeros((interpolated, size), dtype=np.float32),
        np.zeros((interpolated, size), dtype=np.float32),
        np.zeros((slots, 2)),
        np.zeros(slots, dtype=np.int64),
        np.zeros(slots),
        listed,
        np.full(groups, n),
        np.ones((mixed, k), dtype=np.float32),
        np.zeros((mixed, size), dtype=np.float32),
        np.zeros((mixed, k), dtype=np.float32),
    )


@compiled
def list_best(counts: Array, sign: float, slot: int, frozen: Frozen) -> None:
    """Make leaders of a slot all with the largest sign * count, a whole number."""
    top = sign * counts[0]
    for j in range(counts.size):
        top = larger(top, sign * counts[j])
    for j in range(counts.size):
        if sign * counts[j] == top:
            frozen.leaders[slot, frozen.num_leaders[slot]] = j
            frozen.num_leaders[slot] += 1


@compiled
def list_heaviest(
    losses: Array, slot: int, eta_now: float, eta_last: float, on: float, off: float, frozen: Frozen
) -> None:
    """Make leaders of a slot those of the smallest loss, 0, if they are so clearly at every rate from now to the last.

    A loss next to nothing shares the lead. Of one in between it depends on the rate: no leaders are listed then.
    """
    # A thousand times what ties: (on - off) (1 - exp(-x)) against 1e-12 of the largest score, x / 2 < 1 - exp(-x).
    clear = 2e-9 * (on + off * losses.size) / (on - off)
    count = 0
    for i in range(losses.size):
        if eta_now * losses[i] < 1e-14:
            frozen.leaders[slot, count] = i
            count += 1
        elif eta_last * losses[i] < clear:
            return
    frozen.num_leaders[slot] = count


@compiled
def span_of(t: int) -> int:
    """Return for how many rounds from t on weights are interpolated."""
    return max(1, int(_SPAN * t))


@compiled
def set_ends(
    way: int,
    losses: Array,
    slot: int,
    eta_near: float,
    eta_far: float,
    goes_on: bool,
    frozen: Frozen,
    low_bits: Array,
    high_bits: Array,
) -> None:
    """Compute a slot's weights at two rates, and how far interpolation between them may be off.

    Where this goes on from the last far rate, its weights are there already.

    Half-way, exp(-eta L) is interpolated with an error of at most (far - near)^2 / 8 times its second derivative in
    eta, which L^2 exp(-eta_far L) bounds. A mixture adds such errors up with coefficients of at most 1. For a share of
    the total the variance of L takes the derivative's place, hence the mean of L^2, as the smallest L is 0; its sum at
    the far rate over the total at the near one is above the mean at any rate between.
    """
    far, start, step = frozen.far[slot], frozen.start[slot], frozen.step[slot]
    if not goes_on:
        frozen.far_totals[slot] = weigh(losses, eta_near, far, low_bits, high_bits)
        if way == BY_DRAW:
            _accumulate(far, frozen.far_totals[slot])
    near_total = frozen.far_totals[slot]
    copy_row(far, start)
    frozen.far_totals[slot] = weigh(losses, eta_far, far, low_bits, high_bits)
    curvature = 0.0
    for i in range(losses.size):
        curvature += losses[i] * losses[i] * far[i]
    frozen.slack[slot] = (eta_near - eta_far) ** 2 / 8.0 * curvature
    if way == BY_DRAW:
        frozen.slack[slot] /= near_total
        _accumulate(far, frozen.far_totals[slot])
    for i in range(losses.size):
        step[i] = far[i] - start[i]


@compiled
def list_policies(num_policies: int, count: int, frozen: Frozen) -> None:
    """List, for every four slots, the policies that are worth mixing at any rate up to the far one."""
    for group in range(frozen.num_listed.size):
        first, number = group * TILE_SLOTS, 0
        # Where models alone are weighed there may be more policies than weights.
        for i in range(min(num_policies, frozen.far.shape[1])):
            heaviest = 0.0
            for slot in range(first, min(first + TILE_SLOTS, count)):
                heaviest = max(heaviest, frozen.far[slot, i])
            if heaviest >= _LIGHT:
                frozen.listed[group, number] = i
                number += 1
        frozen.num_listed[group] = number


@compiled
def doubt_between(slack: float, position: float) -> float:
    """Return how far interpolation may be off: nowhere as far as half-way, and not at all at either end."""
    return slack * 4.0 * position * (1.0 - position)


@compiled
def _accumulate(weights: Array, total: float) -> None:
    """Turn weights into cumulative shares of their total.

    Each sum has to wait for the one before, so both halves are added up side by side.
    """
    half, share = weights.size // 2, 1.0 / total
    lower, upper = 0.0, 0.0
    for i in range(half):
        lower += weights[i] * share
        upper += weights[half + i] * share
        weights[i], weights[half + i] = lower, upper
    for i in range(half):
        weights[half + i] += lower
    if weights.size % 2:
        weights[weights.size - 1] = 1.0


@compiled_inline
def _share(start: Array, step: Array, position: np.float32, i: int) -> np.float32:
    """Return the i-th of the ascending shares between near (0) and far (1)."""
    share: np.float32 = start[i] + position * step[i]
    return share


@compiled
def _first_beyond(start: Array, step: Array, position: np.float32, value: np.float32) -> int:
    """Return the first share that is larger than a value, or the last of all."""
    first, last = 0, start.size - 1
    while first < last:
        middle = (first + last) // 2
        if _share(start, step, position, middle) <= value:
            first = middle + 1
        else:
            last = middle
    return first


@compiled
def draw_between(
    starts: Array, steps: Array, slack: Array, position: float, uniform: float, count: int, chosen: Array
) -> None:
    """Write what the uniform draws from each slot's weights at a position between near (0) and far (1), or OPEN."""
    size, here = starts.shape[1], np.float32(position)
    # Of sums in double precision, and of shares in single.
    rounding = 1e-12 + 4 * size * 2.0**-53 + 8 * 2.0**-24
    found = 0
    for slot in range(count):
        start, step = starts[slot], steps[slot]
        doubt = doubt_between(slack[slot], position) + rounding
        low, high = np.float32(uniform - doubt), np.float32(uniform + doubt)
        if slot == 0:
            found = _first_beyond(start, step, here, low)
        # Neighbouring budgets draw alike, or nearly so: a few steps from one's choice to the other's.
        while found < size - 1 and _share(start, step, here, found) <= low:
            found += 1
        while found > 0 and _share(start, step, here, found - 1) > low:
            found -= 1
        chosen[slot] = found if _share(start, step, here, found) > high else OPEN


@compiled
def pick_leaders(leaders: Array, num_leaders: Array, uniform: float, count: int, chosen: Array) -> None:
    """Write which of its leaders the uniform picks for each slot, OPEN where there are none."""
    for slot in range(count):
        tied = num_leaders[slot]
        chosen[slot] = leaders[slot, int(uniform * tied)] if tied > 0 else OPEN


@compiled
def judge_mixtures(
    weighed: int,
    pi: Array,
    ahead: Array,
    misses: Array,
    on: float,
    off: float,
    position: float,
    count: int,
    frozen: Frozen,
    verdicts: Array,
) -> None:
    """Write whether the model of each slot's weights is wrong (1) or right (0), OPEN where that depends on more digits.

    misses (k,) has a 1 for every model that is wrong on this round; ahead (n, k) is the advice of the next.
    """
    weights = frozen.weights
    mix_roughly(pi, weights, count, frozen.listed, frozen.num_listed, weighed, on, off, ahead, frozen.scores)
    scores, factors, margin = frozen.scores, frozen.factors, rough_margin(weights.shape[1])
    for slot in range(count):
        best_right, best_wrong = np.float32(0), np.float32(0)
        for j in range(misses.size):
            score = scores[slot, j] * factors[slot, j]
            if_wrong = score * misses[j]
            best_wrong = larger(best_wrong, if_wrong)
            best_right = larger(best_right, score - if_wrong)
        doubt = (
            margin * max(best_right, best_wrong)
            + doubt_between(frozen.slack[slot], position)
            + weights.shape[1] * _LIGHT
        )
        verdicts[slot] = int(best_wrong > best_right)
        if abs(best_wrong - best_right) <= doubt:
            verdicts[slot] = OPEN


@compiled
def interpolate(position: float, slot: int, frozen: Frozen) -> None:
    """Write the weights of a slot at a position between near (0) and far (1)."""
    here = np.float32(position)
    start, step, weights = frozen.start[slot], frozen.step[slot], frozen.weights[slot]
    for i in range(weights.size):
        weights[i] = start[i] + here * step[i]


@compiled
def draw_roughly(weights: Array, total: float, doubt: float, uniform: float) -> int:
    """Return what a uniform draws from weights whose sums may be off by some doubt, or OPEN."""
    target, reached = uniform * total, 0.0
    for i in range(weights.size):
        reached += weights[i]
        if reached > target - doubt:
            return i if reached > target + doubt else OPEN
    return OPEN


@compiled
def largest_masses(votes: Array, mixtures: Array, first: int, mass: Array, largest: Array) -> None:
    """Write the largest class mass of four slots' mixtures to largest (slots,); mass (4, c) is work space."""
    for j in range(votes.size):
        for s in range(TILE_SLOTS):
            mass[s, votes[j]] = 0.0
    # Four at a time, because each addition to a class has to wait for the one before.
    for j in range(votes.size):
        for s in range(TILE_SLOTS):
            mass[s, votes[j]] += mixtures[first + s, j]
    for s in range(TILE_SLOTS):
        largest[first + s] = 0.0
    for j in range(votes.size):
        for s in range(TILE_SLOTS):
            largest[first + s] = max(largest[first + s], mass[s, votes[j]])
