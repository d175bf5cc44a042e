"""Axes: which numbers stand at their ticks, and how they are written, so that none runs into the next."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes

from cams.plotting.appearance import look_of
from cams.plotting.draw import draw
from cams.plotting.panel import Panel, Series


def drawn(x: list[float], y: list[float], scales: tuple[str, str]) -> Axes:
    places, values = np.array(x), np.array(y)
    line = Series("cams", "CAMS", look_of("cams"), places, values, values, values)
    return draw([[Panel("x", "y", (line,), scales=scales)]]).axes[0]


def words(ax: Axes, which: str) -> list[str]:
    """Return what stands at the ticks that can be seen."""
    axis = {"x": ax.xaxis, "y": ax.yaxis}[which]
    low, high = axis.get_view_interval()
    return [axis.get_major_formatter()(tick) for tick in axis.get_majorticklocs() if low <= tick <= high]


@pytest.mark.parametrize(
    ("scale", "x", "expected"),
    [
        ("from_zero", [0, 30], ["0", "1", "3", "10", "30"]),  # two powers leave room for their triples
        ("from_zero", [0, 100], ["0", "1", "10", "100"]),
        # An axis ends 3 % after its last number: these at 4,999 and at 5,000, from which on three ticks are enough.
        ("linear", [4896, 4996], ["4,900", "4,925", "4,950", "4,975"]),
        ("linear", [4897, 4997], ["4,920", "4,960", "5,000"]),
        # And these a little before and after 50,000, from which on powers are not written out.
        ("log", [1, 49_999.5 ** (1 / 1.03)], ["1", "10", "100", "1,000", "10,000"]),
        ("log", [1, 50_000.5 ** (1 / 1.03)], [f"$10^{{{k}}}$" for k in range(5)]),
        ("linear", [0, 60_000], ["0", "25,000", "50,000"]),
    ],
)
def test_numbers_under_a_panel_have_room_beside_each_other(scale: str, x: list[float], expected: list[str]) -> None:
    assert words(drawn(x, [0, 1], (scale, "linear")), "x") == expected


@pytest.mark.parametrize(
    ("scale", "y", "expected"),
    [
        # One above the other, long numbers need no more room than short ones.
        ("linear", [0, 60_000], ["0", "15,000", "30,000", "45,000", "60,000"]),
        ("log", [1, 10**9], [f"{10**k:,}" for k in range(10)]),  # every power, however small the panel
        ("symlog", [-20, 200], ["-10", "0", "10", "100"]),  # four are enough, without triples
    ],
)
def test_numbers_beside_a_panel_are_written_out(scale: str, y: list[float], expected: list[str]) -> None:
    assert words(drawn([0, 1], y, ("linear", scale)), "y") == expected
