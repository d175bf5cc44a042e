"""Replaying a bundle that is in memory: every realization in an order of its own, in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cams.bundle import Bundle
from cams.engine.hindsight import unknown_verdicts
from cams.passes import Hindsight, passes
from cams.policies import regularize as regularize_advice
from cams.rounds import play
from cams.stage import Run, Stage

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

# Who reads advice takes turns at blocks of rounds whose advice is about so large: it stays in the cache for everybody.
# Smaller blocks gain nothing more, and each turn costs some ten microseconds; of larger ones other users of the cache
# leave little there.
_BLOCK_BYTES = 2 * 2**20
_LEAST_ROUNDS = 16


def play_pool(
    stage: Stage, bundle: Bundle, order: Array | Literal["stream"] | None, pool: ThreadPoolExecutor, bar: tqdm[Any]
) -> None:
    """Play a bundle that is in memory, every realization in an order of its own."""
    horizon = stage.horizon
    table = PoolStage(stage, bundle)

    def play_one(realization: int) -> None:
        if order is None:
            rows = stage.order(realization)
        else:
            rows = np.arange(horizon) if isinstance(order, str) else order[realization]
        draws = stage.uniforms(realization).random((horizon, 4))
        table.play(realization, np.ascontiguousarray(rows, dtype=np.int64), draws)

    for _ in pool.map(play_one, range(stage.realizations)):
        bar.update(horizon)


def rounds_of_block(advice: Array) -> int:
    """Return how many rounds all learners play before any goes on."""
    return max(_LEAST_ROUNDS, _BLOCK_BYTES // max(1, advice[:1].nbytes))


class PoolStage:
    """A stage whose bundle is in memory."""

    def __init__(self, stage: Stage, bundle: Bundle) -> None:
        self.stage, self.bundle, self.whole = stage, bundle, bundle.whole()
        # Threads may find the same verdict at the same time, and then write the same number.
        self.verdicts = bundle.verdicts
        if stage.regularize:
            self.whole = self.whole._replace(advice=regularize_advice(bundle.advice))
            self.verdicts = unknown_verdicts(bundle.num_rows, bundle.num_policies)

    def play(self, realization: int, rows: Integers, draws: Array) -> None:
        """Play all runs over one block of rounds after another: the first to come brings its advice to the cache."""
        stage = self.stage
        hindsight = Hindsight(stage, realization)
        hindsight.take_up(self.whole, rows, draws, self.verdicts)
        learners = passes(stage, [run for run in stage.runs if run.learner.kernel() is not None], realization)
        for one in learners:
            one.take_up(self.whole, rows, draws)
        size = rounds_of_block(self.whole.advice)
        for first in range(0, len(rows), size):
            last = min(first + size, len(rows))
            hindsight.play(first, last)
            for one in learners:
                if one.reads_advice:
                    one.play(first, last)
        for one in learners:
            if not one.reads_advice:
                one.play(0, len(rows))
            one.finish()
        best = stage.best_policy(realization)
        for run in stage.runs:
            if run.learner.kernel() is None:
                self._play_slowly(run, rows, draws, best, stage.out(run, realization))

    def _play_slowly(self, run: Run, rows: Integers, draws: Array, best: int, out: list[Array]) -> None:
        """Run a learner itself, round by round."""
        loss, queries, loss_trace, queries_trace = out
        budget, grid = int(self.stage.budgets[run.block.start]), self.stage.grid
        learner = run.player.make(budget, best)
        mistakes, bought = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        for step, (row, decided, label) in enumerate(play(learner, self.bundle, rows, draws, budget=budget)):
            mistakes[step] = decided.predictions[decided.model] != self.whole.labels[row]
            bought[step] = label is not None
        loss_trace[0], queries_trace[0] = mistakes.cumsum()[grid - 1], bought.cumsum()[grid - 1]
        loss[0], queries[0] = loss_trace[0, -1], queries_trace[0, -1]
