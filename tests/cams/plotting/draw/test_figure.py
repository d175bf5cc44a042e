"""Plots only draw: what is given appears, once in the legend, with the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cams
from cams.plotting.appearance import BEST_REFERENCE, LEARNER_LOOKS, look_of
from cams.plotting.draw import draw, fitting_columns, legend_entries, save
from cams.plotting.outcome import panel_of
from cams.plotting.panel import Panel, Reference, Series
from data_prep.pipeline.code import code_hashes


def make_panel(*names: str, **changes: object) -> Panel:
    x = np.arange(12.0)
    lines = tuple(Series(name, look_of(name).title, look_of(name), x, x, x - 1, x + 1) for name in names)
    return Panel("Labels bought", "Errors", lines, **changes)  # type: ignore[arg-type]


def test_every_learner_has_a_look_of_its_own() -> None:
    # A learner of one's own may go without: `look_of` has spare ones.
    assert set(LEARNER_LOOKS) <= set(cams.LEARNERS)
    assert len({look.colour for look in LEARNER_LOOKS.values()}) == len(LEARNER_LOOKS)
    assert len({look.marker for look in LEARNER_LOOKS.values()}) == len(LEARNER_LOOKS)
    assert len({look.title for look in LEARNER_LOOKS.values()}) == len(LEARNER_LOOKS)


def test_colours_are_far_enough_apart() -> None:
    """The least distance between two learners' colours in CIELAB, where 2 can just be seen side by side."""
    colours = [LEARNER_LOOKS[name].colour for name in LEARNER_LOOKS]
    rgb = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(linear @ to_xyz.T / [0.9505, 1, 1.089]).T
    lab = np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)
    distance = np.linalg.norm(lab[:, None] - lab[None], axis=2) + 1000 * np.eye(len(lab))
    first, second = np.unravel_index(distance.argmin(), distance.shape)
    assert distance.min() > 15, (colours[first], colours[second])


def test_labels_far_apart_are_drawn_on_a_logarithmic_axis_and_others_on_a_plain_one() -> None:
    rng = np.random.default_rng(0)
    bundle = cams.Bundle(predictions=rng.integers(0, 3, (80, 3)), labels=rng.integers(0, 3, 80))
    for budgets, scale in (([0, 10, 50], "linear"), ([0, 1, 50], "from_zero"), ([0], "linear")):
        # It buys every label that it may.
        result = cams.replay(bundle, ["cams_nonactive"], horizon=80, budgets=budgets, realizations=1, seed=0)
        assert panel_of(result).scales == (scale, "linear")


def test_legend_names_everything_once() -> None:
    level = Reference("knn", "Best classifier", BEST_REFERENCE, 3.0, 2.0, 4.0)
    panels = [make_panel("cams", "mp"), make_panel("mp", "rs", references=(level,))]
    assert list(legend_entries(panels)) == ["CAMS", "MP", "RS", "Best classifier"]


def test_figure_has_one_legend_and_says_labels_once() -> None:
    figure = draw([[make_panel("cams", title="one"), make_panel("cams", title="two")], [make_panel("mp"), None]])
    axes = figure.axes
    assert len(figure.legends) == 1
    assert axes[0].get_title() == "one"
    assert axes[0].yaxis.label.get_visible()
    assert not axes[1].yaxis.label.get_visible()
    assert not axes[0].xaxis.label.get_visible()
    assert not axes[3].axison


def test_every_file_of_a_figure_has_its_panels_in_the_same_places() -> None:
    figure = draw([[make_panel("cams")]])
    before = figure.axes[0].get_position().bounds
    figure.axes[0].set_ylabel("words\non\nmany\nlines")
    figure.draw_without_rendering()
    assert figure.axes[0].get_position().bounds == before


def test_cams_lies_above_the_others_and_no_band_hides_a_line_or_lies_under_a_level() -> None:
    level = Reference("knn", "Best classifier", BEST_REFERENCE, 3.0, 2.0, 4.0)
    ax = draw([[make_panel("cams", "mp", references=(level,))]]).axes[0]
    (ours, other), (of_level, band, other_band) = ax.lines[-2:], (ax.patches[0], *ax.collections)
    assert of_level.zorder < other_band.zorder < other.zorder < ours.zorder
    assert other_band.zorder < band.zorder <= other.zorder


@pytest.mark.parametrize("count", [1, 3, 8, 13])
def test_legend_fits_inside_the_figure(count: int) -> None:
    names = list(LEARNER_LOOKS)[:count]
    figure = draw([[make_panel(*names)]])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert fitting_columns(names, 3.6) <= count


def test_same_picture_same_bytes(tmp_path: Path) -> None:
    first = save(draw([[make_panel("cams", "mp")]]), tmp_path / "first")
    second = save(draw([[make_panel("cams", "mp")]]), tmp_path / "second")
    assert [path.suffix for path in first] == [".png", ".pdf"]
    for a, b in zip(first, second, strict=True):
        assert a.read_bytes() == b.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.pdf", "first.png", "second.pdf", "second.png"]


def test_drawing_reaches_no_replay_code() -> None:
    reached = code_hashes("cams.plotting.draw")
    assert not [
        name for name in reached if name.startswith(("experiments.runner", "experiments.records", "cams.engine"))
    ]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (-2, 60, [0, 3, 10, 30]),  # few powers: their triples help
        (-40, 20_000, [-10, 0, 10, 100, 1_000, 10_000]),
        (-2e3, 2e6, [-100, 0, 100, 10_000, 1_000_000]),  # many: every other one, on both sides alike
    ],
)
def test_ticks_of_both_signs(low: float, high: float, ticks: list[float]) -> None:
    y = np.array([low, high], dtype=np.float64)
    line = Series("cams", "CAMS", look_of("cams"), np.array([0.0, 1.0]), y, y, y)
    figure = draw([[Panel("x", "y", (line,), scales=("linear", "symlog"))]])
    shown = [tick for tick in figure.axes[0].get_yticks() if low <= tick <= high]
    assert shown == ticks
