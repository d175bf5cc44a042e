"""The arithmetic that a round spends its time on: exponential weights, mixtures over models, ties and draws."""

from __future__ import annotations

import numpy as np

from cams.engine import spec
from cams.engine.compiled import Array, compiled, compiled_in_order

_TIE = 1e-12
_LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first with so few digits that n * first is exact.
_LN2_HIGH = 6.93145751953125e-1
_LN2_LOW = 1.42860682030941723212e-6


@compiled_in_order
def exponentials(x: Array, low_bits: Array, high_bits: Array) -> None:
    """Turn every x <= 0 into exp(x), to the last bit or two, several at a time.

    exp(x) = 2^n exp(r) with |r| <= ln(2)/2, exp(r) by its series to r^12. The power of two is put together from bits in
    two halves, so that what is too small for a double fades to 0 as it should. low_bits and high_bits are int64
    work space of at least the size of x.
    """
    for i in range(x.size):
        y = max(x[i], -760.0)
        n_float = np.floor(y * _LOG2_E + 0.5)
        r = (y - n_float * _LN2_HIGH) - n_float * _LN2_LOW
        p = 1.0 / 479001600
        p = p * r + 1.0 / 39916800
        p = p * r + 1.0 / 3628800
        p = p * r + 1.0 / 362880
        p = p * r + 1.0 / 40320
        p = p * r + 1.0 / 5040
        p = p * r + 1.0 / 720
        p = p * r + 1.0 / 120
        p = p * r + 1.0 / 24
        p = p * r + 1.0 / 6
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        n = np.int32(n_float)
        half = n >> np.int32(1)
        low_bits[i] = np.int64(half + np.int32(1023)) << 52
        high_bits[i] = np.int64(n - half + np.int32(1023)) << 52
        x[i] = p
    low, high = low_bits.view(np.float64), high_bits.view(np.float64)  # the same memory, read as doubles
    for i in range(x.size):
        x[i] = x[i] * low[i] * high[i]


@compiled
def weigh(losses: Array, eta: float, q: Array, low_bits: Array, high_bits: Array) -> float:
    """Write exp(-eta (L_i - min L)) into q and return the sum."""
    smallest = losses[0]
    for i in range(losses.size):
        smallest = min(smallest, losses[i])
    for i in range(losses.size):
        q[i] = -eta * (losses[i] - smallest)
    exponentials(q, low_bits, high_bits)
    total = 0.0
    for i in range(losses.size):
        total += q[i]
    return total


@compiled
def weigh_frozen(losses: Array, count: int, eta: float, q: Array, low_bits: Array, high_bits: Array) -> None:
    """Write exp(-eta L) of `count` slots, losses (slots, m) with smallest 0, into the flat work space q."""
    size = losses.shape[1]
    for s in range(count):
        for i in range(size):
            q[s * size + i] = -eta * losses[s, i]
    exponentials(q[: count * size], low_bits, high_bits)


@compiled
def mix(pi: Array, q: Array, total: float, weighed: int, on: float, off: float, w: Array) -> None:
    """Write the mixture w = sum_i q_i pi_i / total over the models into w (k,).

    pi (n, k) are the policies; q (m,) weighs them, the constant policies behind them, or both. A constant policy
    gives `on` to its own model and `off` to every other.
    """
    n, k = pi.shape
    for j in range(k):
        w[j] = 0.0
    if weighed != spec.WEIGH_POLICIES:
        first = n if weighed == spec.WEIGH_EXTENDED else 0
        rest = 0.0
        for j in range(k):
            rest += q[first + j]
        for j in range(k):
            w[j] = (on - off) * q[first + j] + off * rest
    if weighed != spec.WEIGH_MODELS:
        # Four policies at a time: w is read and written a quarter as often.
        i = 0
        while i + 4 <= n:
            a, b, c, d = q[i], q[i + 1], q[i + 2], q[i + 3]
            # Only what weighs exactly nothing may be left out: query rules ask whether a class has any mass at all.
            if max(max(a, b), max(c, d)) > 0.0:
                for j in range(k):
                    w[j] += a * pi[i, j] + b * pi[i + 1, j] + c * pi[i + 2, j] + d * pi[i + 3, j]
            i += 4
        while i < n:
            for j in range(k):
                w[j] += q[i] * pi[i, j]
            i += 1
    share = 1.0 / total
    for j in range(k):
        w[j] *= share


@compiled
def mix_roughly(pi: Array, q: Array, count: int, weighed: int, on: float, off: float, light: float, w: Array) -> None:
    """Write `count` mixtures at once, q (count, m) into w (count, k), in single precision and without dividing.

    Policies lighter than `light` may be left out. Good to `rough_margin`: enough to name the winner of most
    rounds, at a fraction of the cost.
    """
    n, k = pi.shape
    single = np.float32
    for s in range(count):
        for j in range(k):
            w[s, j] = single(0)
        if weighed != spec.WEIGH_POLICIES:
            first = n if weighed == spec.WEIGH_EXTENDED else 0
            rest = single(0)
            for j in range(k):
                rest += q[s, first + j]
            for j in range(k):
                w[s, j] = single(on - off) * q[s, first + j] + single(off) * rest
    s = 0
    while weighed != spec.WEIGH_MODELS and s + 4 <= count:
        _add_four_mixtures(pi, q, s, light, w)
        s += 4
    while weighed != spec.WEIGH_MODELS and s < count:
        for i in range(n):
            for j in range(k):
                w[s, j] += q[s, i] * single(pi[i, j])
        s += 1


@compiled
def _add_four_mixtures(pi: Array, q: Array, s: int, light: float, w: Array) -> None:
    """Add four policies to four mixtures at a time: each number of pi that is read is used four times."""
    n, k = pi.shape
    threshold = np.float32(light)
    i = 0
    while i + 4 <= n:
        a0, b0, c0, d0 = q[s, i], q[s, i + 1], q[s, i + 2], q[s, i + 3]
        a1, b1, c1, d1 = q[s + 1, i], q[s + 1, i + 1], q[s + 1, i + 2], q[s + 1, i + 3]
        a2, b2, c2, d2 = q[s + 2, i], q[s + 2, i + 1], q[s + 2, i + 2], q[s + 2, i + 3]
        a3, b3, c3, d3 = q[s + 3, i], q[s + 3, i + 1], q[s + 3, i + 2], q[s + 3, i + 3]
        ab = max(max(max(a0, b0), max(a1, b1)), max(max(a2, b2), max(a3, b3)))
        cd = max(max(max(c0, d0), max(c1, d1)), max(max(c2, d2), max(c3, d3)))
        if max(ab, cd) < threshold:
            i += 4
            continue
        for j in range(k):
            e, f = np.float32(pi[i, j]), np.float32(pi[i + 1, j])
            g, h = np.float32(pi[i + 2, j]), np.float32(pi[i + 3, j])
            w[s, j] += a0 * e + b0 * f + c0 * g + d0 * h
            w[s + 1, j] += a1 * e + b1 * f + c1 * g + d1 * h
            w[s + 2, j] += a2 * e + b2 * f + c2 * g + d2 * h
            w[s + 3, j] += a3 * e + b3 * f + c3 * g + d3 * h
        i += 4
    while i < n:
        for j in range(k):
            e = np.float32(pi[i, j])
            w[s, j] += q[s, i] * e
            w[s + 1, j] += q[s + 1, i] * e
            w[s + 2, j] += q[s + 2, i] * e
            w[s + 3, j] += q[s + 3, i] * e
        i += 1


@compiled
def rough_margin(size: int, k: int, light: float) -> float:
    """Return a lead that a rough mixture over `size` policies cannot show by error alone.

    Rounding moves a sum of positive terms by at most `size` units in the last place, either way on both sides; what
    was left out is at most `size * light`, and the largest of k scores at least 1/k of the heaviest policy's 1.
    """
    return 4.0 * (size + 8) * 2.0**-24 + 2.0 * size * k * light


@compiled
def certain_winner(scores: Array, margin: float) -> int:
    """Return the argmax of positive scores if it leads by more than the margin, else -1."""
    top = scores[0]
    for j in range(scores.size):
        top = max(top, scores[j])
    bar = top * np.float32(1.0 - margin)
    near = 0
    for j in range(scores.size):
        near += scores[j] >= bar
    # Below the bar of normal single precision relative errors mean nothing.
    if near == 1 and top > 1e-25:
        for j in range(scores.size):
            if scores[j] >= bar:
                return j
    return -1


@compiled
def tie_bar(top: float) -> float:
    """Return the least score that ties with the top one."""
    return top - _TIE * abs(top)


@compiled
def pick_tied(scores: Array, uniform: float) -> int:
    """Return the argmax of scores; those within 1e-12 (relative) of the top tie, and the uniform picks one."""
    top = scores[0]
    for j in range(scores.size):
        top = max(top, scores[j])
    bar = tie_bar(top)
    tied = 0
    for j in range(scores.size):
        tied += scores[j] >= bar
    wanted = int(uniform * tied)
    for j in range(scores.size):
        if scores[j] >= bar:
            if wanted == 0:
                return j
            wanted -= 1
    return 0


@compiled
def draw(probabilities: Array, uniform: float) -> int:
    """Return an index drawn from unnormalised probabilities by inversion."""
    total = 0.0
    for j in range(probabilities.size):
        total += probabilities[j]
    target = uniform * total
    reached = 0.0
    for j in range(probabilities.size):
        reached += probabilities[j]
        if reached > target:
            return j
    return probabilities.size - 1
