"""The runner: compose an experiment, replay it, write its record, draw its figure.

    python -m experiments.run experiment=main dataset=drift
    python -m experiments.run experiment=main dataset=drift horizon=500 realizations=5 learner.cams.floor=0.1
    python -m experiments.run experiment=main bundle=my.npz horizon=1000 budget=200 realizations=50
    python -m experiments.run -m experiment=main,rcl dataset=drift,hiv seed=0,1 hydra/launcher=joblib

The record of the shipped configuration goes to results/records/<experiment>/<dataset>/seed0.parquet. Overridden
values, other seeds and data sets that the experiment does not list go beside it, under results/variants/<overrides>/,
so that trying something out spoils nothing.
"""

from __future__ import annotations

from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from cams.files import require_writable
from data_prep.pipeline.shell import entry_point
from data_prep.pipeline.variants import variant_folder, variant_name
from experiments.figures.compose import draw_composed, draw_dataset, figure_stem
from experiments.figures.kinds import check_panels
from experiments.runner.configuration import compose_run, register_streams, require_own_name
from experiments.runner.jobs import NoBundle, ensure_record, say_now
from experiments.runner.places import Places, require_own_results
from experiments.runner.resolve import check_run, make_plan
from experiments.runner.sweep import recording_failures

# Overrides that say what to run or how fast, not what the result is.
NEUTRAL = ("experiment", "dataset", "n_jobs", "fresh", "paths.results", "paths.bundles", "seed=0")


def places_for(cfg: DictConfig, overrides: list[str]) -> Places:
    """Return where bundles are and results go: what no experiment file lists has a place of its own."""
    listed = not cfg.experiment.needs_bundle or cfg.experiment.compose or cfg.dataset.name in cfg.experiment.datasets
    variant = variant_name(overrides, NEUTRAL if listed or cfg.bundle else [n for n in NEUTRAL if n != "dataset"])
    return Places(
        Path(cfg.paths.bundles),
        variant_folder(Path(cfg.paths.results), variant),
        Path(cfg.bundle) if cfg.bundle else None,
    )


def run(cfg: DictConfig) -> None:
    check_run(cfg)
    require_own_results(cfg.paths)
    require_own_name(HydraConfig.get().runtime.choices["experiment"], cfg.experiment.name)
    check_panels(cfg.experiment)
    overrides = list(HydraConfig.get().overrides.task)
    places = places_for(cfg, overrides)
    require_writable(places.results)
    if cfg.experiment.compose:
        run_composite(cfg, places, overrides)
        return
    plan = make_plan(cfg)
    ensure_record(plan, places, cfg.n_jobs, say_now, fresh=cfg.fresh)
    for path in draw_dataset(cfg, places.record(plan), figure_stem(places.results, plan.experiment, plan.dataset)):
        say_now(f"{plan.experiment} {plan.dataset}: drew {path}")


def run_composite(cfg: DictConfig, places: Places, overrides: list[str]) -> None:
    """Make the records that a composite figure borrows, as far as their bundles are here, and draw it."""
    kept = [o for o in overrides if o.partition("=")[0] not in ("experiment", "dataset")]
    plans = []
    for entry in cfg.experiment.compose:
        require_own_name(entry.experiment)
        plans.append(make_plan(compose_run([*kept, f"experiment={entry.experiment}"]), entry.dataset))
    for entry, plan in zip(cfg.experiment.compose, plans, strict=True):
        try:
            ensure_record(plan, places, cfg.n_jobs, say_now, fresh=cfg.fresh)
        except NoBundle as error:
            say_now(f"{cfg.experiment.name}: panel '{entry.title}' is left out, {error}")
    for path in draw_composed(cfg, places.results, cfg.seed):
        say_now(f"{cfg.experiment.name}: drew {path}")


# The name of a variant does not say which folder its bundles are from.
@entry_point("run", before=register_streams, places={"paths.results": lambda key: key == "paths.bundles"})
def main(cfg: DictConfig) -> None:
    if HydraConfig.get().mode == RunMode.MULTIRUN:
        with recording_failures():
            run(cfg)
    else:
        run(cfg)


if __name__ == "__main__":
    main()
