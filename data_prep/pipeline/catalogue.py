"""Which data sets there are: one file of conf/dataset each, in the order of params.yaml, those brought by hand last."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cams.errors import InputError, lookup
from data_prep.pipeline.schema import ANYTHING, Each, Range, Schema, Words

ROOT = Path(__file__).resolve().parents[2]

# What conf/dataset/*.yaml and conf/scale/*.yaml may say; what a zoo may say its data set knows.
SCALES = ("smoke", "laptop", "paper")
DATASET: Schema = {
    "name": str,
    "title": str,
    "by_hand": bool,
    "stream": {"horizon": Range(int, 1), "budget": Range(int, 1), "realizations": Range(int, 1)},
    "zoo": Each(ANYTHING),
    "scales": dict.fromkeys(SCALES, ANYTHING),
}
SCALE: Schema = {
    "name": Words(*SCALES),
    "limits": dict.fromkeys(("horizon", "budget", "realizations", "points"), Range(int, 1)),
}


@dataclass(frozen=True)
class Entry:
    """What everybody may know of a data set: the stream is the paper's T (horizon), B (budget) and R (realizations)."""

    name: str
    title: str
    stream: Mapping[str, int]
    by_hand: bool = False


@cache
def catalogue() -> dict[str, Entry]:
    """Every data set by name."""
    found = {path.stem: read_entry(path) for path in sorted((ROOT / "conf" / "dataset").glob("*.yaml"))}
    listed = [name for name in listed_names() if name in found]
    return {name: found[name] for name in [*listed, *(name for name in found if name not in listed)]}


def find_entry(name: str) -> Entry:
    return lookup(catalogue(), name, "data set")


def listed_names() -> list[str]:
    """The data sets that `dvc repro` builds."""
    return list(read_yaml(ROOT / "params.yaml")["datasets"])


def read_entry(path: Path) -> Entry:
    settings = read_yaml(path)
    if missing := [key for key in ("title", "stream") if key not in settings]:
        raise InputError(f"{path} says nothing about {' and '.join(missing)}")
    return Entry(path.stem, settings["title"], settings["stream"], settings.get("by_hand", False))


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        return dict(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
