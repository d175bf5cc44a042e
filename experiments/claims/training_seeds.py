"""The records of other training seeds: new splits, classifiers, policies and replays for each.

    python -m experiments.claims.training_seeds
    python -m experiments.claims.training_seeds 'seeds=[1,2]' 'datasets=[vertebral]'

Everything of seed k goes under data/seeds/seed<k> and results/seeds/seed<k>; `python -m experiments.claims` then shows
the spread of the paper's claims, and judges our own. What is already done is not done again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

import cams
from cams.errors import lookup
from data_prep.pipeline.shell import entry_point
from experiments.claims.planned import refuse_unread
from experiments.claims.shape import check_rules
from experiments.runner.configuration import compose_run
from experiments.runner.jobs import ensure_record, say_now
from experiments.runner.places import Places
from experiments.runner.resolve import make_plan

STAGES = ("split", "classifiers", "policies", "bundle")
RAW = Path("data/raw")
JUDGES = "`python -m experiments.claims` reads it"
UNREAD = dict.fromkeys(("equal_cost_points", "interval", "titles", "verdict"), JUDGES) | {
    "seed": "it is that of the shipped records; seeds=[1,2] names others",
}


def experiments_about(claims: list[dict[str, Any]], dataset: str) -> set[str]:
    """Return the experiments that claims about a data set read."""
    names = {
        check.get("experiment", claim["experiment"])
        for claim in claims
        for check in claim["checks"] + claim.get("beside", [])
        if dataset in check.get("datasets", claim["datasets"])
    }
    # The bounds hold for any zoo.
    return names - {"adversarial"}


def wanted_experiments(config: dict[str, Any], seed: int, dataset: str) -> list[str]:
    """Return what must be replayed for one zoo: for the paper's claims, for our own, or for both."""
    names: set[str] = set()
    if seed in config["training_seeds"].get(dataset, []):
        names |= experiments_about(config["claims"], dataset)
    if seed in config["own"]["judged_on"].get(dataset, []):
        names |= experiments_about(config["own"]["claims"], dataset)
    return sorted(names)


def all_seeds(config: dict[str, Any]) -> list[int]:
    """Return every training seed but the shipped one."""
    planned = [*config["training_seeds"].values(), *config["own"]["judged_on"].values()]
    return sorted({seed for seeds in planned for seed in seeds})


def refuse_unplanned(config: dict[str, Any], datasets: list[str]) -> None:
    """Refuse a seed that was asked for and that no claim about these data sets is judged on."""
    for seed in config["seeds"] or []:
        if not any(wanted_experiments(config, seed, dataset) for dataset in datasets):
            raise cams.InputError(
                f"seed {seed} is planned for none of {', '.join(datasets)}, see training_seeds and own.judged_on"
            )


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
            # Where a stage is to take all cores it wants another word than a replay.
            f"n_jobs={n_jobs or -1}",
        )


def repeat(seed: int, dataset: str, experiments: list[str], results: Path, n_jobs: int) -> None:
    """Make the records of one zoo; where they cannot be had without its bundle, train it first."""
    folder = results / "seeds" / f"seed{seed}"
    places = Places(folder / "bundles", folder)
    for name in experiments:
        plan = make_plan(compose_run([f"experiment={name}", f"seed={seed}"]), dataset)
        try:
            ensure_record(plan, places, n_jobs, say_now)
        except cams.InputError:
            if places.bundle(dataset).exists():
                raise
            prepare(seed, dataset, folder, n_jobs)
            ensure_record(plan, places, n_jobs, say_now)


@entry_point("claims")
def main(cfg: DictConfig) -> None:
    config: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True)  # type: ignore[assignment]
    check_rules(config)
    refuse_unread(list(HydraConfig.get().overrides.task), UNREAD, "training")
    config.setdefault("own", {"judged_on": {}, "claims": []})
    for dataset in config["datasets"] or []:
        lookup(config["training_seeds"], dataset, "training seed planned for the data set")
    datasets = config["datasets"] or list(config["training_seeds"])
    refuse_unplanned(config, datasets)
    for seed in config["seeds"] or all_seeds(config):
        for dataset in datasets:
            experiments = wanted_experiments(config, seed, dataset)
            repeat(seed, dataset, experiments, Path(cfg.paths.results), cfg.n_jobs)


if __name__ == "__main__":
    main()
