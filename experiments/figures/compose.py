"""All figures, from the records on disk: a panel per data set and the composed figure of every experiment.

python -m experiments.figures.compose                      everything that has records
python -m experiments.figures.compose experiments=[main]

results/figures/<id>/<dataset>.{png,pdf,csv}       one data set, and the numbers behind it
results/figures/<id>/<id>.{png,pdf}                composed as in the paper
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from cams.files import write_text
from experiments.figures.kinds import make_panel
from experiments.figures.panels import Panel
from experiments.records.store import Record, read_record, record_path


def figure_stem(results: Path, experiment: str, name: str) -> Path:
    return Path(results) / "figures" / experiment / name


def dataset_panels(cfg: DictConfig, record: Record) -> list[Panel]:
    """Return the panels of one data set, in the order of the experiment file."""
    options: list[dict[str, Any]] = OmegaConf.to_container(cfg.experiment.panels, resolve=True)  # type: ignore[assignment]
    return [_titled(make_panel(record, entry), entry.get("title", "")) for entry in options]


def draw_dataset(cfg: DictConfig, record_file: Path, stem: Path) -> list[Path]:
    """Write the numbers of one data set's panels, then draw them."""
    from experiments.figures.plots import draw, save

    record = read_record(record_file)
    panels = dataset_panels(cfg, record)
    numbers = write_numbers(panels, stem)
    titled = [_titled(panel, _join(stream_title(cfg, record), panel.title)) for panel in panels]
    return [numbers, *save(draw([titled]), stem)]


def compose_figure(cfg: DictConfig, results: Path, seed: int = 0) -> list[list[Panel | None]]:
    """Return the grid of panels of an experiment over all data sets that have a record."""
    experiment = cfg.experiment
    if experiment.compose:
        return _composite_grid(cfg, results, seed)
    columns = []
    for dataset in experiment.datasets:
        path = record_path(results, experiment.name, dataset, seed)
        if path.exists():
            record = read_record(path)
            title = stream_title(cfg, record)
            columns.append([_titled(p, _join(title, p.title)) for p in dataset_panels(cfg, record)])
    if not columns:
        return []
    as_rows = [list(row) for row in zip(*columns, strict=True)]
    return as_rows if experiment.panels_as == "rows" else [list(column) for column in columns]


def _composite_grid(cfg: DictConfig, results: Path, seed: int) -> list[list[Panel | None]]:
    """Return the panels that an experiment borrows from the records of others, in rows of `columns`."""
    from experiments.runner.configuration import compose_run

    panels: list[Panel | None] = []
    for entry in cfg.experiment.compose:
        path = record_path(results, entry.experiment, entry.dataset, seed)
        if path.exists():
            other = compose_run([f"experiment={entry.experiment}"])
            panel = dataset_panels(other, read_record(path))[entry.get("panel", 0)]
            panels.append(_titled(panel, f"({chr(ord('a') + len(panels))}) {entry.title}"))
    width = cfg.experiment.columns
    return [panels[i : i + width] for i in range(0, len(panels), width)]


def draw_composed(cfg: DictConfig, results: Path, seed: int = 0) -> list[Path]:
    from experiments.figures.plots import draw, save

    grid = compose_figure(cfg, results, seed)
    name = cfg.experiment.name
    return save(draw(grid), figure_stem(results, name, name)) if grid else []


def write_numbers(panels: Sequence[Panel], stem: Path) -> Path:
    """Write the plotted numbers as CSV: panel, series, x, mean, low, high."""
    frames = [panel.to_frame().assign(panel=i) for i, panel in enumerate(panels)]
    table = pd.concat(frames, ignore_index=True)
    table.insert(0, "panel", table.pop("panel"))
    path = stem.with_name(f"{stem.name}.csv")
    write_text(path, table.to_csv(index=False, float_format="%.6g"))
    return path


def dataset_title(cfg: DictConfig, dataset: str) -> str:
    return str(cfg.streams[dataset].title) if dataset in cfg.streams else dataset


def stream_title(cfg: DictConfig, record: Record) -> str:
    plan = record.facts["plan"]
    if not plan["needs_bundle"]:
        return "Synthetic streams"
    return f"{dataset_title(cfg, plan['dataset'])} (T = {plan['horizon']:,})"


def _titled(panel: Panel, title: str) -> Panel:
    return dataclasses.replace(panel, title=title)


def _join(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
