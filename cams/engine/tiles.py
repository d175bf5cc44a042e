"""Many mixtures at once, in single precision.

Left to the compiler, a product of small matrices goes to memory and back for every few additions. Here the sums of a
tile, 4 mixtures by 16 models, stay in 8 registers while all policies pass by. Meanwhile the next row of the stream,
which is anywhere in memory, is already on its way.
"""

from __future__ import annotations

import numpy as np

from cams.engine import spec
from cams.engine.compiled import Array, compiled
from cams.engine.instructions import CACHE_LINE, add_tile, prefetch
from cams.engine.spec import TILE_MODELS, TILE_SLOTS

# Fewer slots than this are cheaper one by one than as a tile with empty rows.
_FEWEST_TILED = 3


@compiled
def mix_roughly(
    pi: Array,
    q: Array,
    count: int,
    listed: Array,
    num_listed: Array,
    weighed: int,
    on: float,
    off: float,
    ahead: Array,
    w: Array,
) -> None:
    """Write `count` mixtures at once, q (slots, m) into w (slots, k), without dividing by the sum of weights.

    slots is a multiple of 4, with weights of 0 where nothing is wanted; rows of w beyond `count` mean nothing. Policies
    that are not listed for their four slots, among the first num_listed[g] of listed[g], may be left out. Good to
    `rough_margin`. ahead (n, k) is the advice of the next round.
    """
    _start_from_constants(pi.shape[0], q, count, weighed, on, off, w)
    if weighed == spec.WEIGH_MODELS:
        return
    k = pi.shape[1]
    num_tiles = (count + TILE_SLOTS - _FEWEST_TILED) // TILE_SLOTS * (k // TILE_MODELS)
    # A bit of the next row before each tile: processors keep track of a dozen or two lines at a time.
    fetched, portion = 0, ahead.size // max(1, num_tiles) + 1
    for s in range(0, count, TILE_SLOTS):
        group = s // TILE_SLOTS
        if count - s < _FEWEST_TILED:
            for slot in range(s, count):
                _add_mixture(pi, q, slot, w)
            continue
        j = 0
        while j + TILE_MODELS <= k:
            stop = min(fetched + portion, ahead.size)
            while fetched < stop:
                prefetch(ahead, fetched)
                fetched += CACHE_LINE // ahead.itemsize
            add_tile(pi, listed, group, num_listed[group], q, s, w, j)
            j += TILE_MODELS
        if j < k:
            _add_four_mixtures(pi, listed, group, num_listed[group], q, s, w, j)


@compiled
def _start_from_constants(n: int, q: Array, count: int, weighed: int, on: float, off: float, w: Array) -> None:
    """Write to w what the constant policies, weighed behind the n others, alone, or not at all, add to the mixtures."""
    if weighed == spec.WEIGH_POLICIES:
        w[:] = 0
        return
    first = n if weighed == spec.WEIGH_EXTENDED else 0
    own = np.float32(on - off)
    for s in range(count):
        weights, mixture, rest = q[s, first:], w[s], np.float32(0)
        for j in range(mixture.size):
            rest += weights[j]
        rest *= np.float32(off)
        for j in range(mixture.size):
            mixture[j] = own * weights[j] + rest


@compiled
def _add_mixture(pi: Array, q: Array, s: int, w: Array) -> None:
    """Add all policies to a single mixture, in the order in which they lie in memory."""
    n, k = pi.shape
    for i in range(0, n - 1, 2):
        a, b = q[s, i], q[s, i + 1]
        for j in range(k):
            w[s, j] += a * np.float32(pi[i, j]) + b * np.float32(pi[i + 1, j])
    if n % 2:
        for j in range(k):
            w[s, j] += q[s, n - 1] * np.float32(pi[n - 1, j])


@compiled
def _add_four_mixtures(
    pi: Array, listed: Array, group: int, num_listed: int, q: Array, s: int, w: Array, first_model: int
) -> None:
    """Add the listed policies to four mixtures, for the models that fill no tile."""
    for x in range(num_listed):
        i = listed[group, x]
        a, b, c, d = q[s, i], q[s + 1, i], q[s + 2, i], q[s + 3, i]
        for j in range(first_model, pi.shape[1]):
            advice = np.float32(pi[i, j])
            w[s, j] += a * advice
            w[s + 1, j] += b * advice
            w[s + 2, j] += c * advice
            w[s + 3, j] += d * advice


@compiled
def rough_margin(size: int) -> float:
    """Return how far, as a share, rounding may move two rough mixtures over `size` policies apart.

    It moves a sum of positive terms by at most `size` units in the last place, and the few operations before and
    after it by no more than 8, either way for each of the two.
    """
    return 4.0 * (size + 8) * 2.0**-24
