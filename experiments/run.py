"""The runner: compose an experiment, replay it, write its record, draw its figure.

    python -m experiments.run experiment=main dataset=drift
    python -m experiments.run experiment=main dataset=drift horizon=500 realizations=5 learner.cams.floor=0.1
    python -m experiments.run experiment=main bundle=my.npz horizon=1000 budget=200 realizations=50
    python -m experiments.run -m experiment=main,rcl dataset=drift,hiv seed=0,1 hydra/launcher=joblib

The record of the shipped configuration goes to results/records/<experiment>/<dataset>/seed<k>.parquet. Overridden
values go beside it, under results/variants/<overrides>/, so that trying something out spoils nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

import cams
from data_prep.pipeline.shell import entry_point
from experiments.figures.compose import draw_composed, draw_dataset, figure_stem
from experiments.runner.configuration import compose_run
from experiments.runner.jobs import Places, ensure_record, say_now
from experiments.runner.resolve import make_plan
from experiments.runner.sweep import recording_failures

# Overrides that say what to run or how fast, not what the result is.
NEUTRAL = ("experiment", "dataset", "n_jobs", "fresh", "hydra", "paths.results", "paths.bundles")
LONGEST_NAME = 120


def variant_name(overrides: list[str]) -> str:
    """Name what was overridden: `horizon=500,learner.cams.floor=0.1`, or an empty string."""
    kept = sorted(o.lstrip("+~") for o in overrides if o.lstrip("+~").partition("=")[0] not in NEUTRAL)
    kept = [entry for entry in kept if not entry.startswith("hydra")]
    name = ",".join(kept).replace("/", "_").replace(" ", "")
    return name if len(name) <= LONGEST_NAME else hashlib.sha256(name.encode()).hexdigest()[:16]


def places_for(cfg: DictConfig, overrides: list[str]) -> tuple[Places, Path]:
    """Return where records go and where figures go; another seed has its own figures beside the same records."""
    results = Path(cfg.paths.results)
    record_variant = variant_name([o for o in overrides if not o.startswith("seed=")])
    figure_variant = variant_name([o for o in overrides if o != "seed=0"])
    records = results / "variants" / record_variant if record_variant else results
    figures = results / "variants" / figure_variant if figure_variant else results
    return Places(Path(cfg.paths.bundles), records, Path(cfg.bundle) if cfg.bundle else None), figures


def run(cfg: DictConfig) -> None:
    overrides = list(HydraConfig.get().overrides.task)
    places, figures = places_for(cfg, overrides)
    if cfg.experiment.compose:
        run_composite(cfg, places, overrides)
        return
    plan = make_plan(cfg)
    ensure_record(plan, places, cfg.n_jobs, say_now, fresh=cfg.fresh)
    for path in draw_dataset(cfg, places.record(plan), figure_stem(figures, plan.experiment, plan.dataset)):
        say_now(f"{plan.experiment} {plan.dataset}: drew {path}")


def run_composite(cfg: DictConfig, places: Places, overrides: list[str]) -> None:
    """Make the records that a composite figure borrows, as far as their bundles are here, and draw it."""
    kept = [o for o in overrides if o.partition("=")[0] not in ("experiment", "dataset")]
    for entry in cfg.experiment.compose:
        other = compose_run([*kept, f"experiment={entry.experiment}"])
        try:
            ensure_record(make_plan(other, entry.dataset), places, cfg.n_jobs, say_now, fresh=cfg.fresh)
        except cams.InputError as error:
            say_now(f"{cfg.experiment.name}: panel '{entry.title}' is left out, {error}")
    for path in draw_composed(cfg, places.results, cfg.seed):
        say_now(f"{cfg.experiment.name}: drew {path}")


@entry_point("run")
def main(cfg: DictConfig) -> None:
    if HydraConfig.get().mode == RunMode.MULTIRUN:
        with recording_failures():
            run(cfg)
    else:
        run(cfg)


if __name__ == "__main__":
    main()
