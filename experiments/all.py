"""Everything: every record that a bundle allows, every figure, every table, and the verdicts on the claims if asked.

    python -m experiments.all
    python -m experiments.all 'steps=[replay,figures,tables,claims]'
    python -m experiments.all 'steps=[figures,tables]' 'experiments=[main,rcl]' 'datasets=[drift]'

A data set without a bundle is drawn from its records if they are there, and left out with a message if not. A damaged
bundle, or a damaged record whose bundle is not here, ends in exit code 2 after all others are made.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra import compose
from omegaconf import DictConfig, OmegaConf

import cams
from cams.errors import nearest
from cams.files import require_writable
from data_prep.pipeline.catalogue import catalogue
from data_prep.pipeline.cluster import connected
from data_prep.pipeline.schema import check
from data_prep.pipeline.shell import entry_point
from experiments.claims.renewal import renew_ledger
from experiments.figures.everything import draw_all
from experiments.figures.kinds import check_panels
from experiments.runner.configuration import compose_experiment, experiment_names
from experiments.runner.jobs import NoBundle, needs_computing, say_now
from experiments.runner.making import write_records
from experiments.runner.places import Places, require_own_results
from experiments.runner.plan import Plan
from experiments.runner.resolve import check_run, make_plan
from experiments.runner.shape import ALL
from experiments.tables.write import write_tables


def selected_experiments(wanted: Sequence[str] | None, scale: str) -> dict[str, DictConfig]:
    """Return the composed configuration of every wanted experiment (None: of all), checked before anything is done."""
    known = experiment_names()
    _refuse_none_at_all("experiments", wanted)
    for name in wanted or []:
        if name not in known:
            raise cams.InputError(f"unknown experiment '{name}'{nearest(name, known)}")
    experiments = {name: compose_experiment(name, scale) for name in wanted or known}
    for experiment in experiments.values():
        check_run(experiment)
        check_panels(experiment.experiment)
    return experiments


def _refuse_none_at_all(what: str, wanted: Sequence[str] | None) -> None:
    if wanted is not None and not wanted:
        raise cams.InputError(f"{what} is [], expected names, or null for all")


def check_datasets(wanted: Sequence[str] | None, experiments: dict[str, DictConfig]) -> None:
    _refuse_none_at_all("datasets", wanted)
    known = sorted({dataset for experiment in experiments.values() for dataset in experiment.experiment.datasets})
    for dataset in wanted or []:
        if dataset not in known and dataset in catalogue():
            raise cams.InputError(
                f"no experiment here lists '{dataset}' among its datasets, as a file of conf/experiment may; "
                f"`python -m experiments.run experiment=main dataset={dataset}` draws it alone"
            )
        if dataset not in known:
            raise cams.InputError(
                f"no experiment here is about '{dataset}', only {', '.join(known)}{nearest(dataset, known)}"
            )


def selected_plans(experiments: dict[str, DictConfig], datasets: Sequence[str] | None) -> list[Plan]:
    """Return the plans of experiments on data sets (None: on all), a data set after the other, short streams first."""
    plans = [
        make_plan(experiment, dataset)
        for experiment in experiments.values()
        for dataset in experiment.experiment.datasets
        if datasets is None or dataset in datasets
    ]
    longest = {plan.dataset: plan.horizon for plan in sorted(plans, key=lambda plan: plan.horizon)}
    return sorted(plans, key=lambda plan: (longest[plan.dataset], plan.dataset, plan.experiment))


def replay_all(cfg: DictConfig, plans: Sequence[Plan], places: Places) -> None:
    """Make every record, all in one queue; one that cannot be made is named at the end, when the others are there."""
    failed: dict[str, Exception] = {}
    wanted = [plan for plan in plans if _is_wanted(plan, places, cfg.fresh, failed)]
    for made in write_records(wanted, places, cfg.n_jobs, say_now):
        if made.error:
            failed[f"{made.plan.experiment} {made.plan.dataset}"] = made.error
    for name, reason in failed.items():
        if not isinstance(reason, cams.InputError):
            raise reason
        raise cams.InputError(f"not every record could be made, and {name} is the first of {len(failed)}: {reason}")


def _is_wanted(plan: Plan, places: Places, fresh: bool, failed: dict[str, Exception]) -> bool:
    """Tell whether a record must be computed; one that cannot be is said, and noted as failed unless it never was."""
    name = f"{plan.experiment} {plan.dataset}"
    try:
        return needs_computing(plan, places, say_now, fresh=fresh)
    except NoBundle as error:
        say_now(f"{name}: left out, {error}")
    except cams.InputError as error:
        say_now(f"{name}: failed, {error}")
        failed[name] = error
    return False


def results_root(cfg: DictConfig) -> Path:
    """Return where results go; a reduced scale has a place of its own, as in the runner."""
    results = Path(cfg.paths.results)
    return results if cfg.scale.name == "laptop" else results / "variants" / f"scale={cfg.scale.name}"


def refuse_unread_limits(cfg: DictConfig, experiments: dict[str, DictConfig]) -> None:
    """Refuse other limits than those of the scale's file, from which experiments are composed."""
    if any(experiment.scale != cfg.scale for experiment in experiments.values()):
        raise cams.InputError(
            f"scale.limits is {cfg.scale.limits}, and only experiments.run reads others than those of "
            f"conf/scale/{cfg.scale.name}.yaml"
        )


def run_all(cfg: DictConfig) -> None:
    check(cfg, ALL, "")
    require_own_results(cfg.paths)
    places = Places(Path(cfg.paths.bundles), results_root(cfg))
    experiments = selected_experiments(cfg.experiments, cfg.scale.name)
    refuse_unread_limits(cfg, experiments)
    check_datasets(cfg.datasets, experiments)
    require_writable(places.results)
    plans = selected_plans(experiments, cfg.datasets)
    start = time.perf_counter()
    if "replay" in cfg.steps:
        with connected(cfg.cluster):
            replay_all(cfg, plans, places)
        say_now(f"records done after {time.perf_counter() - start:.0f} s")
    if "figures" in cfg.steps:
        draw_all(experiments, plans, places, say_now, cfg.n_jobs)
    if "tables" in cfg.steps:
        write_tables(places.results)
    if "claims" in cfg.steps:
        rules: dict[str, Any] = OmegaConf.to_container(compose("claims"), resolve=True)  # type: ignore[assignment]
        renew_ledger(rules, places.results)
    say_now(f"all done after {time.perf_counter() - start:.0f} s")


@entry_point("all")
def main(cfg: DictConfig) -> None:
    run_all(cfg)


if __name__ == "__main__":
    main()
