"""What conf/prep.yaml and conf/dataset/*.yaml may say; each data set adds what its own zoo may say."""

from collections.abc import Iterable, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from cams.checks import distinct
from cams.errors import InputError
from data_prep.pipeline.catalogue import DATASET, ROOT, SCALE, read_mapping, shipped_training
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import KINDS, get_dataset
from data_prep.pipeline.schema import FOLDER, Range, Schema, Some, Words, check
from data_prep.pipeline.variants import deciding, same_place

# Overrides that say where results go or how fast they come, not what they are.
NEUTRAL = ("dataset", "n_jobs", "cluster", "paths.work", "paths.raw", "paths.results")
# What is parsed is kept under `raw`, what is trained under `work`, what is measured or bundled under `results`.
_FETCHED_BY = ("scale", "dataset.")
DECIDED_BY: dict[str, tuple[str, ...]] = {"results": ("",), "work": ("seed", *_FETCHED_BY), "raw": _FETCHED_BY}
# Of the policies, what the bundle derives from trained ones: it decides nothing that is kept under `work`.
DERIVED = ("malicious", "random", "margin")
SHARPNESS = Range(float, 0, 1e9)
GENERAL: Schema = {
    # As far as a replay's seed may go.
    "seed": Range(int, 0, 2**63 - 1),
    "sharpness": SHARPNESS,
    "sharpness_check": {
        "grid": Some(SHARPNESS),
        "chosen_on": [str],
        "horizon": Range(int, 1),
        "budget_shares": Some(Range(float, 0, 1)),
        "realizations": Range(int, 1),
    },
    "labels_check": {"few": Range(int, 1), "horizon": Range(int, 1), "realizations": Range(int, 1)},
    "prior_check": {
        "strengths": Some(Range(float, 0)),
        "fades": Some(Range(float, 0)),
        "horizon": Range(int, 1),
        "budget_shares": Some(Range(float, 0, 1)),
        "realizations": Range(int, 1),
    },
    "precision_check": {"horizon": Range(int, 1), "realizations": Range(int, 1)},
    # More workers than that no machine has.
    "n_jobs": (Range(int, 1, 10_000), Range(int, -1, -1)),
    "cluster": (str, None),
    "paths": {"work": FOLDER, "raw": FOLDER, "results": FOLDER},
    "scale": SCALE,
    "dataset": DATASET,
}


def check_general(cfg: DictConfig) -> None:
    """Refuse misspelt keys and values of the wrong kind before anything is made of them."""
    check(cfg, GENERAL, "")


def refuse_overruled(cfg: DictConfig, overrides: Iterable[str]) -> None:
    """Refuse a word about the zoo that the scale has the last word on."""
    scale = cfg.scale.name
    of_scale = OmegaConf.create(cfg.dataset.scales.get(scale) or {})
    for override in overrides:
        key = override.lstrip("+").partition("=")[0]
        member = key.removeprefix("dataset.zoo.")
        if member != key and OmegaConf.select(of_scale, member) is not None:
            expected = f"dataset.scales.{scale}.{member}=..."
            raise InputError(f"{key} has no effect, for scale={scale} sets it too, expected {expected}")


def require_own_places(cfg: DictConfig, overrides: Sequence[str]) -> None:
    """Refuse settings other than those of params.yaml and conf in their places: what came out would pass for theirs."""
    # By their values: conf/prep.yaml may be edited too, and of two words on the seed the last one counts.
    training = {"scale": cfg.scale.name, "seed": cfg.seed}
    others = [f"{key}={training[key]}" for key, value in shipped_training().items() if training[key] != value]
    others += deciding(overrides, [*NEUTRAL, *training])
    places = {key: [o for o in others if decides(key, o.partition("=")[0])] for key in DECIDED_BY}
    shipped = shipped_places()
    taken = [key for key, given in places.items() if given and same_place(cfg.paths[key], shipped[key])]
    if "work" in taken:
        # Which has raw data in it, unless they are kept apart.
        taken = [key for key in taken if key != "raw"]
    if taken:
        unset = " and ".join(f"paths.{key}" for key in taken)
        raise InputError(
            f"{', '.join(others)}: params.yaml and conf say otherwise, so {unset} must be set too, "
            "or what comes out would pass for theirs"
        )


def shipped_places() -> dict[str, str]:
    """Where what DVC knows is made."""
    places: dict[str, str] = read_mapping(ROOT / "conf" / "prep.yaml")["paths"]
    return places | {"raw": f"{places['work']}/raw"}


def decides(place: str, key: str) -> bool:
    """Tell whether a setting decides what is written to a place; data sets have files of their own."""
    derived = key in {f"dataset.zoo.policies.{name}" for name in DERIVED}
    return key not in NEUTRAL and key.startswith(DECIDED_BY[place]) and not (derived and place != "results")


def check_zoo(context: Context) -> None:
    """Refuse what the data set's own code would not look at."""
    check(context.settings, get_dataset(context.dataset).SETTINGS, f"zoo of {context.dataset}")
    for part in ("classifiers", "policies"):
        check_members(context.settings.get(part, {}).get("members", []), f"zoo of {context.dataset}.{part}.members")


def check_members(members: Iterable[Any], place: str) -> None:
    """Refuse two members of one name, and policies of which none is normal: they would be found out after training."""
    distinct(place, [member if isinstance(member, str) else member.name for member in members])
    kinds = {member.kind for member in members if "kind" in member}
    if kinds and "normal" not in kinds:
        raise InputError(f"{place} has no policy of kind normal, expected at least one")


def policies(member: dict[str, Any], **more: Schema) -> Schema:
    """What `policies:` may say wherever members are trained by `cross_fit`; `member` is one of them."""
    shared = {
        "folds": Range(int, 2),
        "stored": Words("float32", "float16", "uint8"),
        "margin": float,
        "malicious": [str],
        "random": Range(int, 0),
    }
    return {**shared, "defaults": member, "members": Some({"name": str, "kind": Words(*KINDS), **member}), **more}
