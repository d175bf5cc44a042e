"""The claims once more with other training seeds: new splits, classifiers, policies and records for each.

    python -m experiments.claims_seeds
    python -m experiments.claims_seeds 'training_seeds=[1,2]' 'seed_datasets=[vertebral]'

Everything of seed k goes under data/seeds/seed<k> and results/seeds/seed<k>; `python -m experiments.claims` then shows
the spread of the verdicts. What is already done is not done again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import hydra
from omegaconf import DictConfig, OmegaConf

import cams
from experiments.configuration import CONF, run_or_explain
from experiments.jobs import say_now

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


def repeat(seed: int, dataset: str, experiments: list[str], results: Path, n_jobs: int) -> None:
    folder = results / "seeds" / f"seed{seed}"
    bundle = folder / "bundles" / f"{dataset}.npz"
    if not bundle.exists():
        say_now(f"claims: preparing {dataset} with seed {seed} ...")
        run_step("data_prep.all", f"dataset={dataset}", f"seed={seed}", f"paths.work=data/seeds/seed{seed}",
                 "paths.raw=data/raw", f"paths.results={folder}", f"n_jobs={n_jobs}")
    run_step("experiments.all", "steps=[replay]", f"experiments=[{','.join(experiments)}]", f"datasets=[{dataset}]",
             f"overrides=['seed={seed}']", f"paths.results={folder}", f"paths.bundles={folder / 'bundles'}",
             f"n_jobs={n_jobs}")


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="claims")
def main(cfg: DictConfig) -> None:
    claims: list[dict[str, Any]] = OmegaConf.to_container(cfg.claims, resolve=True)  # type: ignore[assignment]
    for dataset in cfg.seed_datasets:
        for seed in cfg.training_seeds:
            repeat(seed, dataset, experiments_of(claims, dataset), Path(cfg.paths.results), cfg.n_jobs)


if __name__ == "__main__":
    run_or_explain(main)
