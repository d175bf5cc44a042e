"""Drawing, and nothing else: panels of finished numbers in, matplotlib figures out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from cams.files import atomic_path
from cams.plotting.appearance import DRAWN_FROM, STYLE
from cams.plotting.panel import Panel, Reference, Series

PANEL_WIDTH, PANEL_HEIGHT = 2.0, 1.75
SMALLEST_WIDTH = 3.6
LEGEND_ROW = 0.165
# Inches that a legend entry takes: its line and gaps, and each character of its label.
LEGEND_HANDLE, LEGEND_CHARACTER = 0.56, 0.068
MARKERS_PER_LINE = 8
# Decades between 0 and 1 on an axis that starts at 0.
ZERO_TO_ONE = 0.5
FEWEST_SIGNED_TICKS, MOST_SIGNED_TICKS = 4, 7
# Many words side by side under one panel.
CASE_LABEL_SIZE = 5.8
# Files must not differ between two runs that draw the same thing.
METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
}


def draw(grid: Sequence[Sequence[Panel | None]]) -> Figure:
    """Draw rows of panels with one legend above them; None leaves a place empty."""
    rows, columns = len(grid), max(len(row) for row in grid)
    entries = legend_entries([panel for row in grid for panel in row if panel])
    width = max(columns * PANEL_WIDTH, SMALLEST_WIDTH)
    legend_columns = fitting_columns(list(entries), width)
    height = rows * PANEL_HEIGHT + -(-len(entries) // legend_columns) * LEGEND_ROW + 0.1
    with mpl.rc_context(fname=str(STYLE)):
        # Not pyplot's: a figure of ours opens no window and leaves a notebook's settings alone.
        figure = Figure(figsize=(width, height))
        axes = figure.subplots(rows, columns, squeeze=False)
        for row, places in zip(grid, axes, strict=True):
            for panel, ax in zip_longest(row, places):
                if panel:
                    draw_panel(ax, panel)
                else:
                    ax.set_axis_off()
        _say_once(axes)
        figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=legend_columns)
        # Places are found once; otherwise each file format would look for them again.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def _say_once(axes: npt.NDArray[Any]) -> None:
    """Remove an axis label that the panel to the left, or the one below, already says."""
    for left, right in zip(axes[:, :-1].ravel(), axes[:, 1:].ravel(), strict=True):
        right.yaxis.label.set_visible(left.get_ylabel() != right.get_ylabel())
    for upper, lower in zip(axes[:-1].ravel(), axes[1:].ravel(), strict=True):
        upper.xaxis.label.set_visible(upper.get_xlabel() != lower.get_xlabel())


def draw_panel(ax: Axes, panel: Panel) -> None:
    for level in panel.references:
        _draw_reference(ax, level)
    for line in panel.series:
        _draw_series(ax, line)
    ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    ax.margins(x=0.03)
    if panel.scales[0] == "from_zero":
        ax.set_xscale("function", functions=(after_zero, before_one))
    else:
        ax.set_xscale(panel.scales[0])
    ax.set_yscale(panel.scales[1])
    if panel.tick_labels:
        ax.set_xticks(range(len(panel.tick_labels)), panel.tick_labels, fontsize=CASE_LABEL_SIZE)
    else:
        _tick(ax.xaxis)
    _tick(ax.yaxis)


def after_zero(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return places on an axis that is logarithmic from 1 on and has 0 half a decade before it."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.where(numbers <= 1, ZERO_TO_ONE * numbers, ZERO_TO_ONE + np.log10(np.maximum(numbers, 1)))


def before_one(places: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Undo `after_zero`."""
    numbers = np.asarray(places, dtype=np.float64)
    return np.where(
        numbers <= ZERO_TO_ONE, numbers / ZERO_TO_ONE, 10 ** (np.maximum(numbers, ZERO_TO_ONE) - ZERO_TO_ONE)
    )


def _tick(axis: Axis) -> None:
    """Give an axis a few round ticks, written out in full."""
    low, high = axis.get_view_interval()
    if axis.get_scale() == "function":
        powers = [10**k for k in range(9) if 10**k <= high]
        # Without room for a third power, their triples help.
        between = [3 * power for power in powers if 3 * power <= high] if len(powers) < 3 else []
        axis.set_major_locator(FixedLocator([0, *sorted([*powers, *between])]))
        axis.set_minor_locator(NullLocator())
    elif axis.get_scale() == "log":
        decades = np.log10(high / low)
        # A third of a decade apart at least; numticks, or matplotlib leaves out every other power in small panels.
        subs = (1, 2, 4, 7) if decades < 1 else (1, 3) if decades < 2.5 else (1,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=12))
        axis.set_minor_formatter(NullFormatter())
    elif axis.get_scale() == "symlog":
        axis.set_major_locator(FixedLocator(_signed_powers(low, high)))
        axis.set_minor_locator(NullLocator())
    else:
        # Side by side, numbers of six digits need twice the room of small ones.
        crowded = isinstance(axis, XAxis) and high >= 5_000
        axis.set_major_locator(MaxNLocator(nbins=3 if crowded else 5))
    # Long numbers under a row of powers of ten would run into each other.
    as_powers = isinstance(axis, XAxis) and axis.get_scale() == "log" and high >= 50_000
    axis.set_major_formatter(FuncFormatter(_power_of_ten if as_powers else _in_full))


def _in_full(value: float, _: int | None = None) -> str:
    return f"{value:,.10g}"


def _power_of_ten(value: float, _: int | None = None) -> str:
    return f"$10^{{{np.log10(value):g}}}$"


def _signed_powers(low: float, high: float) -> list[float]:
    """Return 0 and powers of ten on both sides, with their triples where there are few, every other one where many."""
    powers = [10.0**k for k in range(1, 9)]
    ticks = _both_signs(powers, low, high)
    if len(ticks) < FEWEST_SIGNED_TICKS:
        ticks = _both_signs(sorted([3.0, *powers, *(3 * power for power in powers)]), low, high)
    step = 2 if len(ticks) > MOST_SIGNED_TICKS else 1
    zero = ticks.index(0.0)
    return [tick for i, tick in enumerate(ticks) if (i - zero) % step == 0]


def _both_signs(sizes: list[float], low: float, high: float) -> list[float]:
    return [-size for size in sizes[::-1] if -size >= low] + [0.0] + [size for size in sizes if size <= high]


def _draw_series(ax: Axes, line: Series) -> None:
    # What the paper is about lies on top of what it is compared with.
    front = 3 if line.name == "cams" else 2
    every = -(-len(line.x) // MARKERS_PER_LINE)
    marked = list(range((len(line.x) - 1) % every, len(line.x), every))
    look = line.look
    ax.fill_between(line.x, line.low, line.high, color=look.colour, alpha=0.16, linewidth=0, zorder=front - 1)
    ax.plot(
        line.x,
        line.mean,
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markevery=marked,
        zorder=front,
    )


def _draw_reference(ax: Axes, level: Reference) -> None:
    ax.axhspan(level.low, level.high, color=level.look.colour, alpha=0.08, linewidth=0, zorder=0.5)
    ax.axhline(level.mean, color=level.look.colour, linestyle=level.look.line, linewidth=1.0, zorder=1)


def fitting_columns(labels: list[str], width: float) -> int:
    """Return the largest number of legend columns whose entries, filled column by column, fit the width."""
    lengths = [len(label) for label in labels]
    for columns in range(len(labels), 1, -1):
        longest = [max(part) for part in np.array_split(lengths, columns)]
        if sum(LEGEND_HANDLE + LEGEND_CHARACTER * length for length in longest) <= width:
            rows = -(-len(labels) // columns)
            return -(-len(labels) // rows)
    return 1


def legend_entries(panels: Sequence[Panel]) -> dict[str, Line2D]:
    """Return one handle per label, in order of first appearance: learners, then references."""
    lines: list[Series | Reference] = [line for panel in panels for line in panel.series]
    lines += [level for panel in panels for level in panel.references]
    looks = {line.label: line.look for line in lines if line.label}
    return {
        label: Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker)
        for label, look in looks.items()
    }


def save(figure: Figure, stem: Path, drawn_from: str = "") -> list[Path]:
    """Write stem.pdf and stem.png, with the same bytes for the same picture; the PNG keeps what it was drawn from."""
    with mpl.rc_context(fname=str(STYLE)):
        for kind, metadata in METADATA.items():
            with atomic_path(stem.with_name(f"{stem.name}.{kind}")) as temporary:
                kept = {DRAWN_FROM: drawn_from} if kind == "png" else {}
                figure.savefig(temporary, format=kind, metadata=metadata | kept)
    return [stem.with_name(f"{stem.name}.{kind}") for kind in sorted(METADATA, reverse=True)]
