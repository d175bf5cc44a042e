"""The arithmetic that a round spends its time on: exponential weights, mixtures over models, ties and draws."""

from __future__ import annotations

import numpy as np

from cams.engine import spec
from cams.engine.compiled import Array, compiled, compiled_in_order
from cams.engine.instructions import larger, smaller

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
def copy_row(source: Array, target: Array) -> None:
    """Copy one row of numbers to another; target[:] = source would compile for seconds, for its error messages."""
    for i in range(source.size):
        target[i] = source[i]


@compiled
def largest(values: Array) -> float:
    top: float = values[0]
    for i in range(values.size):
        top = larger(top, values[i])
    return top


@compiled
def weigh(losses: Array, eta: float, q: Array, low_bits: Array, high_bits: Array) -> float:
    """Write exp(-eta (L_i - min L)) into q and return the sum."""
    smallest = losses[0]
    for i in range(losses.size):
        smallest = smaller(smallest, losses[i])
    for i in range(losses.size):
        q[i] = -eta * (losses[i] - smallest)
    exponentials(q, low_bits, high_bits)
    total = 0.0
    for i in range(losses.size):
        total += q[i]
    return total


@compiled
def weigh_with_prior(
    losses: Array, eta: float, oddness: Array, strength: float, q: Array, low_bits: Array, high_bits: Array
) -> float:
    """Write exp(-eta L_i - strength * oddness_i), times what makes the largest 1, into q and return the sum."""
    smallest = losses[0]
    for i in range(losses.size):
        smallest = smaller(smallest, losses[i])
    top = -np.inf
    for i in range(losses.size):
        q[i] = -(eta * (losses[i] - smallest) + strength * oddness[i])
        top = larger(top, q[i])
    for i in range(losses.size):
        q[i] -= top
    exponentials(q, low_bits, high_bits)
    total = 0.0
    for i in range(losses.size):
        total += q[i]
    return total


@compiled
def add_expected(weighed: int, pi: Array, on: float, off: float, values: Array, totals: Array) -> None:
    """Add <pi_i, values> to totals (m,) for every policy i that is weighed; values (k,) belong to the models."""
    n, k = pi.shape
    first = 0
    if weighed != spec.WEIGH_MODELS:
        for i in range(n):
            total = 0.0
            for j in range(k):
                total += pi[i, j] * values[j]
            totals[i] += total
        first = n
    if weighed != spec.WEIGH_POLICIES:
        everywhere = 0.0
        for j in range(k):
            everywhere += values[j]
        for j in range(k):
            totals[first + j] += (on - off) * values[j] + off * everywhere


@compiled
def mix(pi: Array, q: Array, total: float, weighed: int, on: float, off: float, w: Array) -> None:
    """Write the mixture w = sum_i q_i pi_i / total over the models into w (k,).

    pi (n, k) are the policies; q (m,) weighs them, the constant policies behind them, or both. A constant policy
    gives `on` to its own model and `off` to every other.
    """
    n, k = pi.shape
    w[:] = 0.0
    if weighed != spec.WEIGH_POLICIES:
        constants = q[n:] if weighed == spec.WEIGH_EXTENDED else q
        rest = 0.0
        for j in range(k):
            rest += constants[j]
        for j in range(k):
            w[j] = (on - off) * constants[j] + off * rest
    if weighed != spec.WEIGH_MODELS:
        # Two policies at a time: with one w is read and written twice as often, with more the processor no longer sees
        # that memory is read in order.
        for i in range(0, n - 1, 2):
            a, b = q[i], q[i + 1]
            for j in range(k):
                w[j] += a * pi[i, j] + b * pi[i + 1, j]
        if n % 2:
            for j in range(k):
                w[j] += q[n - 1] * pi[n - 1, j]
    share = 1.0 / total
    for j in range(k):
        w[j] *= share


@compiled
def tie_bar(top: float) -> float:
    """Return the least score that ties with the top one."""
    return top - _TIE * abs(top)


@compiled
def pick_tied(scores: Array, uniform: float) -> int:
    """Return the argmax of scores; those within 1e-12 (relative) of the top tie, and the uniform picks one."""
    top = scores[0]
    for j in range(scores.size):
        top = larger(top, scores[j])
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
