"""From a composed configuration to a plan, before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import cams
from cams.checks import distinct
from cams.errors import lookup, nearest
from cams.learners import learner_entry
from data_prep.pipeline.schema import check, shown
from experiments.runner.computations import FIXED, SYNTHETIC
from experiments.runner.plan import DEFAULT_COMPUTE, Case, Learner, Plan
from experiments.runner.shape import OPTIONS, RUN
from experiments.statistics.bands import budget_grid, round_grid


def make_plan(cfg: DictConfig, dataset: str | None = None) -> Plan:
    """Resolve a configuration composed from conf/run.yaml into a plan for one data set."""
    check_run(cfg)
    name = dataset or dataset_name(cfg)
    experiment = cfg.experiment
    stream = _stream(cfg, name)
    horizon = int(stream["horizon"])
    if experiment.compute != DEFAULT_COMPUTE:
        _check_other_computation(cfg, name, horizon)
    budgets = _budgets(cfg, horizon, int(stream["budget"]))
    points = min(int(experiment.trace.points), horizon)
    traced = _trace_budgets(cfg, name, horizon, max(budgets)) if points else []
    return Plan(
        experiment=experiment.name,
        dataset=name,
        seed=int(cfg.seed),
        horizon=horizon,
        realizations=int(stream["realizations"]),
        budgets=tuple(sorted(set(budgets) | set(traced))),
        trace_rounds=tuple(round_grid(horizon, points)) if points else (),
        trace_budgets=tuple(traced),
        learners=_learners(cfg),
        cases=_cases(experiment),
        compute=experiment.compute,
        needs_bundle=bool(experiment.needs_bundle),
        options=_plain(experiment.options),
    )


def check_run(cfg: DictConfig) -> None:
    """Refuse a configuration with a key that means nothing or a value of the wrong kind."""
    check(cfg, RUN, "")
    name = cfg.experiment.name
    if not name or name != Path(name).name:
        raise cams.InputError(f"experiment.name is '{name}', expected a word that a folder can be called")
    check(cfg.experiment.options, OPTIONS[cfg.experiment.compute], "experiment.options")
    for name, pool in cfg.experiment.options.get("pools", {}).items():
        if missing := [key for key in ("gap", "best_rate") if key not in pool]:
            raise cams.InputError(f"experiment.options.pools.{name} lacks the key '{missing[0]}'")
    for pool in cfg.experiment.options.get("compared", []):
        lookup(cfg.experiment.options.pools, pool, "pool to compare learners on, in experiment.options.pools,")
    _refuse_unread_stream(cfg)
    _refuse_unread_bundle(cfg)


def _refuse_unread_stream(cfg: DictConfig) -> None:
    """Refuse another stream than conf/dataset has where nobody would look at it."""
    shipped = cfg.streams.get(cfg.dataset.name, {})
    for key, value in cfg.dataset.get("stream", {}).items():
        if value != shipped.get(key, value):
            raise cams.InputError(f"dataset.stream.{key} is not read here; {key}={value} sets it for a run")


def _refuse_unread_bundle(cfg: DictConfig) -> None:
    """Refuse a bundle, or the lack of one, that a computation or a composed figure would not look at."""
    experiment = cfg.experiment
    own_streams = experiment.compute in SYNTHETIC
    if experiment.needs_bundle == own_streams:
        does = "makes streams of its own" if own_streams else "reads a bundle"
        raise cams.InputError(
            f"experiment.needs_bundle is {str(own_streams).lower()}, and computation {experiment.compute} {does}"
        )
    if cfg.bundle is not None and (own_streams or experiment.compose):
        does = "makes streams of its own" if own_streams else "borrows its panels from several data sets"
        raise cams.InputError(f"bundle is '{cfg.bundle}', which is not read: experiment {experiment.name} {does}")


def _check_other_computation(cfg: DictConfig, dataset: str, horizon: int) -> None:
    """Refuse what a computation other than the usual would not look at, or would find nothing to look at in."""
    experiment, options = cfg.experiment, cfg.experiment.options
    who = f"computation {experiment.compute}"
    for key, value in FIXED.items():
        if experiment[key] != value:
            raise cams.InputError(f"experiment.{key} is {shown(_plain(experiment[key]))}, expected {value} for {who}")
    for key in ("budget", "budgets"):
        if cfg[key] not in (None, horizon, [horizon]):
            raise cams.InputError(f"{key} is {cfg[key]}, and learners of {who} buy as many labels as they want")
    rounds = list(options.get("horizons", []))
    if rounds != sorted(set(rounds)) or rounds[:1] > [horizon]:
        raise cams.InputError(
            f"experiment.options.horizons is {rounds}, expected growing numbers that begin within the horizon {horizon}"
        )
    orders = options.get("orders", {dataset: []})
    if dataset not in orders and "default" not in orders:
        raise cams.InputError(f"experiment.options.orders has no entry for {dataset}, and none called default")
    if "orders" in options and not experiment.trace.points:
        raise cams.InputError(f"experiment.trace.points is 0, expected at least 1 for {who}")


def dataset_name(cfg: DictConfig) -> str:
    """Return the name under which a run is recorded: the bundle given, the streams made, or the data set."""
    if cfg.bundle is not None:
        return Path(cfg.bundle).stem
    if cfg.experiment.needs_bundle:
        return str(cfg.dataset.name)
    if not cfg.experiment.datasets:
        raise cams.InputError(f"experiment.datasets is [], expected a name for the streams of {cfg.experiment.name}")
    return str(cfg.experiment.datasets[0])


def _plain(node: Any) -> Any:
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def _stream(cfg: DictConfig, dataset: str) -> dict[str, Any]:
    """Return horizon, budget and realizations: the table's, then the experiment's, the scale's, the shell's."""
    stream = dict(_plain(cfg.streams.get(dataset, {})))
    stream |= dict(_plain(cfg.experiment.streams.get(dataset, {})))
    given = {key: cfg[key] for key in ("horizon", "budget", "realizations") if cfg[key] is not None}
    missing = [key for key in ("horizon", "budget", "realizations") if key not in stream | given]
    if missing:
        raise cams.InputError(
            f"data set '{dataset}' is not in conf/dataset, so {' and '.join(missing)} must be given"
            f"{nearest(dataset, cfg.streams)}"
        )
    for key, limit in _limits(cfg).items():
        if key in stream:
            stream[key] = min(stream[key], limit)
    stream |= given
    if cfg.budget is not None and cfg.budget > stream["horizon"]:
        raise _too_large(cfg.budget, stream["horizon"])
    stream["budget"] = min(stream["budget"], stream["horizon"])
    return stream


def _limits(cfg: DictConfig) -> dict[str, int]:
    """Return the scale's upper limits; the number of budgets is no property of the stream."""
    return {key: int(limit) for key, limit in cfg.scale.limits.items() if key != "points"}


def _too_large(budget: int, horizon: int) -> cams.InputError:
    return cams.InputError(
        f"budget {budget} is above the horizon {horizon}: a learner buys at most one label per round"
    )


def _budgets(cfg: DictConfig, horizon: int, budget: int) -> list[int]:
    """Return the budgets asked for and no others, or the experiment's grid up to `budget`."""
    if cfg.budgets is not None:
        if not cfg.budgets:
            raise cams.InputError("budgets is [], expected at least one")
        if max(cfg.budgets) > horizon:
            raise _too_large(max(cfg.budgets), horizon)
        return [int(b) for b in cfg.budgets]
    grid = cfg.experiment.budgets
    points = int(cfg.scale.limits.get("points", grid.points))
    return budget_grid(budget, min(points, grid.points), grid.power)


def _trace_budgets(cfg: DictConfig, dataset: str, horizon: int, largest: int) -> list[int]:
    """Return the budgets whose course is recorded; of budgets given by hand no others are played."""
    wanted = cfg.experiment.trace.budgets
    if OmegaConf.is_dict(wanted):
        wanted = wanted.get(dataset, ["budget"])
    traced = {largest if entry == "budget" else min(int(entry), horizon) for entry in wanted}
    if cfg.budgets is not None:
        traced = traced & set(cfg.budgets) or {largest}
    return sorted(traced)


def _learners(cfg: DictConfig) -> tuple[Learner, ...]:
    learners = tuple(_learner(cfg, entry) for entry in cfg.experiment.learners)
    if not learners:
        raise cams.InputError("experiment.learners is [], expected at least one")
    distinct("experiment.learners", [learner.label for learner in learners])
    return learners


def _learner(cfg: DictConfig, entry: Any) -> Learner:
    given = {"name": entry} if isinstance(entry, str) else dict(_plain(entry))
    if "name" not in given:
        raise cams.InputError(f"experiment.learners has an entry without a name: {given}")
    name, settings = str(given["name"]), dict(given)
    label = settings.pop("label", name)
    check(label, str, f"label of {name} in experiment.learners")
    settings.pop("name", None)
    learner_entry(name, settings)
    return Learner(name, label, dict(_plain(cfg.learner.get(name, {}))) | settings)


def _cases(experiment: DictConfig) -> tuple[Case, ...]:
    common = {key: experiment[key] for key in ("policies", "regularize", "scaled")}
    cases = tuple(_case(common | dict(_plain(case))) for case in experiment.cases or [{}])
    distinct("experiment.cases", [case.label for case in cases])
    return cases


def _case(values: dict[str, Any]) -> Case:
    policies = values["policies"]
    values["policies"] = policies if isinstance(policies, str) else tuple(policies)
    return Case(**values)
