"""One run's pass over one realization, played a stretch at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cams.engine.hindsight import models_of_policy
from cams.engine.kernel import new_game, play_rounds
from cams.engine.state import Game, Stream
from cams.policies import constant_masses
from cams.stage import Run, Stage
from cams.stored import Part

Array = npt.NDArray[Any]


class Pass:
    """A compiled learner, with all budgets of a run, on one realization: it goes on where it stopped."""

    def __init__(self, stage: Stage, run: Run, realization: int) -> None:
        kernel = run.learner.kernel()
        assert kernel is not None  # only learners with a compiled twin are played in passes
        self.stage, self.kernel, self.budgets = stage, kernel, stage.budgets[run.block]
        self.best = stage.best_policy(realization) if run.learner.needs_hindsight else None
        self.loss, self.queries, self.loss_trace, self.queries_trace = stage.out(run, realization)
        self.models = np.empty(0, dtype=np.int64)
        self.game: Game | None = None

    def take_up(self, part: Part, rows: Array, draws: Array, favourites: Array) -> None:
        """Turn to the whole stream or its next part: rows (T,) of it are the rounds to come, draws (T, 4) theirs."""
        on, off = constant_masses(part.predictions.shape[1], regularized=self.kernel.regularize)
        after = self.stage.horizon - part.start - len(rows)
        stream = Stream(
            rows, part.predictions, part.labels, part.advice, draws, self.stage.bundle.num_classes, on, off,
            before=part.start, after=after, gaps=self.stage.gaps,
        )  # fmt: skip
        if self.best is not None:
            self.models = models_of_policy(self.best, rows, part.predictions, part.advice, favourites, draws)
        if self.game is None:
            self.game = new_game(self.kernel, stream, len(self.budgets))
        self.game = self.game._replace(stream=stream)

    def play(self, first: int, last: int) -> None:
        """Play the rounds from first to before last of what was taken up."""
        assert self.game is not None
        traces = self.loss_trace, self.queries_trace
        play_rounds(self.game, self.models, self.budgets, self.stage.grid, *traces, first, last)
        # The last round of all is always on the grid.
        self.loss[:], self.queries[:] = self.loss_trace[:, -1], self.queries_trace[:, -1]
