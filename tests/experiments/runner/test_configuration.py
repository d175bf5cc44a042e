"""Composing an experiment the fast way gives what Hydra gives."""

from __future__ import annotations

import pytest
from omegaconf import OmegaConf

from experiments.runner.configuration import compose_experiment, compose_run, experiment_names


@pytest.mark.parametrize("name", experiment_names())
def test_an_experiment_is_composed_as_hydra_does(name: str) -> None:
    fast, slow = compose_experiment(name), compose_run([f"experiment={name}"])
    assert OmegaConf.to_container(fast, resolve=True) == OmegaConf.to_container(slow, resolve=True)


def test_scale_and_seed() -> None:
    slow = compose_run(["experiment=rcl", "scale=smoke", "seed=3"])
    assert compose_experiment("rcl", "smoke", 3) == slow


def test_composing_leaves_what_is_shared_alone() -> None:
    compose_experiment("main").experiment.learners = []
    assert compose_experiment("main") == compose_run(["experiment=main"])
