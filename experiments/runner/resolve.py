"""From a composed configuration to a plan, before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import cams
from cams.errors import nearest
from experiments.runner.plan import Case, Learner, Plan
from experiments.statistics.bands import budget_grid, round_grid


def make_plan(cfg: DictConfig, dataset: str | None = None) -> Plan:
    """Resolve a configuration composed from conf/run.yaml into a plan for one data set."""
    name = dataset or dataset_name(cfg)
    experiment = cfg.experiment
    stream = _stream(cfg, name)
    horizon, budget = int(stream["horizon"]), int(stream["budget"])
    budgets = _budgets(cfg, horizon, budget)
    traced = tuple(sorted({min(int(b), horizon) for b in _trace_budgets(experiment, name, budget)}))
    points = min(int(experiment.trace.points), horizon)
    return Plan(
        experiment=experiment.name,
        dataset=name,
        seed=int(cfg.seed),
        horizon=horizon,
        realizations=int(stream["realizations"]),
        budgets=tuple(sorted(set(budgets) | set(traced))),
        trace_rounds=tuple(round_grid(horizon, points)) if points else (),
        trace_budgets=traced if points else (),
        learners=tuple(_learner(cfg, entry) for entry in experiment.learners),
        cases=_cases(experiment),
        compute=experiment.compute,
        needs_bundle=bool(experiment.needs_bundle),
        options=_plain(experiment.options),
    )


def dataset_name(cfg: DictConfig) -> str:
    """Return the name under which a run is recorded: the bundle given, the streams made, or the data set."""
    if cfg.bundle is not None:
        return Path(cfg.bundle).stem
    return str(cfg.dataset.name if cfg.experiment.needs_bundle else cfg.experiment.datasets[0])


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
    for key in ("horizon", "budget", "realizations"):
        if int(stream[key]) < 1:
            raise cams.InputError(f"{key} is {stream[key]}, expected at least 1")
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
    if cfg.budgets is not None:
        budgets = [int(b) for b in cfg.budgets]
        if not budgets or min(budgets) < 1:
            raise cams.InputError(f"budgets is {budgets}, expected one or more positive numbers")
        if max(budgets) > horizon:
            raise _too_large(max(budgets), horizon)
        return budgets
    grid = cfg.experiment.budgets
    points = int(cfg.scale.limits.get("points", grid.points))
    return budget_grid(budget, min(points, grid.points), grid.power)


def _trace_budgets(experiment: DictConfig, dataset: str, budget: int) -> list[int]:
    """`trace.budgets` is a list, or one such list per data set; `budget` in it stands for the largest."""
    wanted = experiment.trace.budgets
    if OmegaConf.is_dict(wanted):
        wanted = wanted.get(dataset, ["budget"])
    return [budget if entry == "budget" else int(entry) for entry in wanted]


def _learner(cfg: DictConfig, entry: Any) -> Learner:
    given = {"name": entry} if isinstance(entry, str) else dict(_plain(entry))
    name = given.pop("name")
    if name not in cams.LEARNERS:
        raise cams.InputError(f"unknown learner '{name}'{nearest(name, cams.LEARNERS)}")
    label = given.pop("label", name)
    return Learner(name, label, dict(_plain(cfg.learner.get(name, {}))) | given)


def _cases(experiment: DictConfig) -> tuple[Case, ...]:
    common = {key: experiment[key] for key in ("policies", "regularize", "scaled")}
    return tuple(_case(common | dict(_plain(case))) for case in experiment.cases or [{}])


def _case(values: dict[str, Any]) -> Case:
    policies = values["policies"]
    values["policies"] = policies if isinstance(policies, str) else tuple(policies)
    return Case(**values)
