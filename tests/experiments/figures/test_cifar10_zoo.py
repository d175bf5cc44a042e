"""The contact sheet: which images it picks, what it says of them, and that a missing file is one sentence."""

import numpy as np
import pytest
from omegaconf import OmegaConf

import cams
from experiments.figures.cifar10_zoo import chosen_rows, contact_sheet, families_of, verdicts

NAMES = ["vgg_00_s1", "vgg_01_s1", "resnet_00_s1", "resnet_01_s1"]


def small_bundle(num_rows=12):
    labels = np.arange(num_rows) % 2
    predictions = np.repeat(labels[:, None], 4, axis=1)
    for row in range(num_rows):
        predictions[row, : row // 2 % 4] ^= 1  # images get harder in a known way
    return cams.Bundle(
        predictions=predictions,
        labels=labels,
        advice=np.zeros((num_rows, 0, 4)),
        num_classes=2,
        model_names=NAMES,
        policy_names=[],
        policy_kinds=[],
    )


def test_families_come_from_names():
    families = families_of(NAMES)
    assert {family: columns.tolist() for family, columns in families.items()} == {"vgg": [0, 1], "resnet": [2, 3]}


def test_chosen_images_go_from_easy_to_hard():
    bundle = small_bundle()
    rows = chosen_rows(bundle.predictions, bundle.labels, [1.0, 0.5, 0.0])
    right = (bundle.predictions == bundle.labels[:, None]).mean(axis=1)
    assert rows.shape == (2, 3)
    assert (np.diff(right[rows], axis=1) <= 0).all()
    assert (bundle.labels[rows] == [[0], [1]]).all()


def test_verdicts_count_each_family():
    bundle = small_bundle()
    said = verdicts(bundle, np.array([[6]]), ["cat", "dog"])
    assert said["family"].tolist() == ["vgg", "resnet"]
    assert said["share_right"].tolist() == [0.0, 0.5]
    assert said["majority"].iloc[0] == "dog"


def settings(folder):
    return OmegaConf.create(
        {
            "bundle": f"{folder}/bundle.npz",
            "images": f"{folder}/images.npy",
            "split": f"{folder}/split.npz",
            "results": f"{folder}/results",
            "classes": ["cat", "dog"],
            "easier_than": [0.9, 0.1],
        }
    )


def test_the_sheet_is_drawn_after_its_numbers(tmp_path):
    small_bundle().save(tmp_path / "bundle.npz")
    np.save(tmp_path / "images.npy", np.zeros((20, 3, 32, 32), np.uint8))
    np.savez(tmp_path / "split.npz", pool_rows=np.arange(8, 20))
    written = contact_sheet(settings(tmp_path))
    assert [path.suffix for path in written] == [".csv", ".png", ".pdf"]
    assert all(path.stat().st_size > 100 for path in written)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(cams.InputError, match=r"bundle.npz is missing"):
        contact_sheet(settings(tmp_path))
