"""torchvision must import beside a CPU torch, and the shim must not stand in the way of a matching build."""

import subprocess
import sys

import torch

from data_prep.training.torchvision_shim import declare_missing_operators, extension_loads, models, transforms


def test_models_and_transforms_work_through_the_shim():
    network = models.resnet18(num_classes=3).eval()
    batch = transforms.RandomCrop(32, padding=4)(torch.zeros(2, 3, 32, 32, dtype=torch.uint8))
    with torch.inference_mode():
        assert network(batch.float()).shape == (2, 3)


def test_declaring_again_changes_nothing():
    declare_missing_operators()
    declare_missing_operators()
    assert hasattr(torch.ops.torchvision, "nms")


def test_a_fresh_interpreter_needs_the_shim_exactly_where_the_extension_does_not_load():
    plain = subprocess.run([sys.executable, "-c", "import torchvision"], capture_output=True, text=True, check=False)
    assert (plain.returncode == 0) == extension_loads()
    if not extension_loads():
        assert "torchvision::nms does not exist" in plain.stderr
