"""Many training runs side by side: one process and a fixed number of threads each, a checkpoint per finished run."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from omegaconf import DictConfig, OmegaConf

from cams.files import atomic_path
from data_prep.datasets.cifar10.training import Images, Schedule, Setup, StateDict
from data_prep.pipeline import tasks
from data_prep.training.weights import load_weights

Result = TypeVar("Result")


def setup_from(training: DictConfig, schedule: DictConfig) -> Setup:
    """The settings common to all runs (`training:`) and those of one kind of run (its `schedule:`)."""
    common: Any = OmegaConf.to_container(training)
    own: Any = OmegaConf.to_container(schedule)
    own["snapshots"] = tuple(own["snapshots"])
    return Setup(
        schedule=Schedule(**own, **common["optimizer"]),
        images=Images(**common["images"]),
        device=common["device"],
        threads=common["threads"],
    )


def in_parallel(work: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], n_jobs: int, what: str) -> list[Result]:
    """Call `work(*job)` for every job; results in the order of the jobs, whichever finishes first."""
    started, results = time.perf_counter(), []
    for result in tasks.in_parallel(work, jobs, n_jobs):
        results.append(result)
        elapsed = time.perf_counter() - started
        left = elapsed / len(results) * (len(jobs) - len(results))
        print(f"{what}: {len(results)}/{len(jobs)} runs, {left / 60:.1f} min left", file=sys.stderr, flush=True)
    return results


def kept_weights(path: Path, train: Callable[[], dict[int, StateDict]]) -> dict[int, StateDict]:
    """The snapshots of a finished run, trained and written first if they are not there yet."""
    if not path.exists():
        trained = train()
        with atomic_path(path) as temporary:
            torch.save(trained, temporary)
    snapshots: dict[int, StateDict] = load_weights(path)
    return snapshots


def skewed_rows(
    labels: np.ndarray,
    rows: np.ndarray,
    favoured: Sequence[int],
    other_weight: float,
    size: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """`size` of the rows without replacement, classes outside `favoured` drawn with weight `other_weight`."""
    weights = np.where(np.isin(labels[rows], favoured), 1.0, other_weight)
    return rng.choice(rows, size=size, replace=False, p=weights / weights.sum())


def divided_classes(num_classes: int, sizes: Sequence[int], num_runs: int, rng: np.random.Generator) -> list[list[int]]:
    """Favoured classes of each run: a random order of the classes is cut into pieces of these sizes, again and again.

    Runs that share an order favour different classes, and every class gets its turn about equally often.
    """
    favoured: list[list[int]] = []
    while len(favoured) < num_runs:
        pieces = np.split(rng.permutation(num_classes), np.cumsum(sizes))[: len(sizes)]
        favoured += [sorted(piece.tolist()) for piece in pieces]
    return favoured[:num_runs]
