"""Where bundles are read and results written, and whether the record of a plan is there and current."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from omegaconf import DictConfig

from cams.errors import InputError
from data_prep.pipeline.variants import same_place
from experiments.records.store import Origin, State, record_path, state_of
from experiments.runner.computations import computation_code
from experiments.runner.plan import Plan

# Of conf/run.yaml and conf/all.yaml, and what git holds.
SHIPPED_RESULTS, SHIPPED_BUNDLES = "results", "results/bundles"


def require_own_results(paths: DictConfig) -> None:
    """Refuse bundles from elsewhere where the results of the shipped ones are: theirs would be overwritten."""
    if same_place(paths.results, SHIPPED_RESULTS) and not same_place(paths.bundles, SHIPPED_BUNDLES):
        raise InputError(
            f"paths.bundles is {paths.bundles}, so paths.results must be set too, "
            "or what comes out would pass for what the shipped bundles gave"
        )


@dataclass(frozen=True)
class Places:
    """Where bundles are read and results written; `own_bundle` is read in place of all others."""

    bundles: Path
    results: Path
    own_bundle: Path | None = None

    def bundle(self, dataset: str) -> Path:
        return self.own_bundle or self.bundles / f"{dataset}.npz"

    def record(self, plan: Plan) -> Path:
        return record_path(self.results, plan.experiment, plan.dataset, plan.seed)


def origin_of(plan: Plan, places: Places) -> Origin:
    """Return what the record of a plan would be made from now: its values, the bundle here, the code here."""
    return Origin(plan.as_dict(), bundle_digest(plan, places), computation_code(plan.compute))


def record_state(plan: Plan, places: Places) -> State:
    """Tell whether the record of a plan is current, stale (and why), damaged or missing."""
    return state_of(places.record(plan), origin_of(plan, places))


def bundle_digest(plan: Plan, places: Places) -> str | None:
    """Return the hash of the plan's bundle, None if it is not here, and a fixed word if none is needed."""
    if not plan.needs_bundle:
        return "none"
    path = places.bundle(plan.dataset)
    return file_digest(path) if path.exists() else None


@lru_cache(maxsize=16)
def _digest(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    # A pipe would be waited for.
    if not path.is_file():
        raise InputError(f"{path} is not a readable .npz file: it is no plain file")
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)
