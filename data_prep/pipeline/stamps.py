"""What an artefact was made with: a stage that knows another seed or other settings does not compute with it.

In the shipped place artefacts have no stamp: their bytes are in dvc.lock, and only what params.yaml and conf say is
trained there. So a file without a stamp, as somebody may have copied it from there, is one of those.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from cams.archive import open_archive
from cams.errors import InputError
from data_prep.pipeline.catalogue import ROOT, shipped_training
from data_prep.pipeline.context import Context, settings_at_scale
from data_prep.pipeline.settings import DERIVED, shipped_places
from data_prep.pipeline.variants import same_place

STAMP = "made_with"
# Parts of a zoo that are looked at only when the artefact is there.
LATER = {"splits": ("classifiers", "policies"), "classifiers": ("policies",), "policies": ()}


def stamp(artefact: str, context: Context) -> dict[str, np.ndarray]:
    """What to store beside the arrays of an artefact."""
    if same_place(context.work, shipped_places()["work"]):
        return {}
    return {STAMP: np.array(json.dumps(made_with(artefact, context.dataset, context.seed, context.settings)))}


def require_made_with(artefact: str, path: Path, context: Context) -> None:
    """Refuse a file that was made with another seed or other settings than this stage is run with."""
    expected = flat(made_with(artefact, context.dataset, context.seed, context.settings))
    found = flat(stamped(artefact, path, context))
    for key in sorted({*expected, *found}):
        told, wanted = found.get(key), expected.get(key)
        if told != wanted:
            # The members of a zoo would fill a page.
            plain = isinstance(told, str | int | float) and isinstance(wanted, str | int | float)
            raise InputError(f"it was made with {f'{key}={told}, expected {wanted}' if plain else f'another {key}'}")


def stamped(artefact: str, path: Path, context: Context) -> dict[str, Any]:
    with open_archive(path) as archive:
        text = str(archive.read(STAMP)) if STAMP in archive.names() else ""
    if not text:
        training = shipped_training()
        shipped: Any = OmegaConf.load(ROOT / "conf" / "dataset" / f"{context.dataset}.yaml")
        return made_with(artefact, context.dataset, training["seed"], settings_at_scale(shipped, training["scale"]))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"array '{STAMP}' does not say what it was made with")
    return found


def made_with(artefact: str, dataset: str, seed: int, settings: Any) -> dict[str, Any]:
    """All that decides what an artefact is, as JSON gives it back."""
    zoo: Any = OmegaConf.to_container(settings, resolve=True)
    zoo = {part: value for part, value in zoo.items() if part not in LATER[artefact]}
    if "policies" in zoo:
        zoo["policies"] = {key: value for key, value in zoo["policies"].items() if key not in DERIVED}
    made: dict[str, Any] = json.loads(json.dumps({"dataset": dataset, "seed": seed, **zoo}))
    return made


def flat(values: dict[str, Any], where: str = "") -> dict[str, Any]:
    """Mappings inside one another as one, with keys such as `policies.folds`."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flat(value, f"{where}{key}.") if isinstance(value, dict) else {f"{where}{key}": value}
    return found
