"""Which data sets there are: one file of conf/dataset each, in the order of params.yaml, those brought by hand last."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from cams.errors import InputError, lookup
from cams.files import visible
from data_prep.pipeline.schema import ANYTHING, Complete, Each, Range, Schema, Some, Words, check

ROOT = Path(__file__).resolve().parents[2]

# What conf/dataset/*.yaml and conf/scale/*.yaml may say; what a zoo may say its data set knows.
SCALES = ("smoke", "laptop", "paper")
DATASET: Schema = {
    "name": str,
    "title": str,
    "by_hand": bool,
    "stream": {"horizon": Range(int, 1), "budget": Range(int, 1), "realizations": Range(int, 1)},
    "zoo": Each(ANYTHING),
    "scales": dict.fromkeys(SCALES, (None, Each(ANYTHING))),
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
    found = {path.stem: read_entry(path) for path in visible(ROOT / "conf" / "dataset", "*.yaml")}
    listed = [name for name in listed_names() if name in found]
    return {name: found[name] for name in [*listed, *(name for name in found if name not in listed)]}


def find_entry(name: str) -> Entry:
    return lookup(catalogue(), name, "data set")


def listed_names(params: Path = ROOT / "params.yaml") -> list[str]:
    """The data sets that `dvc repro` builds."""
    names: list[str] = read_mapping(params).get("datasets", [])
    check(names, Some(str), f"datasets of {params}")
    return names


def shipped_training(params: Path = ROOT / "params.yaml") -> dict[str, Any]:
    """The scale and the seed that the shipped bundles are trained with."""
    training: dict[str, Any] = read_mapping(params).get("training", {})
    check(training, Complete({"scale": Words(*SCALES), "seed": Range(int, 0)}), f"training of {params}")
    return training


def read_entry(path: Path) -> Entry:
    settings = read_mapping(path)
    if missing := [key for key in ("title", "stream") if key not in settings]:
        raise InputError(f"{path} says nothing about {' and '.join(missing)}")
    return Entry(path.stem, settings["title"], settings["stream"], settings.get("by_hand", False))


# In compiled code, where there is some: all of conf in 30 ms.
_COMPILED: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_COMPILED):
    """Refuses a key that stands there twice, as Hydra does: YAML's own reader would take the last one for all."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for first, second in pairwise(sorted(keys)):
            if first == second:
                raise yaml.constructor.ConstructorError(None, None, f"it has the key '{first}' twice", node.start_mark)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_mapping(path: Path) -> dict[str, Any]:
    """Return what a YAML file says; one that is missing, damaged or says nothing is refused by its name."""
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is {'empty' if found is None else 'no mapping'}, expected names with values")
    return found
