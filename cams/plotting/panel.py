"""All that a plot needs and nothing it would have to compute, so that figures, their numbers and the report agree."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.plotting.appearance import Look

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """A line with its band; `name` identifies it, `label` is what the legend says (empty: no entry)."""

    name: str
    label: str
    look: Look
    x: Array
    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Reference:
    """A level that does not depend on x, such as the loss of one policy."""

    name: str
    label: str
    look: Look
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Panel:
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    references: tuple[Reference, ...] = ()
    title: str = ""
    tick_labels: tuple[str, ...] = field(default=())
    # of x and y: linear, log, from_zero (logarithmic from 1 on, with 0 on the axis), or symlog for both signs
    scales: tuple[str, str] = ("linear", "linear")

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers in long form: series, x, mean, low, high (x is empty for references)."""
        rows = [
            {"series": line.name, "x": x, "mean": mean, "low": low, "high": high}
            for line in self.series
            for x, mean, low, high in zip(line.x, line.mean, line.low, line.high, strict=True)
        ]
        rows += [
            {"series": level.name, "x": np.nan, "mean": level.mean, "low": level.low, "high": level.high}
            for level in self.references
        ]
        return pd.DataFrame(rows, columns=["series", "x", "mean", "low", "high"])
