"""What a panel shows: its lines and bands where the numbers are, ticks that can be read, and room for the legend."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from cams.plotting.appearance import BEST_REFERENCE, DRAWN_FROM, GREY, VERMILION, look_of
from cams.plotting.draw import draw, fitting_columns, save
from cams.plotting.panel import Panel, Reference, Series

LEVEL = Reference("knn", "Best classifier", BEST_REFERENCE, 3.0, 2.0, 4.5)


def line_of(name: str, x: list[float], y: list[float] | None = None) -> Series:
    mean = np.asarray(x if y is None else y, dtype=np.float64)
    return Series(name, look_of(name).title, look_of(name), np.asarray(x), mean, mean - 1, mean + 2)


def axes_of(panel: Panel) -> Axes:
    return draw([[panel]]).axes[0]


def test_a_line_and_its_band_lie_where_the_numbers_are() -> None:
    axes = axes_of(Panel("Labels", "Errors", (line_of("rs", [0, 2, 4], [5, 3, 2]),), title="DRIFT"))
    (line,), (band,) = axes.lines, axes.collections
    assert np.asarray(line.get_xydata()).tolist() == [[0, 5], [2, 3], [4, 2]]
    assert (line.get_color(), line.get_marker()) == (GREY, "x")
    assert line.is_dashed()
    edge = band.get_paths()[0].vertices
    assert {(float(x), float(y)) for x, y in edge} == {(0, 4), (0, 7), (2, 2), (2, 5), (4, 1), (4, 4)}
    assert line.get_zorder() > band.get_zorder()
    assert band.get_facecolor()[0].tolist() == pytest.approx(to_rgba(GREY, 0.16))
    assert band.get_linewidth().tolist() == [0]
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("DRIFT", "Labels", "Errors")
    assert axes.get_xlim() == pytest.approx((-0.12, 4.12))  # 3 % on each side


def test_cams_lies_on_top_of_what_it_is_compared_with() -> None:
    axes = axes_of(Panel("x", "y", (line_of("cams", [0, 1]), line_of("rs", [0, 1]))))
    cams, other = axes.lines
    assert cams.get_color() == VERMILION
    assert cams.get_zorder() > other.get_zorder()
    bands = axes.collections
    assert bands[0].get_zorder() > bands[1].get_zorder()


@pytest.mark.parametrize(
    ("points", "marked"),
    [(1, [0]), (8, [*range(8)]), (9, [0, 2, 4, 6, 8]), (12, [1, 3, 5, 7, 9, 11]), (17, [1, 4, 7, 10, 13, 16])],
)
def test_at_most_eight_markers_and_one_on_the_last_point(points: int, marked: list[int]) -> None:
    (line,) = axes_of(Panel("x", "y", (line_of("rs", [float(i) for i in range(points)]),))).lines
    assert line.get_markevery() == marked


def test_a_reference_is_a_level_with_its_band_behind_all_lines() -> None:
    axes = axes_of(Panel("x", "y", (line_of("rs", [0, 1]),), (LEVEL,)))
    level, line = axes.lines
    (span,) = axes.patches
    assert isinstance(span, Rectangle)
    assert list(np.asarray(level.get_ydata())) == [3, 3]
    assert (span.get_y(), span.get_height()) == (2, 2.5)
    assert span.get_facecolor() == pytest.approx(to_rgba(BEST_REFERENCE.colour, 0.08))
    assert (level.get_color(), level.is_dashed()) == (BEST_REFERENCE.colour, True)
    assert span.get_zorder() < level.get_zorder() < line.get_zorder()
    # Thin, and the band without an edge: a level is no line among the others.
    assert (span.get_linewidth(), level.get_linewidth()) == (0, 1)


def test_cases_are_named_under_their_places() -> None:
    axes = axes_of(Panel("x", "y", (line_of("rs", [0, 1, 2]),), tick_labels=("low", "middle", "high")))
    assert axes.get_xticks().tolist() == [0, 1, 2]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["low", "middle", "high"]
    assert {label.get_fontsize() for label in axes.get_xticklabels()} == {5.8}


@pytest.mark.parametrize(
    ("labels", "width", "columns"),
    [
        # An entry takes 0.56 inches and 0.068 for each letter of the longest of its column.
        (["aaaa", "bb", "cccccc"], 2.50, 3),
        (["aaaa", "bb", "cccccc"], 2.49, 2),
        (["aaaa", "bb", "cccccc"], 1.81, 2),
        (["aaaa", "bb", "cccccc"], 1.79, 1),
        (["a", "b"], 2 * (0.56 + 0.068), 2),
        # Three columns would fit, but four entries fill two rows of two.
        (["a", "b", "c", "d"], 2.0, 2),
        (["a" * 100], 1.0, 1),
        ([], 1.0, 1),
    ],
)
def test_columns_of_a_legend(labels: list[str], width: float, columns: int) -> None:
    assert fitting_columns(labels, width) == columns


def test_a_figure_has_room_for_its_panels_and_its_legend() -> None:
    one = Panel("x", "y", (line_of("rs", [0, 1]),))
    assert draw([[one]]).get_size_inches() == pytest.approx([3.6, 1.75 + 0.165 + 0.1])
    assert draw([[one, one, one], [one]]).get_size_inches() == pytest.approx([6.0, 3.5 + 0.165 + 0.1])
    names = ("cams_random_policy", "cams_conventional", "cams_variance", "cams_context_free")
    many = draw([[Panel("x", "y", tuple(line_of(name, [0, 1]) for name in names))]])
    # Two columns of two: 2 * 0.56 + 0.068 * (18 + 19) = 3.64 inches would be too wide.
    assert many.get_size_inches() == pytest.approx([3.6, 1.75 + 4 * 0.165 + 0.1])
    assert [text.get_text() for text in many.legends[0].get_texts()] == [look_of(name).title for name in names]
    # Five entries in two columns take three rows: 2 * 0.56 + 0.068 * (18 + 18) = 3.568 inches fit.
    titles = [
        Series(name, name, look_of("rs"), *[np.array([0.0, 1.0])] * 4)
        for name in ("a" * 18, "b", "c", "d" * 8, "e" * 18)
    ]
    assert draw([[Panel("x", "y", tuple(titles))]]).get_size_inches()[1] == pytest.approx(1.75 + 3 * 0.165 + 0.1)


def test_the_legend_draws_what_the_panel_draws() -> None:
    unnamed = Series("other", "", look_of("cams"), *[np.array([0.0, 1.0])] * 4)
    figure = draw([[Panel("x", "y", (line_of("rs", [0, 1]), unnamed), (LEVEL,))]])
    handles = figure.legends[0].legend_handles
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["RS", "Best classifier"]
    assert [(handle.get_color(), handle.get_marker()) for handle in handles] == [
        (GREY, "x"),
        (BEST_REFERENCE.colour, ""),
    ]  # type: ignore[union-attr]
    assert all(handle.is_dashed() for handle in handles)  # type: ignore[union-attr]


def test_the_legend_stands_above_the_panels_in_the_style_of_all_figures() -> None:
    names = ("cams", "rs", "mp")
    figure = draw([[Panel("x", "y", tuple(line_of(name, [0, 1]) for name in names))]])
    (legend,), (axes,) = figure.legends, figure.axes
    box = legend.get_window_extent()
    assert box.y0 >= axes.get_window_extent().y1
    assert (box.x0 + box.x1) / 2 == pytest.approx(figure.bbox.x1 / 2, abs=2)
    # Side by side: three entries in one row are as high as one.
    assert len({round(text.get_window_extent().y0) for text in legend.get_texts()}) == 1
    assert not axes.spines["top"].get_visible()


def test_axis_labels_stay_where_the_neighbours_differ() -> None:
    first, second = (Panel(f"x{i}", f"y{i}", (line_of("rs", [0, 1]),)) for i in (1, 2))
    figure = draw([[first, second], [second, first]])
    assert all(axes.xaxis.label.get_visible() and axes.yaxis.label.get_visible() for axes in figure.axes)
    figure = draw([[first, first], [first, first]])
    assert [axes.xaxis.label.get_visible() for axes in figure.axes] == [False, False, True, True]
    assert [axes.yaxis.label.get_visible() for axes in figure.axes] == [True, False, True, False]


def test_the_numbers_of_a_panel_as_a_table() -> None:
    table = Panel("x", "y", (line_of("rs", [0, 2], [5, 3]), line_of("cams", [1], [4])), (LEVEL,)).to_frame()
    assert list(table.columns) == ["series", "x", "mean", "low", "high"]
    rows = table.to_numpy().tolist()
    assert rows[:3] == [["rs", 0, 5, 4, 7], ["rs", 2, 3, 2, 5], ["cams", 1, 4, 3, 6]]
    assert (rows[3][0], rows[3][2:]) == ("knn", [3, 2, 4.5])
    assert isnan(rows[3][1])
    assert list(Panel("x", "y", ()).to_frame().columns) == ["series", "x", "mean", "low", "high"]


@pytest.mark.filterwarnings("error")  # of a key that is no PDF's
def test_a_png_keeps_what_it_was_drawn_from_and_no_file_keeps_a_clock(tmp_path: Path) -> None:
    figure = draw([[Panel("x", "y", (line_of("rs", [0, 1]),))]])
    png, pdf = save(figure, tmp_path / "a.b", "0123")
    assert (png, pdf) == (tmp_path / "a.b.png", tmp_path / "a.b.pdf")
    assert DRAWN_FROM.encode() + b"\0" + b"0123" in png.read_bytes()
    assert DRAWN_FROM.encode() not in pdf.read_bytes()
    # A chunk of text: how long it is, tEXt, its key, 0 and what it says.
    said_nothing = len(DRAWN_FROM + " ").to_bytes(4, "big") + b"tEXt" + DRAWN_FROM.encode() + b"\0"
    assert said_nothing in save(figure, tmp_path / "plain")[0].read_bytes()
    assert b"Software" not in png.read_bytes()
    assert int.from_bytes(png.read_bytes()[16:20], "big") == 720  # 3.6 inches of 200 dots
    assert not [word for word in (b"CreationDate", b"ModDate", b"Producer", b"Creator") if word in pdf.read_bytes()]
