"""How long a record took, in a small file beside it.

    results/records/<experiment>/<dataset>/seed<k>.seconds.json

Not inside the record: the same plan and bundle must give the same bytes, however fast the machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cams.files import write_text


def timing_path(record: Path) -> Path:
    return record.with_name(f"{record.stem}.seconds.json")


def write_timing(record: Path, seconds: float, workers: int) -> None:
    write_text(timing_path(record), json.dumps({"seconds": round(seconds, 2), "workers": workers}) + "\n")


def read_timing(record: Path) -> dict[str, Any] | None:
    """Return {seconds, workers}, or None where nobody took the time."""
    try:
        found: dict[str, Any] = json.loads(timing_path(record).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found
