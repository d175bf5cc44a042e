"""Composing conf/run.yaml: an experiment on a data set, with every learner's constants."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf, open_dict

import cams
from cams.files import visible
from data_prep.pipeline.catalogue import DATASET, catalogue, read_mapping
from data_prep.pipeline.schema import Complete, check
from data_prep.pipeline.shell import CONF


def register_learners() -> None:
    """Offer every learner's constants as `learner.<name>.<constant>`, with the library's own defaults."""
    constants = {name: dict(entry.constants) for name, entry in cams.LEARNERS.items()}
    ConfigStore.instance().store(group="learner", name="all", node=constants)


@cache
def register_streams() -> None:
    """Offer the stream of every data set, by name, as conf/dataset has it."""
    for name, entry in catalogue().items():
        check(entry.title, str, f"title of conf/dataset/{name}.yaml")
        check(entry.stream, Complete(DATASET["stream"]), f"stream of conf/dataset/{name}.yaml")
    streams = {name: {"title": entry.title, **entry.stream} for name, entry in catalogue().items()}
    ConfigStore.instance().store(name="streams", node={"streams": streams})


def experiment_names() -> list[str]:
    """Return the id of every experiment, one per file of conf/experiment."""
    return [path.stem for path in visible(CONF / "experiment", "*.yaml")]


def compose_run(overrides: Sequence[str] = ()) -> DictConfig:
    """Compose conf/run.yaml outside the runner, with overrides as on its command line."""
    register_streams()
    if GlobalHydra.instance().is_initialized():
        return compose("run", overrides=list(overrides))
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("run", overrides=list(overrides))


def require_own_name(experiment: str, own: str = "") -> None:
    """Refuse an experiment under another one's name: its records would pass for those of that one.

    A file of somebody's `own`, from --config-dir, is called as they like, but not like one of conf/experiment.
    """
    path = CONF / "experiment" / f"{experiment}.yaml"
    if not path.exists():
        if own in experiment_names():
            raise cams.InputError(f"experiment {experiment} has the name '{own}', which conf/experiment/{own}.yaml has")
    elif (name := read_mapping(path).get("name")) != experiment:
        raise cams.InputError(f"{path} has the name '{name}', expected '{experiment}', as the file is called")


def compose_experiment(name: str, scale: str = "laptop", seed: int = 0) -> DictConfig:
    """Compose conf/run.yaml with an experiment as `compose_run` would, but faster: the rest is composed once."""
    require_own_name(name)
    cfg = _without_experiment(scale).copy()
    file = OmegaConf.load(CONF / "experiment" / f"{name}.yaml")
    with open_dict(cfg):
        cfg.experiment = OmegaConf.merge(cfg.experiment, file)
    cfg.seed = seed
    return cfg


@cache
def _without_experiment(scale: str) -> DictConfig:
    return compose_run(["~experiment", f"scale={scale}"])


register_learners()
