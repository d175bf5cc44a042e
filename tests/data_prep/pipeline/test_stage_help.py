"""Every stage says how it is used, and where it wrote."""

import importlib
import sys

import numpy as np
import pytest
from hydra.core.global_hydra import GlobalHydra

from data_prep import split
from data_prep.datasets.tabular.table import save_table
from data_prep.pipeline.dataset import Table
from tests.data_prep.conftest import context_for

STAGES = ("all", "fetch", "split", "classifiers", "policies", "sharpness", "labels", "prior", "bundle", "precision")


@pytest.mark.parametrize("stage", STAGES)
def test_the_help_of_a_stage_is_its_own(monkeypatch, capsys, stage):
    monkeypatch.setattr(sys, "argv", [f"{stage}.py", "--help"])
    importlib.import_module(f"data_prep.{stage}").main()
    said = capsys.readouterr().out
    assert f"python -m data_prep.{stage} dataset=" in said.partition("Settings (conf/prep.yaml)")[0]


def test_a_stage_says_where_it_wrote(monkeypatch, capsys, tmp_path):
    work, results = tmp_path / "data", tmp_path / "results"
    features = np.random.default_rng(0).normal(size=(310, 6))
    save_table(Table(features, np.arange(310) % 3, 3), context_for("vertebral", tmp_path))
    monkeypatch.setattr(
        sys, "argv", ["split.py", "dataset=vertebral", f"paths.work={work}", f"paths.results={results}"]
    )
    GlobalHydra.instance().clear()
    # As in a worker of a sweep.
    monkeypatch.delitem(split.run.__globals__, "__spec__")
    split.main()
    assert f" s ({work / 'splits/vertebral.npz'})" in capsys.readouterr().err
    assert (work / "splits/vertebral.npz").exists()
