"""The figures of the report: the numbers of each panel for the interactive plot, and the static picture.

The numbers are those of the `Panel` that the static figure draws, shortened to what a screen can show.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf
from PIL import Image

from cams.files import visible
from cams.plotting.appearance import BLACK, OTHER_REFERENCE, SOLID, Look
from cams.plotting.panel import Panel, Reference, Series
from data_prep.pipeline.shell import CONF
from experiments.figures.compose import compose_figure, figure_stem
from experiments.report.parts import named_if_damaged
from experiments.runner.configuration import compose_experiment, experiment_names

DIGITS = 5
MOST_BESIDE = 3
# Black is the colour of the text and pale grey stays near the paper, light or dark as the reader's screen is.
BY_SCHEME = {BLACK: "var(--ink)", OTHER_REFERENCE.colour: "var(--pale)"}


@dataclass(frozen=True)
class ReportFigure:
    """One figure: `data` feeds the interactive plot (None: there is only the picture)."""

    name: str
    title: str
    text: str
    command: str
    configuration: str
    data: dict[str, Any] | None
    picture: str | None

    @property
    def panels(self) -> list[list[Any]]:
        return self.data["rows"] if self.data else []

    @property
    def columns(self) -> int:
        """How many panels go side by side; those of a single column do, too."""
        widest = max((len(row) for row in self.panels), default=0)
        return widest if widest > 1 else min(len(self.panels), MOST_BESIDE)


def collect_figures(results: Path, seed: int, order: Sequence[str]) -> list[ReportFigure]:
    """Return every experiment that has records, then every other picture under results/figures."""
    names = sorted(experiment_names(), key=lambda name: (order.index(name) if name in order else len(order), name))
    wanted = [name for name in names if _may_have_panels(name, results, seed)]
    found = [_experiment_figure(compose_experiment(name), results, seed) for name in wanted]
    return [figure for figure in found if figure] + _other_pictures(results, set(names))


def _may_have_panels(name: str, results: Path, seed: int) -> bool:
    """Tell whether composing an experiment, which takes a while, can be worth it: records, its own or borrowed."""
    own = (results / "records" / name).glob(f"*/seed{seed}.parquet")
    return any(own) or "compose" in OmegaConf.load(CONF / "experiment" / f"{name}.yaml")


def _experiment_figure(cfg: DictConfig, results: Path, seed: int) -> ReportFigure | None:
    grid = compose_figure(cfg, results, seed)
    if not grid:
        return None
    name = str(cfg.experiment.name)
    configuration = (CONF / "experiment" / f"{name}.yaml").read_text(encoding="utf-8")
    command, text = _header(configuration)
    picture = figure_stem(results, name, name).with_suffix(".png")
    return ReportFigure(
        name=name,
        title=str(cfg.experiment.title),
        text=text,
        command=command,
        configuration=configuration,
        data=figure_data(grid),
        picture=embed_picture(picture) if picture.exists() else None,
    )


def _other_pictures(results: Path, experiments: set[str]) -> list[ReportFigure]:
    """Return pictures that no experiment draws, such as the contact sheet of a data set."""
    return [
        ReportFigure(path.stem, path.stem.replace("_", " "), "", "", "", None, embed_picture(path))
        for path in visible(results / "figures", "*/*.png")
        if path.parent.name not in experiments
    ]


def _header(configuration: str) -> tuple[str, str]:
    """Return the command and the description with which every experiment file begins."""
    comments = re.match(r"(?:#.*\n)*", configuration)
    lines = [line.lstrip("# ") for line in comments.group().splitlines()] if comments else []
    commands = [line for line in lines if line.startswith("python -m")]
    return (commands[0] if commands else ""), " ".join(line for line in lines if line not in commands)


def embed_picture(path: Path) -> str:
    """Return a picture as a data address: the same pixels, in a format that takes half the room of PNG."""
    packed = io.BytesIO()
    with named_if_damaged(path, "python -m experiments.all 'steps=[figures]'"), Image.open(path) as image:
        image.convert("RGB").save(packed, "WEBP", lossless=True, quality=50, method=2)
    return "data:image/webp;base64," + base64.b64encode(packed.getvalue()).decode("ascii")


def figure_data(grid: Sequence[Sequence[Panel | None]]) -> dict[str, Any]:
    """Return rows of panels and the legend, with lines and levels that point into one list of looks."""
    panels = [panel for row in grid for panel in row if panel]
    looks: dict[Look, int] = {}
    legend = {}
    lines: list[Series | Reference] = [line for panel in panels for line in panel.series]
    lines += [level for panel in panels for level in panel.references]
    for line in lines:
        index = looks.setdefault(line.look._replace(title=""), len(looks))
        if line.label:
            legend[line.label] = index
    return {
        "looks": [_look(look) for look in looks],
        "legend": list(legend.items()),
        "rows": [[_panel(panel, looks) if panel else None for panel in row] for row in grid],
    }


def _look(look: Look) -> dict[str, Any]:
    colour = BY_SCHEME.get(look.colour, look.colour)
    return {"colour": colour, "marker": look.marker, "dash": [] if look.line == SOLID else list(look.line[1])}


def _panel(panel: Panel, looks: dict[Look, int]) -> dict[str, Any]:
    return {
        "title": panel.title,
        "labels": [panel.x_label, panel.y_label],
        "scales": list(panel.scales),
        "ticks": list(panel.tick_labels),
        "series": [
            _identity(line, keys, looks) | {key: shorten(getattr(line, key)) for key in ("x", "mean", "low", "high")}
            for line, keys in zip(panel.series, _legend_keys(panel.series), strict=True)
            if np.isfinite(line.x).any()
        ],
        "references": [
            _identity(level, [level.label], looks)
            | {"name": _reference_name(level)}
            | {key: shorten([getattr(level, key)])[0] for key in ("mean", "low", "high")}
            for level in panel.references
        ],
    }


def _identity(line: Series | Reference, keys: list[str], looks: dict[Look, int]) -> dict[str, Any]:
    return {"name": line.label or line.name, "keys": keys, "look": looks[line.look._replace(title="")]}


def _reference_name(level: Reference) -> str:
    """Return the legend's word and which classifier or policy it is, where that is one and the same throughout."""
    return level.label if level.name == "best_classifier" else f"{level.label}: {level.name}"


def _legend_keys(lines: Sequence[Series]) -> list[list[str]]:
    """Return for each line the legend entries that must all be on for it to show.

    A line without a label (a bound) goes with the line before it and with the entry that stands for its kind,
    which is the one that has no points of its own.
    """
    stand_ins = [line.label for line in lines if line.label and not np.isfinite(line.x).any()]
    keys, owner = [], ""
    for line in lines:
        owner = line.label or owner
        keys.append([line.label] if line.label else [owner, *stand_ins])
    return keys


def shorten(values: Iterable[float]) -> list[float | int | None]:
    """Return numbers with the digits that can be seen; what is not finite becomes null."""
    kept: list[float | int | None] = []
    for value in values:
        if not math.isfinite(value):
            kept.append(None)
            continue
        rounded = float(f"{value:.{DIGITS}g}")
        kept.append(int(rounded) if rounded.is_integer() else rounded)
    return kept


def as_script(data: Any) -> str:
    """Return JSON that may stand inside a script element."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("</", "<\\/")
