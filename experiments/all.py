"""Everything: every record that a bundle allows, every figure, every table.

    python -m experiments.all
    python -m experiments.all 'steps=[figures,tables]' 'experiments=[main,rcl]' 'datasets=[drift]'

A data set without a bundle is drawn from its records if they are there, and left out with a message if not.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

from joblib import Parallel, delayed
from omegaconf import DictConfig

import cams
from cams.errors import nearest
from data_prep.pipeline.shell import entry_point
from experiments.figures.compose import draw_composed, draw_dataset, figure_stem
from experiments.records.store import read_facts, record_path
from experiments.runner.configuration import compose_run, experiment_names
from experiments.runner.jobs import Places, ensure_record, say_now
from experiments.runner.plan import Plan
from experiments.runner.resolve import make_plan
from experiments.tables.write import write_tables

STEPS = ("replay", "figures", "tables")


def selected_experiments(cfg: DictConfig) -> dict[str, DictConfig]:
    """Return the composed configuration of every wanted experiment."""
    known = experiment_names()
    wanted = list(cfg.experiments or known)
    for name in wanted:
        if name not in known:
            raise cams.InputError(f"unknown experiment '{name}'{nearest(name, known)}")
    return {name: compose_run([f"experiment={name}", f"scale={cfg.scale.name}"]) for name in wanted}


def replay_all(cfg: DictConfig, experiments: dict[str, DictConfig], places: Places) -> None:
    """Make every record, one data set after the other so that each bundle is loaded once."""
    plans = [
        make_plan(experiment, dataset)
        for experiment in experiments.values()
        for dataset in experiment.experiment.datasets
        if cfg.datasets is None or dataset in cfg.datasets
    ]
    plans.sort(key=_cheapest_data_set_first)
    for number, plan in enumerate(plans, start=1):
        prefix = f"[{number:2d}/{len(plans)}] "
        say = partial(_say_with, prefix)
        try:
            ensure_record(plan, places, cfg.n_jobs, say, fresh=cfg.fresh)
        except cams.InputError as error:
            say_now(f"{prefix}{plan.experiment} {plan.dataset}: left out, {error}")


def _say_with(prefix: str, sentence: str) -> None:
    say_now(prefix + sentence)


def _cheapest_data_set_first(plan: Plan) -> tuple[int, str, str]:
    return plan.horizon // 20_000, plan.dataset, plan.experiment


def draw_all(cfg: DictConfig, experiments: dict[str, DictConfig], results: Path) -> None:
    """Draw the panels of every data set and the composed figures, several at a time."""
    tasks = []
    for name, experiment in experiments.items():
        for dataset in experiment.experiment.datasets:
            path = record_path(results, name, dataset, experiment.seed)
            wanted = cfg.datasets is None or dataset in cfg.datasets
            if wanted and read_facts(path):
                tasks.append(delayed(draw_dataset)(experiment, path, figure_stem(results, name, dataset)))
        tasks.append(delayed(draw_composed)(experiment, results, experiment.seed))
    workers = cfg.n_jobs or os.cpu_count()
    say_now(f"drawing {len(tasks)} figures with {workers} workers ...")
    drawn = Parallel(n_jobs=workers, batch_size=4)(tasks)
    say_now(f"drew {sum(bool(paths) for paths in drawn)} figures under {results / 'figures'}")


def results_root(cfg: DictConfig) -> Path:
    """Return where results go; a reduced scale has a place of its own, as in the runner."""
    results = Path(cfg.paths.results)
    return results if cfg.scale.name == "laptop" else results / "variants" / f"scale={cfg.scale.name}"


def run_all(cfg: DictConfig) -> None:
    for step in cfg.steps:
        if step not in STEPS:
            raise cams.InputError(f"unknown step '{step}', expected one of {', '.join(STEPS)}{nearest(step, STEPS)}")
    places = Places(Path(cfg.paths.bundles), results_root(cfg))
    experiments = selected_experiments(cfg)
    known = sorted({dataset for experiment in experiments.values() for dataset in experiment.experiment.datasets})
    for dataset in cfg.datasets or []:
        if dataset not in known:
            raise cams.InputError(
                f"no experiment here is about '{dataset}', only {', '.join(known)}{nearest(dataset, known)}"
            )
    start = time.perf_counter()
    if "replay" in cfg.steps:
        replay_all(cfg, experiments, places)
        say_now(f"records done after {time.perf_counter() - start:.0f} s")
    if "figures" in cfg.steps:
        draw_all(cfg, experiments, places.results)
    if "tables" in cfg.steps:
        write_tables(places.results)
    say_now(f"all done after {time.perf_counter() - start:.0f} s")


@entry_point("all")
def main(cfg: DictConfig) -> None:
    run_all(cfg)


if __name__ == "__main__":
    main()
