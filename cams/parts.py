"""Replaying a stream that is longer than memory: part by part, every run going on where the last part left it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cams.engine.hindsight import favourite_models, hindsight_losses
from cams.errors import InputError
from cams.passes import Pass
from cams.policies import regularize as regularize_advice
from cams.stage import Run, Stage
from cams.stored import Part, StoredBundle

Array = npt.NDArray[Any]


def play_parts(stage: Stage, bundle: StoredBundle, pool: ThreadPoolExecutor, bar: tqdm[Any]) -> None:
    """Play the first rows of a stored bundle in their order, reading each part once for all runs and realizations.

    A learner that follows the best policy in hindsight needs a second reading, when that policy is known.
    """
    for run in stage.runs:
        if run.learner.kernel() is None:
            raise InputError(f"learner '{run.player.name}' has no compiled twin, which a stored bundle needs")
    realizations = range(stage.realizations)
    now = [run for run in stage.runs if not run.learner.needs_hindsight]
    later = [run for run in stage.runs if run.learner.needs_hindsight]
    readers: list[Reader] = [HindsightReader(stage, r) for r in realizations]
    readers += [RunReader(stage, run, r) for run in now for r in realizations]
    _read(stage, bundle, readers, pool, bar)
    if later:
        _read(stage, bundle, [RunReader(stage, run, r) for run in later for r in realizations], pool, bar)


def _read(
    stage: Stage, bundle: StoredBundle, readers: Sequence[Reader], pool: ThreadPoolExecutor, bar: tqdm[Any]
) -> None:
    for part in bundle.parts(stage.horizon):
        if stage.regularize:
            part = part._replace(advice=regularize_advice(part.advice))
        favourites = np.empty(part.advice.shape[:2], dtype=np.int32)
        favourite_models(part.advice, favourites)
        list(pool.map(lambda reader, part=part, found=favourites: reader.read(part, found), readers))
        bar.update(len(part.labels) * stage.realizations)


class Reader(Protocol):
    """What takes in a stream part by part."""

    def read(self, part: Part, favourites: Array) -> None: ...


class HindsightReader:
    """Counts what every model and every policy's favourite loses on one realization."""

    def __init__(self, stage: Stage, realization: int) -> None:
        self.grid = stage.grid
        self.uniforms = stage.uniforms(realization)
        self.by_model, self.by_policy = (stage.arrays[name][realization] for name in ("model", "policy"))
        self.so_far = [np.zeros(array.shape[1], dtype=np.int64) for array in (self.by_model, self.by_policy)]

    def read(self, part: Part, favourites: Array) -> None:
        size = len(part.labels)
        rounds = self.grid - part.start
        here = np.flatnonzero((rounds >= 1) & (rounds <= size))
        # The part's last round as well: it is where the next part goes on.
        local = np.union1d(rounds[here], size)
        found = [np.zeros((len(local), len(known)), dtype=np.int64) for known in self.so_far]
        hindsight_losses(
            np.arange(size), part.predictions, part.labels, part.advice, favourites, self.uniforms.random((size, 4)),
            local, *found,
        )  # fmt: skip
        losses = [known + more for known, more in zip(self.so_far, found, strict=True)]
        self.by_model[here], self.by_policy[here] = (array[: len(here)] for array in losses)
        self.so_far = [array[-1] for array in losses]


class RunReader:
    """Plays one learner, with all budgets of a run, on one realization."""

    def __init__(self, stage: Stage, run: Run, realization: int) -> None:
        self.uniforms = stage.uniforms(realization)
        self.on_the_way = Pass(stage, run, realization)

    def read(self, part: Part, favourites: Array) -> None:
        size = len(part.labels)
        self.on_the_way.take_up(part, np.arange(size), self.uniforms.random((size, 4)), favourites)
        self.on_the_way.play(0, size)
