"""Replaying a bundle that is in memory: every realization in an order of its own, in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cams.bundle import Bundle
from cams.engine.hindsight import favourite_models, hindsight_losses, models_of_policy
from cams.engine.kernel import replay_realization
from cams.engine.state import Stream
from cams.learners.base import among_answers
from cams.policies import constant_masses
from cams.policies import regularize as regularize_advice
from cams.rounds import play
from cams.stage import Run, Stage

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

# Rows a thread takes at a time when it looks up favourite models.
_FAVOURITES_BLOCK = 1000


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

    list(pool.map(table.find_favourites, range(0, bundle.num_rows, _FAVOURITES_BLOCK)))
    for _ in pool.map(play_one, range(stage.realizations)):
        bar.update(horizon)


def _advice_followed(bundle: Bundle, regularize: bool) -> Array:
    """Return advice (N, n, k) as a follower of policies sees it: regularised if asked, none for models that abstain."""
    advice = regularize_advice(bundle.advice) if regularize else bundle.advice
    if not bundle.abstains:
        return advice
    return np.stack([among_answers(pi, votes) for pi, votes in zip(advice, bundle.predictions, strict=True)])


class PoolStage:
    """A stage whose bundle is in memory."""

    def __init__(self, stage: Stage, bundle: Bundle) -> None:
        assert bundle.labels is not None  # `_check_stream` refuses a bundle without labels
        self.stage, self.bundle, self.labels = stage, bundle, bundle.labels
        self.advice = _advice_followed(bundle, stage.regularize)
        self.favourites = np.empty((bundle.num_rows, bundle.num_policies), dtype=np.int32)

    def find_favourites(self, start: int) -> None:
        """Write down every policy's favourite model for a block of rows; all realizations look it up."""
        block = slice(start, start + _FAVOURITES_BLOCK)
        favourite_models(self.advice[block], self.favourites[block])

    def play(self, realization: int, rows: Integers, draws: Array) -> None:
        stage = self.stage
        hindsight_losses(
            rows, self.bundle.predictions, self.labels, self.advice, self.favourites, draws, stage.grid,
            stage.arrays["model"][realization], stage.arrays["policy"][realization],
        )  # fmt: skip
        best = stage.best_policy(realization)
        for run in stage.runs:
            play_run = self._play_compiled if stage.is_compiled(run.learner) else self._play_slowly
            play_run(run, rows, draws, best, stage.out(run, realization))

    def _play_compiled(self, run: Run, rows: Integers, draws: Array, best: int, out: list[Array]) -> None:
        kernel, bundle = run.learner.kernel(), self.bundle
        assert kernel is not None
        on, off = constant_masses(bundle.num_models, regularized=kernel.regularize)
        models = np.empty(0, dtype=np.int64)
        if run.learner.needs_hindsight:
            models = models_of_policy(best, rows, self.advice, self.favourites, draws)
        stream = Stream(rows, bundle.predictions, self.labels, self.advice, draws, bundle.num_classes, on, off)
        replay_realization(stream, kernel, models, self.stage.budgets[run.block], self.stage.grid, *out)

    def _play_slowly(self, run: Run, rows: Integers, draws: Array, best: int, out: list[Array]) -> None:
        """Run a learner itself, round by round."""
        loss, queries, loss_trace, queries_trace = out
        budget, grid = int(self.stage.budgets[run.block.start]), self.stage.grid
        learner = run.player.make(budget, best)
        mistakes, bought = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        for step, (row, decided, label) in enumerate(play(learner, self.bundle, rows, draws, budget=budget)):
            mistakes[step] = decided.predictions[decided.model] != self.labels[row]
            bought[step] = label is not None
        loss_trace[0], queries_trace[0] = mistakes.cumsum()[grid - 1], bought.cumsum()[grid - 1]
        loss[0], queries[0] = loss_trace[0, -1], queries_trace[0, -1]
