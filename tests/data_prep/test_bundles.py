"""The bundles in git are what the paper's collections ask for, and context pays in them."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from cams import Bundle

ROOT = Path(__file__).resolve().parents[2]
SHAPES = {"vertebral": (127, 6, 17, 3), "drift": (3060, 10, 11, 6), "covtype": (100_000, 6, 17, 7)}


@pytest.mark.parametrize("dataset", SHAPES)
def test_shape_kinds_and_names(dataset):
    bundle = Bundle.load(ROOT / f"results/bundles/{dataset}.npz")
    assert (bundle.num_rows, bundle.num_models, bundle.num_policies, bundle.num_classes) == SHAPES[dataset]
    kinds = {kind: bundle.policy_kinds.count(kind) for kind in bundle.policy_kinds}
    expected = (
        {"normal": 4, "biased": 4, "malicious": 2, "random": 1}
        if dataset == "drift"
        else {"normal": 6, "malicious": 6, "random": 5}
    )
    assert kinds == expected
    assert len(set(bundle.policy_names)) == bundle.num_policies
    if dataset == "drift":
        assert set(bundle.groups) == set(range(1, 11))


@pytest.mark.parametrize("dataset", SHAPES)
def test_the_best_policy_beats_the_best_classifier_on_held_out_rows(dataset):
    check = json.loads((ROOT / f"results/metrics/{dataset}/bundle.json").read_text())["held_out_check"]
    assert check["met"]
    assert check["gain"] >= 0.05


def test_tabular_bundles_are_small():
    assert sum((ROOT / f"results/bundles/{dataset}.npz").stat().st_size for dataset in SHAPES) < 6e6


def test_sharpness_follows_its_rule():
    """The smallest of the grid whose mean relative loss on held-out rows is within 1 % of the best mean."""
    conf = yaml.safe_load((ROOT / "conf/prep.yaml").read_text())
    losses = [
        json.loads((ROOT / f"results/metrics/{dataset}/sharpness.json").read_text())["relative_loss_held_out"]
        for dataset in conf["sharpness_check"]["chosen_on"]
    ]
    means = {
        sharpness: np.mean([loss[str(sharpness)] for loss in losses]) for sharpness in conf["sharpness_check"]["grid"]
    }
    assert conf["sharpness"] == min(value for value in means if means[value] <= 1.01 * min(means.values()))
