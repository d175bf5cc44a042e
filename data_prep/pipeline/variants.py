"""Overridden settings have a place of their own, results/variants/<overrides>: trying something out spoils nothing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

LONGEST_NAME = 120


def overridden_keys(overrides: Sequence[str]) -> list[str]:
    """Return what overrides are about: `+seed=3` is about `seed`."""
    return [override.lstrip("+~").partition("=")[0] for override in overrides]


def deciding(overrides: Sequence[str], neutral: Sequence[str]) -> list[str]:
    """Return the overrides that decide what the result is: all but `neutral` ones, given whole or by their keys."""
    # Of two words on one thing the last one counts.
    last = dict(zip(overridden_keys(overrides), overrides, strict=True)).values()
    given = sorted(override.lstrip("+~") for override in last)
    return [o for o in given if o not in neutral and o.partition("=")[0] not in neutral and not o.startswith("hydra")]


def variant_name(overrides: Sequence[str], neutral: Sequence[str]) -> str:
    """Name what was overridden: `horizon=500,learner.cams.floor=0.1`, or an empty string."""
    name = ",".join(deciding(overrides, neutral)).replace("/", "_").replace(" ", "")
    return name if len(name) <= LONGEST_NAME else hashlib.sha256(name.encode()).hexdigest()[:16]


def variant_folder(results: Path, variant: str) -> Path:
    """Return where results go: beside the shipped ones unless nothing that matters was overridden."""
    return results / "variants" / variant if variant else results


def same_place(folder: str | Path, other: str | Path) -> bool:
    """Tell whether two paths lead to one folder, however they are written."""
    return os.path.realpath(folder) == os.path.realpath(other)
