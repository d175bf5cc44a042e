"""Replaying a stream that is longer than memory: part by part, every run going on where the last part left it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cams.engine.hindsight import unknown_verdicts
from cams.errors import InputError
from cams.passes import Hindsight, Pass, passes
from cams.policies import regularize as regularize_advice
from cams.stage import Stage
from cams.stored import Part, StoredBundle

Array = npt.NDArray[Any]


def play_parts(stage: Stage, bundle: StoredBundle, pool: ThreadPoolExecutor, bar: tqdm[Any]) -> None:
    """Play the first rows of a stored bundle in their order, reading each part once for all runs and realizations."""
    for run in stage.runs:
        if run.learner.kernel() is None:
            raise InputError(f"learner '{run.player.name}' has no compiled twin, which a stored bundle needs")
    realizations = range(stage.realizations)
    learners = [one for r in realizations for one in passes(stage, stage.runs, r)]
    counts = [Hindsight(stage, r) for r in realizations]
    draws = [stage.uniforms(r) for r in realizations]
    for part in bundle.parts(stage.horizon):
        if stage.regularize:
            part = part._replace(advice=regularize_advice(part.advice))
        _play_part(part, learners, counts, [source.random((len(part.labels), 4)) for source in draws], pool)
        bar.update(len(part.labels) * stage.realizations)
    for one in learners:
        one.finish()


def _play_part(
    part: Part, learners: list[Pass], counts: list[Hindsight], draws: list[Array], pool: ThreadPoolExecutor
) -> None:
    rows = np.arange(len(part.labels))
    verdicts = unknown_verdicts(*part.advice.shape[:2])
    for count, uniforms in zip(counts, draws, strict=True):
        count.take_up(part, rows, uniforms, verdicts)
    for one in learners:
        one.take_up(part, rows, draws[one.realization])
    turns = [*(count.play for count in counts), *(one.play for one in learners)]
    list(pool.map(lambda play: play(0, len(rows)), turns))
