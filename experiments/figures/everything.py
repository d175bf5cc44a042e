"""Every figure that the records allow, several at a time, and a word on each that could not be drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from joblib import Parallel, delayed
from omegaconf import DictConfig

import cams
from experiments.figures.compose import draw_composed, draw_dataset, figure_stem
from experiments.figures.unchanged import drawing_code
from experiments.records.store import Origin, state_of
from experiments.runner.jobs import Places, origin_of
from experiments.runner.resolve import make_plan


class Drawn(NamedTuple):
    """What became of one figure: `drawn`, `unchanged` or `left out`, and what its reader must know."""

    name: str
    state: str
    note: str = ""


def draw_all(
    experiments: Mapping[str, DictConfig],
    places: Places,
    say: Callable[[str], None],
    datasets: Sequence[str] | None = None,
    n_jobs: int = 0,
) -> list[Drawn]:
    """Draw the panels of every data set and the composed figures; a damaged record is refused after all others."""
    code, tasks = drawing_code(), []
    for cfg in experiments.values():
        for dataset in cfg.experiment.datasets:
            if datasets is None or dataset in datasets:
                plan = make_plan(cfg, dataset)
                tasks.append(delayed(_dataset)(cfg, places.record(plan), origin_of(plan, places), places.results, code))
        tasks.append(delayed(_composed)(cfg, places.results, code))
    workers = n_jobs or os.cpu_count() or 1
    say(f"figures: {len(tasks)}, with {workers} workers ...")
    results: list[Drawn] = Parallel(n_jobs=workers)(tasks)
    for result in results:
        if result.note:
            say(f"figure {result.name}: {result.state}, {result.note}")
    counts = {word: sum(result.state == word for result in results) for word in ("drawn", "unchanged", "left out")}
    say(f"figures: {', '.join(f'{count} {word}' for word, count in counts.items())} ({places.results / 'figures'})")
    damaged = [result for result in results if "damaged" in result.note]
    if damaged:
        raise cams.InputError(f"figure {damaged[0].name} is not drawn: {damaged[0].note}")
    return results


def _dataset(cfg: DictConfig, record: Path, origin: Origin, results: Path, code: str) -> Drawn:
    experiment, dataset = str(cfg.experiment.name), str(origin.plan["dataset"])
    name = f"{experiment} {dataset}"
    state = state_of(record, origin)
    if state.word == "missing":
        return Drawn(name, "left out", f"there is no record {record}")
    if state.word == "damaged":
        return Drawn(name, "left out", f"the record {record} is damaged")
    note = "" if state.is_current else f"from a record that is {state}"
    drawn = draw_dataset(cfg, record, figure_stem(results, experiment, dataset), code)
    return Drawn(name, "drawn" if drawn else "unchanged", note)


def _composed(cfg: DictConfig, results: Path, code: str) -> Drawn:
    name = str(cfg.experiment.name)
    try:
        drawn = draw_composed(cfg, results, cfg.seed, code)
    except cams.InputError as error:
        return Drawn(name, "left out", str(error))
    if not drawn and not figure_stem(results, name, name).with_suffix(".png").exists():
        return Drawn(name, "left out", "none of its records is here")
    return Drawn(name, "drawn" if drawn else "unchanged")
