"""Machine instructions that compiled Python has no word for, written as LLVM code through numba's internals.

What each means is said in `cams.engine.instructions`, which decides whether they are used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic as numba_intrinsic

from cams.engine.compiled import Array, compiled
from cams.engine.spec import TILE_MODELS, TILE_SLOTS

# numba's decorator, but for its annotations, which do not know that the typing context is not passed.
intrinsic: Any = numba_intrinsic

_LANES = 8
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)


def _chooser(operation: str) -> Any:
    @intrinsic
    def choose(typing_context: Any, first: Any, second: Any) -> Any:
        if first != second or first not in (types.float32, types.float64):
            raise TypingError(f"expected two numbers of one type, not {first} and {second}")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = arguments[0].type
            function = builder.module.declare_intrinsic(operation, [kind], ir.FunctionType(kind, [kind, kind]))
            return builder.call(function, arguments, fastmath=("nnan", "nsz"))

        return first(first, first), generate

    return choose


@intrinsic
def prefetch(typing_context: Any, array: Any, position: Any) -> Any:
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


@intrinsic
def add_tile(
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
        columns = [builder.add(first_model_, first_model_.type(j)) for j in range(0, TILE_MODELS, _LANES)]
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


larger = _chooser("llvm.maxnum")
smaller = _chooser("llvm.minnum")


@compiled
def trial(pi: Array, listed: Array, q: Array, w: Array) -> float:
    """Use every instruction once: add a tile to w and return 2."""
    prefetch(pi, 0)
    add_tile(pi, listed, 0, 2, q, 0, w, 0)
    two: float = larger(2.0, 3.0) - smaller(1.0, 2.0)
    return two
