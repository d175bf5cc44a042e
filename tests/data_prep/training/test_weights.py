"""Weights come back as they were saved, and damaged ones are refused by name."""

import pickle

import pytest
import torch

from cams import InputError
from data_prep.training.weights import load_weights


def test_weights_come_back(tmp_path):
    torch.save({1: {"bias": torch.ones(2)}}, tmp_path / "kept.pt")
    assert load_weights(tmp_path / "kept.pt")[1]["bias"].tolist() == [1, 1]


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[:-50], lambda _: b"", lambda _: b"cut", lambda _: pickle.dumps(print, 2)]
)
def test_damaged_weights_are_refused_by_name(damage, tmp_path):
    path = tmp_path / "kept.pt"
    torch.save({"bias": torch.ones(2)}, path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=r"kept\.pt holds no readable weights; delete it, and the stage makes it anew"):
        load_weights(path)
