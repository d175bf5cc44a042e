"""Machine instructions that compiled Python has no word for, and plain functions to take their place.

`cams.engine.llvm` writes them through numba's internals. They are used where those may be relied on (`PLAIN_LOOPS` of
`cams.engine.compiled`) and a trial gives the right numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cams.engine.compiled import PLAIN_LOOPS, Array, compiled
from cams.engine.spec import TILE_MODELS, TILE_SLOTS

CACHE_LINE = 64


@compiled
def plain_larger(first: float, second: float) -> float:
    """Return the larger of two numbers of one type, as a loop over it may be vectorised, unlike one over max."""
    return first if first > second else second


@compiled
def plain_smaller(first: float, second: float) -> float:
    return first if first < second else second


@compiled
def plain_prefetch(array: Array, position: int) -> None:
    """Ask for the memory around an element of an array, and do not wait for it; or, plainly, do not ask."""


@compiled
def plain_add_tile(
    pi: Array, listed: Array, group: int, num_listed: int, q: Array, first_slot: int, w: Array, first_model: int
) -> None:
    """Add sum_i q[s, i] pi[i, j] over the listed policies i to w[s, j], for 4 slots s and 16 models j."""
    for x in range(num_listed):
        i = listed[group, x]
        for s in range(first_slot, first_slot + TILE_SLOTS):
            for j in range(first_model, first_model + TILE_MODELS):
                w[s, j] += q[s, i] * np.float32(pi[i, j])


def _written_in_llvm() -> Any:
    """Return the module of LLVM code if it may be used and passes a trial, else None."""
    if PLAIN_LOOPS:
        return None
    # Whatever goes wrong with code that relies on numba's internals, there is a plain way to go on.
    try:
        from cams.engine import llvm

        return llvm if _passes_trial(llvm) else None
    except Exception:
        return None


def _passes_trial(llvm: Any) -> bool:
    pi = np.arange(2 * TILE_MODELS, dtype=np.float32).reshape(2, TILE_MODELS)
    q = np.arange(2 * TILE_SLOTS, dtype=np.float32).reshape(TILE_SLOTS, 2)
    w = np.ones((TILE_SLOTS, TILE_MODELS), dtype=np.float32)
    expected = w + q @ pi
    return llvm.trial(pi, np.arange(2).reshape(1, 2), q, w) == 2.0 and bool((w == expected).all())


_llvm = _written_in_llvm()

larger: Any = _llvm.larger if _llvm else plain_larger
smaller: Any = _llvm.smaller if _llvm else plain_smaller
prefetch: Any = _llvm.prefetch if _llvm else plain_prefetch
add_tile: Any = _llvm.add_tile if _llvm else plain_add_tile


# With fewer less of the wait is over when the row is read, with more the processor waits for a place to note them.
_LINES_ASKED_FOR = 12


@compiled
def ask_for(advice: Array) -> None:
    """Ask for the first of a row of advice that is about to be read, so that it comes while something else is done."""
    step = CACHE_LINE // advice.itemsize
    for line in range(0, min(advice.size, _LINES_ASKED_FOR * step), step):
        prefetch(advice, line)
