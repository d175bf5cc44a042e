"""Whether drawing a picture again would change it: a PNG keeps a hash of its numbers and of the drawing code."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from cams.plotting.appearance import DRAWN_FROM, STYLE
from cams.plotting.panel import Panel
from data_prep.pipeline.code import code_digest

# More than can be seen, and fewer than may differ between two machines.
DIGITS = 9


@cache
def drawing_code() -> str:
    """Return a hash of the code and the style that turn numbers into a picture."""
    return code_digest("cams.plotting.draw") + hashlib.sha256(STYLE.read_bytes()).hexdigest()


def picture_digest(grid: Sequence[Sequence[Panel | None]], code: str) -> str:
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


def is_drawn(stem: Path, digest: str) -> bool:
    """Tell whether stem.png was drawn from the same and stem.pdf, written before it, is there too."""
    try:
        with Image.open(stem.with_name(f"{stem.name}.png")) as image:
            return image.info.get(DRAWN_FROM) == digest and stem.with_name(f"{stem.name}.pdf").exists()
    except (OSError, UnidentifiedImageError):
        return False
