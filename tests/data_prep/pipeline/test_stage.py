"""The entry points: bad input is one sentence and code 2; the shipped configuration declares the paper's counts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from data_prep.pipeline.catalogue import catalogue
from tests.data_prep.conftest import context_for

ROOT = Path(__file__).resolve().parents[3]
# classifiers, policies, test pool: the paper's collections.
COUNTS = {"vertebral": (6, 17, 127), "drift": (10, 11, 3060), "covtype": (6, 17, 100_000)}


def test_no_source_is_one_sentence_and_code_2(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "CAMS_DATA_MIRROR"}
    command = [sys.executable, "-m", "data_prep.fetch", "dataset=drift", f"paths.work={tmp_path}"]
    # A proxy that refuses every connection stands for a machine without network.
    environment |= {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "batch1.dat.gz" in ended.stderr
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize("dataset", COUNTS)
@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_shipped_settings_have_the_papers_counts(dataset, scale, tmp_path):
    settings = context_for(dataset, tmp_path, f"scale={scale}").settings
    classifiers, policies = settings.classifiers.members, settings.policies
    count = len(policies.members) + len(policies.malicious) + policies.random
    assert (len(classifiers), count, settings.split.pool) == COUNTS[dataset]
    assert len({member.name for member in classifiers}) == len(classifiers)


@pytest.mark.parametrize("dataset", catalogue())
def test_every_data_set_has_all_scales_and_sections(dataset):
    settings = yaml.safe_load((ROOT / f"conf/dataset/{dataset}.yaml").read_text())
    assert settings["name"] == dataset
    assert {"split", "classifiers", "policies"} <= set(settings["zoo"])
    assert {"horizon", "budget", "realizations"} == set(settings["stream"])
    assert {"smoke", "laptop", "paper"} <= set(settings["scales"])


def test_randomness_is_named_not_counted(tmp_path):
    context = context_for("drift", tmp_path)
    first = context.rng("policy", 3).random()
    assert first == context.rng("policy", 3).random()
    other_data_set, other_seed = context_for("vertebral", tmp_path), context_for("drift", tmp_path, "seed=1")
    others = [
        context.rng("policy", 4),
        context.rng("classifier", 3),
        other_data_set.rng("policy", 3),
        other_seed.rng("policy", 3),
    ]
    assert first not in [rng.random() for rng in others]


def test_an_unknown_scale_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no scale 'huge'"):
        context_for("drift", tmp_path, "scale.name=huge")
