"""The claims once more with other training seeds: new splits, classifiers, policies and records for each.

    python -m experiments.claims.seeds
    python -m experiments.claims.seeds 'training_seeds=[1,2]' 'seed_datasets=[vertebral]'

Everything of seed k goes under data/seeds/seed<k> and results/seeds/seed<k>; `python -m experiments.claims` then shows
the spread of the verdicts. What is already done is not done again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import cams
from data_prep.pipeline.shell import entry_point
from experiments.runner.configuration import compose_run
from experiments.runner.jobs import Places, ensure_record, say_now
from experiments.runner.resolve import make_plan

STAGES = ("split", "classifiers", "policies", "bundle")
RAW = Path("data/raw")


def experiments_of(claims: list[dict[str, Any]], dataset: str) -> list[str]:
    """Return the experiments that the claims about a data set read."""
    names = {
        check.get("experiment", claim["experiment"])
        for claim in claims
        for check in claim["checks"]
        if dataset in check.get("datasets", claim["datasets"])
    }
    # The bounds hold for any zoo.
    return sorted(names - {"adversarial"})


def run_step(*words: str) -> None:
    """Run one module of this repository; its own messages go to the terminal."""
    finished = subprocess.run([sys.executable, "-m", *words], check=False)
    if finished.returncode:
        raise cams.InputError(f"`python -m {' '.join(words)}` ended with exit code {finished.returncode}")


def prepare(seed: int, dataset: str, folder: Path, n_jobs: int) -> None:
    """Make the bundle of a data set from another seed; parsed data depend on no seed and are shared."""
    say_now(f"claims: preparing {dataset} with seed {seed} ...")
    for stage in STAGES if (RAW / dataset).exists() else ("fetch", *STAGES):
        run_step(
            f"data_prep.{stage}",
            f"dataset={dataset}",
            f"seed={seed}",
            f"paths.work=data/seeds/seed{seed}",
            f"paths.raw={RAW}",
            f"paths.results={folder}",
            f"n_jobs={n_jobs}",
        )


def repeat(seed: int, dataset: str, experiments: list[str], results: Path, n_jobs: int) -> None:
    folder = results / "seeds" / f"seed{seed}"
    places = Places(folder / "bundles", folder)
    if not places.bundle(dataset).exists():
        prepare(seed, dataset, folder, n_jobs)
    for name in experiments:
        plan = make_plan(compose_run([f"experiment={name}", f"seed={seed}"]), dataset)
        ensure_record(plan, places, n_jobs, say_now)


@entry_point("claims")
def main(cfg: DictConfig) -> None:
    claims: list[dict[str, Any]] = OmegaConf.to_container(cfg.claims, resolve=True)  # type: ignore[assignment]
    for dataset in cfg.seed_datasets:
        for seed in cfg.training_seeds:
            repeat(seed, dataset, experiments_of(claims, dataset), Path(cfg.paths.results), cfg.n_jobs)


if __name__ == "__main__":
    main()
