"""The figures of an experiment, from its records: a panel per data set, and the composed figure.

results/figures/<id>/<dataset>.{png,pdf,csv}       one data set, and the numbers behind it
results/figures/<id>/<id>.{png,pdf}                composed as in the paper
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from cams.errors import InputError
from cams.files import write_text
from cams.plotting.panel import Panel
from data_prep.pipeline.catalogue import catalogue
from experiments.figures.kinds import make_panel
from experiments.figures.unchanged import Picture, picture_of
from experiments.records.record import Record
from experiments.records.store import read_record, record_path
from experiments.runner.configuration import compose_experiment

Grid = list[list[Panel | None]]


def figure_stem(results: Path, experiment: str, name: str) -> Path:
    return Path(results) / "figures" / experiment / name


def dataset_panels(cfg: DictConfig, record: Record) -> list[Panel]:
    """Return the panels of one data set, in the order of the experiment file."""
    options = OmegaConf.to_container(cfg.experiment.panels, resolve=True)
    return list(_panels(record, json.dumps(options)))


@lru_cache(maxsize=256)
def _panels(record: Record, options: str) -> tuple[Panel, ...]:
    """Make panels once: the figure of a data set and the composed ones show the same."""
    return tuple(_titled(make_panel(record, entry), entry.get("title", "")) for entry in json.loads(options))


def dataset_picture(cfg: DictConfig, record_file: Path, stem: Path) -> Picture:
    """Write the numbers of one data set's panels and return their picture."""
    record = read_record(record_file)
    panels = dataset_panels(cfg, record)
    write_numbers(panels, stem)
    title = stream_title(record)
    return picture_of([[_titled(panel, _join(title, panel.title)) for panel in panels]], stem)


def composed_picture(cfg: DictConfig, results: Path, seed: int = 0) -> Picture | None:
    """Return the composed picture of an experiment from the records that are there, None if there are none."""
    grid = compose_figure(cfg, results, seed)
    name = cfg.experiment.name
    return picture_of(grid, figure_stem(results, name, name)) if grid else None


def draw_dataset(cfg: DictConfig, record_file: Path, stem: Path) -> list[Path]:
    """Write the numbers of one data set's panels, then draw them; return what had to be drawn."""
    return dataset_picture(cfg, record_file, stem).draw_if_changed()


def draw_composed(cfg: DictConfig, results: Path, seed: int = 0) -> list[Path]:
    """Draw the composed figure of an experiment from the records that are there; return what had to be drawn."""
    picture = composed_picture(cfg, results, seed)
    return picture.draw_if_changed() if picture else []


def compose_figure(cfg: DictConfig, results: Path, seed: int = 0) -> Grid:
    """Return the grid of panels of an experiment over all data sets that have a record."""
    experiment = cfg.experiment
    if experiment.compose:
        return _composite_grid(cfg, results, seed)
    columns: list[list[Panel]] = []
    for dataset in experiment.datasets:
        path = record_path(results, experiment.name, dataset, seed)
        if path.exists():
            record = read_record(path)
            title = stream_title(record)
            columns.append([_titled(p, _join(title, p.title)) for p in dataset_panels(cfg, record)])
    if experiment.panels_as == "rows":
        return [list(row) for row in zip(*columns, strict=True)]
    return [list(column) for column in columns]


def _composite_grid(cfg: DictConfig, results: Path, seed: int) -> Grid:
    """Return the panels that an experiment borrows from the records of others, in rows of `columns`."""
    panels: list[Panel | None] = []
    for entry in cfg.experiment.compose:
        path = record_path(results, entry.experiment, entry.dataset, seed)
        if path.exists():
            other = compose_experiment(entry.experiment)
            there, number = dataset_panels(other, read_record(path)), entry.get("panel", 0)
            if number >= len(there):
                raise InputError(f"{entry.experiment} has {len(there)} panels, so there is no panel {number} to borrow")
            panel = there[number]
            panels.append(_titled(panel, f"({chr(ord('a') + len(panels))}) {entry.title}"))
    width = cfg.experiment.columns
    return [panels[i : i + width] for i in range(0, len(panels), width)]


def write_numbers(panels: Sequence[Panel], stem: Path) -> None:
    """Write the plotted numbers as CSV: panel, series, x, mean, low, high."""
    frames = [panel.to_frame().assign(panel=i) for i, panel in enumerate(panels)]
    table = pd.concat(frames, ignore_index=True)
    table.insert(0, "panel", table.pop("panel"))
    write_text(stem.with_name(f"{stem.name}.csv"), table.to_csv(index=False, float_format="%.6g"))


def dataset_title(dataset: str) -> str:
    """Return how a data set is called in figures; a bundle of one's own goes by its name."""
    return catalogue()[dataset].title if dataset in catalogue() else dataset


def stream_title(record: Record) -> str:
    if not record.plan["needs_bundle"]:
        return "Synthetic streams"
    return f"{dataset_title(record.plan['dataset'])} (T = {record.horizon:,})"


def _titled(panel: Panel, title: str) -> Panel:
    return dataclasses.replace(panel, title=title)


def _join(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
