"""Whether drawing a picture again would change it: a PNG keeps a hash of its numbers and of the drawing code."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, UnidentifiedImageError

from cams.plotting.appearance import DRAWN_FROM, STYLE
from cams.plotting.panel import Panel
from data_prep.pipeline.code import code_digest

Grid = Sequence[Sequence[Panel | None]]

# More than can be seen, and fewer than may differ between two machines.
DIGITS = 9
PDF_END = b"%%EOF"


@cache
def drawing_code() -> str:
    """Return a hash of the code and the style that turn numbers into a picture."""
    return code_digest("cams.plotting.draw") + hashlib.sha256(STYLE.read_bytes()).hexdigest()


def picture_digest(grid: Grid, code: str) -> str:
    """Return a hash of all that a picture shows and of the code that draws it."""
    panels = [[dataclasses.asdict(panel) if panel else None for panel in row] for row in grid]
    return hashlib.sha256(json.dumps([_visible(panels), code]).encode()).hexdigest()


def _visible(value: Any) -> Any:
    """Return values as text of few digits, whatever they are inside of."""
    if isinstance(value, dict):
        return {key: _visible(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_visible(entry) for entry in value]
    return f"{round(value, DIGITS):.{DIGITS}g}" if isinstance(value, float) else value


class Picture(NamedTuple):
    """A grid of panels, the file (without its ending) it belongs to, and the hash of what it shows."""

    grid: Grid
    stem: Path
    digest: str

    def is_drawn(self) -> bool:
        """Tell whether stem.png was drawn from the same and is whole, and so is stem.pdf, written before it."""
        png, pdf = (self.stem.with_name(f"{self.stem.name}.{ending}") for ending in ("png", "pdf"))
        try:
            with Image.open(png) as image:
                same = image.info.get(DRAWN_FROM) == self.digest
                image.verify()
            return same and pdf.read_bytes().rstrip().endswith(PDF_END)
        # The last is how Pillow calls a damaged PNG.
        except (OSError, UnidentifiedImageError, SyntaxError):
            return False

    def draw(self) -> list[Path]:
        """Draw, whatever is there, and return the files."""
        # Only who draws needs matplotlib.
        from cams.plotting.draw import draw, save

        return save(draw(self.grid), self.stem, self.digest)

    def draw_if_changed(self) -> list[Path]:
        return [] if self.is_drawn() else self.draw()


def picture_of(grid: Grid, stem: Path, code: str | None = None) -> Picture:
    """Return the picture of a grid; `code` stands for the hash of what draws it."""
    return Picture(grid, stem, picture_digest(grid, code or drawing_code()))
