"""Axes: which numbers stand at their ticks, and how they are written, so that none runs into the next."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes

from cams.plotting.appearance import look_of
from cams.plotting.draw import after_zero, before_one, draw
from cams.plotting.panel import Panel, Series


def over(low: float, high: float, *, scales: tuple[str, str]) -> Axes:
    """The axes of a line from one number to another, on x and on y alike."""
    ends = np.array([low, high])
    line = Series("rs", "RS", look_of("rs"), ends, ends, ends, ends)
    return draw([[Panel("x", "y", (line,), scales=scales)]]).axes[0]


def shown(ticks: np.ndarray, limits: tuple[float, float]) -> list[float]:
    return [round(float(tick), 6) for tick in ticks if limits[0] <= tick <= limits[1]]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 8, [1, 2, 4, 7]),
        (1, 60, [1, 3, 10, 30]),
        (1, 600, [1, 10, 100]),
        (100, 800, [100, 200, 400, 700]),
        (1, 1e7, [10**i for i in range(8)]),
    ],
)
def test_ticks_of_a_logarithmic_axis(low: float, high: float, ticks: list[float]) -> None:
    axes = over(low, high, scales=("log", "log"))
    assert shown(axes.get_yticks(), axes.get_ylim()) == ticks
    assert [label.get_text() for label in axes.get_yticklabels(minor=True) if label.get_text()] == []


@pytest.mark.parametrize(("high", "words"), [(2_000, "1,000"), (200_000, "$10^{3}$")])
def test_long_numbers_side_by_side_are_written_as_powers(high: float, words: str) -> None:
    axes = over(1, high, scales=("log", "log"))
    assert axes.xaxis.get_major_formatter()(1_000, 0) == words
    # One above the other they have room.
    assert axes.yaxis.get_major_formatter()(1_000, 0) == "1,000"


def test_each_axis_has_its_own_scale() -> None:
    axes = over(1, 50, scales=("log", "linear"))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (-500, 500, [-100, -10, 0, 10, 100]),
        (-2e4, 2e5, [-10_000, -100, 0, 100, 10_000]),
        (-20, 5, [-10, -3, 0, 3]),
        (-20, 500, [-10, 0, 10, 100]),
        (-12, 150, [-10, 0, 10, 100]),  # four are enough, without triples
    ],
)
def test_ticks_of_both_signs_stand_in_order(low: float, high: float, ticks: list[float]) -> None:
    axes = over(low, high, scales=("linear", "symlog"))
    assert shown(axes.get_yticks(), (low, high)) == ticks


def test_ticks_of_a_plain_axis_are_fewer_where_numbers_are_long() -> None:
    small, large = over(0, 1_000, scales=("linear", "linear")), over(0, 10_000, scales=("linear", "linear"))
    assert shown(small.get_xticks(), small.get_xlim()) == [0, 250, 500, 750, 1_000]
    assert shown(large.get_xticks(), large.get_xlim()) == [0, 4_000, 8_000]
    assert shown(large.get_yticks(), large.get_ylim()) == [0, 2_500, 5_000, 7_500, 10_000]
    assert large.xaxis.get_major_formatter()(4_000, 0) == "4,000"
    assert small.xaxis.get_major_formatter()(0.125, 0) == "0.125"


@pytest.mark.parametrize(
    ("high", "ticks"),
    [(20, [0, 1, 3, 10]), (100, [0, 1, 10, 100]), (32, [0, 1, 3, 10, 30]), (2_000, [0, 1, 10, 100, 1_000])],
)
def test_ticks_of_an_axis_from_zero(high: float, ticks: list[float]) -> None:
    axes = over(0, high, scales=("from_zero", "linear"))
    assert axes.get_xticks().tolist() == ticks
    assert axes.get_xticks(minor=True).tolist() == []


def test_an_axis_from_zero_shows_zero_and_is_logarithmic_from_one_on() -> None:
    places = after_zero([0, 0.5, 1, 10**0.2, 10, 1000])
    np.testing.assert_allclose(places, [0, 0.25, 0.5, 0.7, 1.5, 3.5])
    np.testing.assert_allclose(before_one(places), [0, 0.5, 1, 10**0.2, 10, 1000])


@pytest.mark.parametrize(
    ("scale", "low", "high", "words"),
    [
        # An axis ends 3 % after its last number: these at 4,999 and at 5,000, from which on three ticks are enough.
        ("linear", 4896, 4996, ["4,900", "4,925", "4,950", "4,975"]),
        ("linear", 4897, 4997, ["4,920", "4,960", "5,000"]),
        # And these a little before and after 50,000, from which on powers are not written out.
        ("log", 1, 49_999.5 ** (1 / 1.03), ["1", "10", "100", "1,000", "10,000"]),
        ("log", 1, 50_000.5 ** (1 / 1.03), [f"$10^{{{k}}}$" for k in range(5)]),
        ("linear", 0, 60_000, ["0", "25,000", "50,000"]),
    ],
)
def test_numbers_under_a_panel_have_room_beside_each_other(
    scale: str, low: float, high: float, words: list[str]
) -> None:
    axes = over(low, high, scales=(scale, "linear"))
    write = axes.xaxis.get_major_formatter()
    assert [write(tick) for tick in shown(axes.get_xticks(), axes.get_xlim())] == words
