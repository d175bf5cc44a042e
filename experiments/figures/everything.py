"""Every figure that the records allow, several at a time, and a word on each that could not be drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed
from omegaconf import DictConfig

import cams
from experiments.figures.compose import composed_picture, dataset_picture, figure_stem
from experiments.figures.unchanged import Picture
from experiments.runner.places import Places, record_state
from experiments.runner.plan import Plan


@dataclass(frozen=True)
class Figure:
    """One figure as it should be (no picture: it cannot be drawn), and what its reader must know."""

    name: str
    picture: Picture | None
    note: str = ""


def draw_all(
    experiments: Mapping[str, DictConfig],
    plans: Sequence[Plan],
    places: Places,
    say: Callable[[str], None],
    n_jobs: int = 0,
) -> None:
    """Draw what has changed, of the panels of every plan and of the composed figures.

    A damaged record is refused after all others are drawn.
    """
    figures = [_of_dataset(experiments[plan.experiment], plan, places) for plan in plans]
    figures += [_composed(cfg, places.results) for cfg in experiments.values()]
    # An experiment may be called like its only data set: the two figures are then one.
    pictures = {figure.picture.stem: figure.picture for figure in figures if figure.picture}
    changed = {stem: picture for stem, picture in pictures.items() if not picture.is_drawn()}
    if changed:
        _draw(list(changed.values()), n_jobs or os.cpu_count() or 1, say)
    for figure in figures:
        if figure.note:
            state = "left out" if not figure.picture else "drawn" if figure.picture.stem in changed else "unchanged"
            say(f"figure {figure.name}: {state}, {figure.note}")
    left_out = sum(figure.picture is None for figure in figures)
    counts = f"{len(changed)} drawn, {len(pictures) - len(changed)} unchanged, {left_out} left out"
    say(f"figures: {counts} ({places.results / 'figures'})")
    damaged = [figure for figure in figures if "damaged" in figure.note]
    if damaged:
        raise cams.InputError(f"figure {damaged[0].name} is not drawn: {damaged[0].note}")


def _draw(pictures: Sequence[Picture], workers: int, say: Callable[[str], None]) -> None:
    # Where matplotlib has never looked for fonts it does so now, once, and not in every worker.
    from matplotlib import font_manager  # noqa: F401

    say(f"figures: {len(pictures)} to draw, with {workers} workers ...")
    Parallel(n_jobs=min(workers, len(pictures)))(delayed(Picture.draw)(picture) for picture in pictures)


def _of_dataset(cfg: DictConfig, plan: Plan, places: Places) -> Figure:
    name, record = f"{plan.experiment} {plan.dataset}", places.record(plan)
    state = record_state(plan, places)
    if state.word == "missing":
        return Figure(name, None, f"there is no record {record}")
    if state.word == "damaged":
        return Figure(name, None, f"the record {record} is damaged")
    note = "" if state.is_current else f"from a record that is {state}"
    return Figure(name, dataset_picture(cfg, record, figure_stem(places.results, plan.experiment, plan.dataset)), note)


def _composed(cfg: DictConfig, results: Path) -> Figure:
    name = str(cfg.experiment.name)
    try:
        picture = composed_picture(cfg, results, cfg.seed)
    except cams.InputError as error:
        return Figure(name, None, str(error))
    return Figure(name, picture, "" if picture else "none of its records is here")
