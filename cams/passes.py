"""What goes along one realization, a stretch at a time: compiled learners, and the count of losses in hindsight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.engine import spec
from cams.engine.hindsight import Count, count_losses, new_count
from cams.engine.kernel import new_game, play_rounds
from cams.engine.spec import KernelSpec
from cams.engine.state import Game, Stream
from cams.policies import constant_masses
from cams.stage import Run, Stage
from cams.stored import Part

Array = npt.NDArray[Any]


def _stream(stage: Stage, part: Part, rows: Array, draws: Array, regularized: bool) -> Stream:
    on, off = constant_masses(part.predictions.shape[1], regularized=regularized)
    after = stage.horizon - part.start - len(rows)
    return Stream(
        rows, part.predictions, part.labels, part.advice, draws, stage.bundle.num_classes, on, off,
        before=part.start, after=after, gaps=stage.gaps,
    )  # fmt: skip


class Pass:
    """A compiled learner, with all budgets of a run, on one realization: it goes on where it stopped.

    Runs that ask for the same labels and name the same models share a pass. So does one that follows the best policy in
    hindsight, whose losses are known without it.
    """

    def __init__(self, stage: Stage, runs: list[Run], kernel: KernelSpec, realization: int) -> None:
        self.stage, self.runs, self.kernel, self.realization = stage, runs, kernel, realization
        self.budgets = stage.budgets[runs[0].block]
        self.traces = np.zeros((2, len(self.budgets), len(stage.grid)), dtype=np.int64)
        self.game: Game | None = None

    @property
    def reads_advice(self) -> bool:
        by_votes = self.kernel.recommend == spec.RECOMMEND_LEADER or self.kernel.weigh == spec.WEIGH_MODELS
        return self.stage.bundle.num_policies > 0 and not by_votes

    def take_up(self, part: Part, rows: Array, draws: Array) -> None:
        """Turn to the whole stream or its next part: rows (T,) of it are the rounds to come, draws (T, 4) theirs."""
        stream = _stream(self.stage, part, rows, draws, self.kernel.regularize)
        if self.game is None:
            self.game = new_game(self.kernel, stream, len(self.budgets))
        self.game = self.game._replace(stream=stream)

    def play(self, first: int, last: int) -> None:
        """Play the rounds from first to before last of what was taken up."""
        assert self.game is not None
        play_rounds(self.game, self.budgets, self.stage.grid, self.traces[0], self.traces[1], first, last)

    def finish(self) -> None:
        """Write the results of all runs, once the realization is played and counted in hindsight to its end."""
        for run in self.runs:
            loss, queries, loss_trace, queries_trace = self.stage.out(run, self.realization)
            loss_trace[:], queries_trace[:] = self.traces
            if run.learner.needs_hindsight:
                loss_trace[:] = self.stage.losses_of_best_policy(self.realization)
            # The last round of all is always on the grid.
            loss[:], queries[:] = loss_trace[:, -1], queries_trace[:, -1]


def passes(stage: Stage, runs: Iterable[Run], realization: int) -> list[Pass]:
    """Return the passes that play these runs on a realization."""
    alike: dict[tuple[KernelSpec, int, int], list[Run]] = {}
    for run in runs:
        kernel = run.learner.kernel()
        assert kernel is not None  # only learners with a compiled twin are played in passes
        alike.setdefault((kernel, run.block.start, run.block.stop), []).append(run)
    return [Pass(stage, same, kernel, realization) for (kernel, _, _), same in alike.items()]


class Hindsight:
    """What every single model, and every policy's favourite, loses on one realization."""

    def __init__(self, stage: Stage, realization: int) -> None:
        self.stage = stage
        self.losses = [stage.arrays[name][realization] for name in ("policy", "model", "follower")]
        self.count: Count | None = None

    def take_up(self, part: Part, rows: Array, draws: Array, verdicts: Array) -> None:
        """As that of a pass; verdicts (N, n) are found on the way where they are unknown."""
        self.stream, self.verdicts = _stream(self.stage, part, rows, draws, self.stage.regularize), verdicts
        if self.count is None:
            n, k = part.advice.shape[1:]
            self.count = new_count(n, k, part.advice.dtype)

    def play(self, first: int, last: int) -> None:
        assert self.count is not None
        policies, models, followers = self.losses
        count_losses(
            self.stream, self.verdicts, self.stage.grid, policies, models, followers, self.count, first, last
        )  # fmt: skip
