"""Plots only draw: what is given appears, once in the legend, with the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cams
from experiments.figures.appearance import BEST_REFERENCE, LEARNER_LOOKS, look_of
from experiments.figures.panels import Panel, Reference, Series
from experiments.figures.plots import draw, fitting_columns, legend_entries, save


def make_panel(*names: str, **changes: object) -> Panel:
    x = np.arange(12.0)
    lines = tuple(Series(name, look_of(name).title, look_of(name), x, x, x - 1, x + 1) for name in names)
    return Panel("Labels bought", "Errors", lines, **changes)  # type: ignore[arg-type]


def test_every_learner_has_a_look_of_its_own() -> None:
    # A learner of one's own may go without: `look_of` has spare ones.
    assert set(LEARNER_LOOKS) <= set(cams.LEARNERS)
    assert len({(look.colour, look.marker) for look in LEARNER_LOOKS.values()}) == len(LEARNER_LOOKS)
    assert len({look.title for look in LEARNER_LOOKS.values()}) == len(LEARNER_LOOKS)


def test_main_learners_differ_without_colour() -> None:
    main = ["cams", "oracle", "cqbc", "ciwal", "mp", "rs", "qbc", "iwal"]
    assert len({LEARNER_LOOKS[name].marker for name in main}) == len(main)
    assert len({LEARNER_LOOKS[name].colour for name in main}) == len(main)


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
    plt.close(figure)


@pytest.mark.parametrize("count", [1, 3, 8, 13])
def test_legend_fits_inside_the_figure(count: int) -> None:
    names = list(LEARNER_LOOKS)[:count]
    figure = draw([[make_panel(*names)]])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert fitting_columns(names, 3.6) <= count
    plt.close(figure)


def test_same_picture_same_bytes(tmp_path: Path) -> None:
    first = save(draw([[make_panel("cams", "mp")]]), tmp_path / "first")
    second = save(draw([[make_panel("cams", "mp")]]), tmp_path / "second")
    assert [path.suffix for path in first] == [".png", ".pdf"]
    for a, b in zip(first, second, strict=True):
        assert a.read_bytes() == b.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.pdf", "first.png", "second.pdf", "second.png"]
