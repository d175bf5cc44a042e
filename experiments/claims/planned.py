"""Seeds that somebody wants judged must have records: without them a claim would silently count as not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cams
from data_prep.pipeline.variants import overridden_keys

MAKE = "`python -m experiments.claims.training_seeds`"
UNREAD = {
    "seeds": f"{MAKE} reads it",
    "datasets": f"{MAKE} reads it",
    "baselines": "the checks of claims have copies of it, in conf/claims.yaml",
}


def refuse_unread(overrides: Sequence[str], unread: Mapping[str, str] = UNREAD, by: str = "the ledger") -> None:
    """Refuse settings of conf/claims.yaml that decide nothing about what is made; `unread` says why."""
    for key in overridden_keys(overrides):
        if why := unread.get(key.partition(".")[0]):
            raise cams.InputError(f"{key} has no effect on {by}: {why}")


def require_records(config: dict[str, Any], results: Path, overrides: Sequence[str]) -> None:
    """Refuse a results folder without records of the seed, and training seeds from the shell that have none.

    Of the shipped training seeds some may not be here; the ledger then says what is not measured.
    """
    if not any((results / "records").glob(f"*/*/seed{config['seed']}.parquet")):
        raise cams.InputError(
            f"{results} has no records of seed {config['seed']}; `python -m experiments.all` makes those of seed 0"
        )
    given = overridden_keys(overrides)
    plans = {"training_seeds": config["training_seeds"], "own.judged_on": config.get("own", {}).get("judged_on", {})}
    for where, planned in plans.items():
        for dataset, seeds in planned.items():
            if any(f"{where}.{dataset}.".startswith(f"{key}.") for key in given):
                _require_seeds(f"{where}.{dataset}", dataset, seeds, results / "seeds")


def _require_seeds(where: str, dataset: str, seeds: Sequence[int], folder: Path) -> None:
    for seed in seeds:
        if not any((folder / f"seed{seed}" / "records").glob(f"*/{dataset}/seed{seed}.parquet")):
            raise cams.InputError(f"{where} is {seeds}, but {folder} has no records of {dataset} with seed {seed}")
