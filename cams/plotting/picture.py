"""Where a picture goes: looked at before anything is computed for it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from cams.errors import InputError
from cams.files import as_path, require_writable

FORMATS = ("png", "pdf", "svg")


def require_picture(path: Path, source: Path | None = None) -> None:
    """Refuse a file that no picture can be written to, or that leads to what it is drawn from."""
    if path.suffix[1:] not in FORMATS:
        raise InputError(f"the picture {path} ends in '{path.suffix}', expected one of .{', .'.join(FORMATS)}")
    if os.path.isdir(path):
        raise InputError(f"cannot write the picture {path}: it is a folder")
    require_matplotlib()
    require_writable(as_path(path).parent)
    if source and os.path.realpath(path) == os.path.realpath(source):
        raise InputError(f"the picture {path} leads to {source}, expected a file of its own")


def require_matplotlib() -> None:
    try:
        found = find_spec("matplotlib") is not None
    except (ImportError, ValueError):
        found = False
    if not found:
        raise InputError("drawing needs matplotlib: pip install 'cams[plot]'")
