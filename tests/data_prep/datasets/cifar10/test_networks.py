"""Every network that the configuration declares builds, runs and takes one training step, at every scale."""

from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from data_prep.datasets.cifar10.networks import BUILDERS, build_network
from data_prep.datasets.cifar10.policies import RewardNetwork
from data_prep.datasets.cifar10.training import (
    CLASSES,
    Images,
    RewardObjective,
    Schedule,
    Setup,
    outputs_of,
    train,
)
from data_prep.pipeline.context import settings_at_scale
from data_prep.training.seeding import seeded

CONF = OmegaConf.load(Path(__file__).parents[4] / "conf/dataset/cifar10.yaml")
MEAN, STD = (0.49, 0.48, 0.45), (0.25, 0.24, 0.26)


def declared(scale, part):
    networks = OmegaConf.to_container(settings_at_scale(CONF, scale)[part].networks)
    return [{"family": family, **network} for family, listed in networks.items() for network in listed]


def setup_of_one_step(size=32):
    schedule = Schedule(
        epochs=1, learning_rate=0.01, batch_size=2, momentum=0.9, weight_decay=0.0, snapshots=(1,), max_steps=1
    )
    return Setup(schedule, Images(MEAN, STD, size=size, pad=4, augment_group=2), device="cpu", threads=1)


def pixels(count):
    return np.random.default_rng(0).integers(0, 256, (count, 3, 32, 32), dtype=np.uint8)


@pytest.mark.parametrize("network", declared("laptop", "classifiers") + declared("laptop", "policies"), ids=str)
def test_narrow_networks_are_small_and_give_the_outputs_asked_for(network):
    built = build_network(network, 10).eval()
    assert built(torch.zeros(2, 3, 32, 32)).shape == (2, 10)
    assert sum(parameter.numel() for parameter in built.parameters()) < 250_000


def test_every_family_of_the_paper_is_declared():
    families = {network["family"] for network in declared("laptop", "classifiers")}
    assert families == {"vgg", "resnet", "densenet", "googlenet"}
    assert {n["family"] for n in declared("laptop", "policies")} == {"efficientnet", "mobilenet", "regnet", "resnet"}


def test_an_unknown_family_is_named():
    with pytest.raises(ValueError, match="'lenet' is unknown"):
        build_network({"family": "lenet"}, 10)
    assert "lenet" not in BUILDERS


# One model per family: the larger sisters differ only in depth.
@pytest.mark.parametrize("model", ["vgg11_bn", "resnet18", "densenet121", "googlenet"])
def test_a_full_classifier_of_the_paper_scale_takes_a_step(model):
    family = next(n["family"] for n in declared("paper", "classifiers") if n["model"] == model)
    network, setup = build_network({"family": family, "model": model}, 10), setup_of_one_step(size=64)
    with seeded(0, threads=1):
        snapshots = train(network, pixels(2), np.array([3, 5]), CLASSES, setup, model)
    assert set(snapshots) == {1}
    assert outputs_of(network, pixels(2), setup).shape == (2, 10)


@pytest.mark.parametrize("network", declared("paper", "policies"), ids=str)
def test_a_full_policy_of_the_paper_scale_takes_a_step(network):
    policy = RewardNetwork(network, num_features=6, num_models=5, num_classes=2, levels=15)
    setup, objective = setup_of_one_step(size=64), RewardObjective(num_models=5, reward_weight=1.0)
    with seeded(0, threads=1):
        train(policy, pixels(2), np.eye(2, 7, dtype=np.float32), objective, setup, network["model"])
    assert outputs_of(policy, pixels(2), setup).shape == (2, 7)
