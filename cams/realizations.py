"""Replaying a bundle: many realizations of its pool as a stream, through any learners, at many budgets.

result = cams.replay(bundle, ["cams", "mp"], horizon=3000, budgets=[100, 500], realizations=50, seed=0)
result.summary()
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cams.bundle import Bundle
from cams.checks import as_array, integers, whole_number
from cams.engine.compiled import is_compiled
from cams.errors import InputError
from cams.outcome import BEST_MODEL, BEST_POLICY, Replay
from cams.parts import play_parts
from cams.pool import play_pool
from cams.stage import LearnerLike, Player, Stage
from cams.stored import StoredBundle

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

# Learners keep a number per class; a label beyond it is an id of something, not a class.
MOST_CLASSES = 10**7
COMPILING = "compiling the replay engine first, once: half a minute or so"


def replay(
    bundle: Bundle | StoredBundle,
    learners: Sequence[LearnerLike],
    *,
    horizon: int,
    budgets: Sequence[int] | Array,
    realizations: int,
    seed: int,
    n_jobs: int = 1,
    regularize: bool = False,
    scaled: bool = False,
    trace: Sequence[int] | Array | None = None,
    order: Array | Literal["stream"] | None = None,
    first_realization: int = 0,
    progress: bool | None = None,
) -> Replay:
    """Replay realizations of a bundle through learners.

    A realization is `horizon` rows of the pool without replacement in random order, or row `r` of `order` (R, T), or
    with `order="stream"` the first rows as they come, which is how a `StoredBundle` is replayed. All learners see the
    same order and the same uniforms. A learner is a name, a pair (name, settings), or a mapping with `name`, settings,
    and a `label` to tell two of one name apart. `regularize` keeps policies away from 0, `scaled` spreads each budget
    over the known horizon, `trace` lists rounds at which to record cumulative values. Threads (`n_jobs`) divide
    realizations; results do not depend on how. A part of a replay, to be joined with others by `Replay.joined`, starts
    at `first_realization`.
    """
    _check_kinds(bundle, learners, {"regularize": regularize, "scaled": scaled})
    if progress is not None and not isinstance(progress, bool):
        raise InputError(f"progress is {progress!r}, expected true, false or None")
    asked = _checked_budgets(budgets)
    horizon, realizations = whole_number("horizon", horizon, 1), whole_number("realizations", realizations, 1)
    seed, n_jobs = whole_number("seed", seed, 0), whole_number("n_jobs", n_jobs, 1)
    first_realization = whole_number("first_realization", first_realization, 0, 2**63 - 1 - realizations)
    order = _checked_order(bundle, horizon, realizations, order)
    trace_grid = _checked_trace(trace, horizon)
    players = [Player.parse(learner, bundle, horizon, regularize, scaled) for learner in learners]
    _check_labels(players)
    stage = _stage(
        bundle=bundle,
        players=players,
        # The engine spends one budget after another, so it wants each once and in ascending order.
        budgets=np.unique(asked),
        # The last round is always recorded: it is where the best policy and the final losses are read.
        grid=trace_grid if trace_grid.size and trace_grid[-1] == horizon else np.append(trace_grid, horizon),
        realizations=realizations,
        first_realization=first_realization,
        seed=seed,
        regularize=regularize,
    )
    if not (_silent(progress) or is_compiled()):
        tqdm.write(COMPILING, file=sys.stderr)
    total = realizations * horizon
    with (
        ThreadPoolExecutor(max_workers=n_jobs) as pool,
        tqdm(total=total, desc="replay", unit="round", unit_scale=True, disable=_silent(progress), leave=False) as bar,
    ):
        try:
            if isinstance(bundle, StoredBundle):
                play_parts(stage, bundle, pool, bar)
            else:
                play_pool(stage, bundle, order, pool, bar)
        except BaseException:
            # Who interrupts a long replay does not want to wait for the rest of it.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return stage.result(asked, trace_grid)


def _stage(**shared: Any) -> Stage:
    try:
        return Stage(**shared)
    except MemoryError:
        counts = f"{shared['realizations']} realizations at {len(shared['budgets'])} budgets"
        raise InputError(f"the results of {counts} and {len(shared['grid'])} rounds do not fit into memory") from None


def _silent(progress: bool | None) -> bool | None:
    """tqdm's own word for it: None shows a bar on a terminal only."""
    return None if progress is None else not progress


def _check_kinds(bundle: object, learners: object, switches: Mapping[str, object]) -> None:
    if not isinstance(bundle, Bundle | StoredBundle):
        raise InputError(f"expected a Bundle, not {type(bundle).__name__}; cams.Bundle.load reads one from a file")
    if bundle.num_classes > MOST_CLASSES:
        raise InputError(f"the bundle has {bundle.num_classes} classes, a replay can have {MOST_CLASSES}")
    if isinstance(learners, str):
        raise InputError(f"learners must be a list, such as ['{learners}']")
    if not isinstance(learners, Sequence):
        raise InputError(f"learners is {learners!r}, expected a list")
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise InputError(f"{name} is {value!r}, expected true or false")


def _checked_budgets(budgets: Sequence[int] | Array) -> Integers:
    array = integers("budgets", budgets, ndim=1)
    if array.size == 0:
        raise InputError("budgets is empty, expected at least one")
    if array.min() < 0:
        raise InputError(f"budget {array.min()} is negative")
    return array.astype(np.int64)


def _checked_order(
    bundle: Bundle | StoredBundle, horizon: int, realizations: int, order: Array | Literal["stream"] | None
) -> Array | Literal["stream"] | None:
    if isinstance(order, str) and order != "stream":
        raise InputError(f"order is '{order}', expected row numbers or 'stream'")
    if isinstance(bundle, StoredBundle):
        if not isinstance(order, str):
            raise InputError("a stored bundle is replayed in the order of its rows: order='stream'")
    elif bundle.labels is None:
        raise InputError("a bundle without labels cannot be replayed")
    if order is None or isinstance(order, str):
        if horizon > bundle.num_rows:
            raise InputError(f"horizon is {horizon}, but the bundle has only {bundle.num_rows} rows")
        return order
    # An array, for the rows of a table are not what its brackets give.
    rows = as_array("order", order)
    if rows.shape != (realizations, horizon):
        raise InputError(f"order has shape {rows.shape}, expected ({realizations}, {horizon})")
    if rows.dtype.kind not in "iu":
        raise InputError(f"order has type {rows.dtype}, expected row numbers")
    if rows.min() < 0 or rows.max() >= bundle.num_rows:
        raise InputError(f"order names rows outside 0..{bundle.num_rows - 1}")
    return rows


def _checked_trace(trace: Sequence[int] | Array | None, horizon: int) -> Integers:
    # Signed before differences are taken: those of unsigned numbers are never negative.
    grid = integers("trace", [] if trace is None else trace, ndim=1).astype(np.int64)
    if grid.size and (grid[0] < 1 or grid[-1] > horizon or (np.diff(grid) <= 0).any()):
        raise InputError(f"trace must list rounds between 1 and {horizon} in ascending order")
    return grid


def _check_labels(players: list[Player]) -> None:
    if not players:
        raise InputError("there is no learner to replay")
    labels = [player.label for player in players]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"learner '{label}' is listed twice; give each a label of its own")
        if label in (BEST_MODEL, BEST_POLICY):
            raise InputError(f"learner label '{label}' is what the summary calls a reference, give it another")
