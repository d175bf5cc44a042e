"""Many mixtures at once, in single precision: the one place where vector registers are spelled out.

Left to the compiler, a product of small matrices goes to memory and back for every few additions. Here the sums of a
tile, 4 mixtures by 16 models, stay in 8 registers while all policies pass by. Meanwhile the next row of the stream,
which is anywhere in memory, is already on its way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError

from cams.engine import spec
from cams.engine.compiled import Array, compiled, instruction

# More registers than this the compiler would move to memory and back.
TILE_SLOTS = 4
_TILE_MODELS = 16
# Fewer slots than this are cheaper one by one than as a tile with empty rows.
_FEWEST_TILED = 3
_LANES = 8
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_CACHE_LINE = 64


@instruction
def _add_tile(
    typing_context: Any,
    pi: Any,
    listed: Any,
    group: Any,
    num_listed: Any,
    q: Any,
    first_slot: Any,
    w: Any,
    first_model: Any,
) -> Any:
    """Add sum_i q[s, i] pi[i, j] over the listed policies i to w[s, j], for 4 slots s and 16 models j."""
    if any(array.layout != "C" for array in (pi, listed, q, w)):
        raise TypingError("a tile needs arrays in C order")
    if (listed.dtype, q.dtype, w.dtype) != (types.int64, types.float32, types.float32):
        raise TypingError(f"a tile needs int64, float32 and float32, not {listed.dtype}, {q.dtype} and {w.dtype}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def array(position: int) -> tuple[Any, Any]:
            view = context.make_array(signature.args[position])(context, builder, arguments[position])
            return view.data, cgutils.unpack_tuple(builder, view.shape)[-1]

        def address(data: Any, row: Any, row_length: Any, column: Any) -> Any:
            return builder.gep(data, [builder.add(builder.mul(row, row_length), column)])

        def load(pointer: Any, kind: Any) -> Any:
            element = context.get_data_type(kind.dtype)
            wide = builder.bitcast(pointer, ir.VectorType(element, _LANES).as_pointer())
            vector = builder.load(wide, align=kind.dtype.bitwidth // 8)
            return vector if kind.dtype == types.float32 else builder.fptrunc(vector, _VECTOR)

        def everywhere(number: Any) -> Any:
            single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.IntType(32)(0))
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
            return builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), lanes)

        (pi_data, k), (listed_data, n), (q_data, m), (w_data, _) = array(0), array(1), array(4), array(6)
        group_, num_listed_, first_slot_, first_model_ = (arguments[position] for position in (2, 3, 5, 7))
        slots = [builder.add(first_slot_, first_slot_.type(s)) for s in range(TILE_SLOTS)]
        columns = [builder.add(first_model_, first_model_.type(j)) for j in range(0, _TILE_MODELS, _LANES)]
        places = [[address(w_data, slot, k, column) for column in columns] for slot in slots]
        sums = [[cgutils.alloca_once_value(builder, load(place, w)) for place in row] for row in places]
        with cgutils.for_range(builder, num_listed_) as loop:
            i = builder.load(address(listed_data, group_, n, loop.index))
            advice = [load(address(pi_data, i, k, column), pi) for column in columns]
            for slot, row in zip(slots, sums, strict=True):
                weight = everywhere(builder.load(address(q_data, slot, m, i)))
                for total, values in zip(row, advice, strict=True):
                    product = builder.fmul(weight, values, flags=("contract",))
                    builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
        for place_row, sum_row in zip(places, sums, strict=True):
            for place, total in zip(place_row, sum_row, strict=True):
                builder.store(builder.load(total), builder.bitcast(place, _VECTOR.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(pi, listed, group, num_listed, q, first_slot, w, first_model), generate


@instruction
def _prefetch(typing_context: Any, array: Any, position: Any) -> Any:
    """Ask for the memory around an element of an array, and do not wait for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        to_read, to_keep, data = number(0), number(3), number(1)
        place = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(fetch, [place, to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(array, position), generate


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
    num_tiles = (count + TILE_SLOTS - _FEWEST_TILED) // TILE_SLOTS * (k // _TILE_MODELS)
    # A bit of the next row before each tile: processors keep track of a dozen or two lines at a time.
    fetched, portion = 0, ahead.size // max(1, num_tiles) + 1
    for s in range(0, count, TILE_SLOTS):
        group = s // TILE_SLOTS
        if count - s < _FEWEST_TILED:
            for slot in range(s, count):
                _add_mixture(pi, q, slot, w)
            continue
        j = 0
        while j + _TILE_MODELS <= k:
            stop = min(fetched + portion, ahead.size)
            while fetched < stop:
                _prefetch(ahead, fetched)
                fetched += _CACHE_LINE // ahead.itemsize
            _add_tile(pi, listed, group, num_listed[group], q, s, w, j)
            j += _TILE_MODELS
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
    """Add all policies to a single mixture, in the order in which they lie in memory, four at a time."""
    n, k = pi.shape
    i = 0
    while i + 4 <= n:
        a, b, c, d = q[s, i], q[s, i + 1], q[s, i + 2], q[s, i + 3]
        for j in range(k):
            e, f = np.float32(pi[i, j]), np.float32(pi[i + 1, j])
            g, h = np.float32(pi[i + 2, j]), np.float32(pi[i + 3, j])
            w[s, j] += a * e + b * f + c * g + d * h
        i += 4
    while i < n:
        for j in range(k):
            w[s, j] += q[s, i] * np.float32(pi[i, j])
        i += 1


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
