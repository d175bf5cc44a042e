"""dvc.yaml says the truth: what its stages run, read and write, and which data sets there are."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from data_prep.pipeline import watched
from data_prep.pipeline.catalogue import catalogue
from data_prep.pipeline.code import reached
from experiments.claims.training_seeds import all_seeds

ROOT = Path(__file__).resolve().parents[1]
GRAPH = yaml.safe_load((ROOT / "dvc.yaml").read_text())
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text())
STAGES = {name: stage for name, stage in GRAPH["stages"].items() if name != "code"}


def entry_module(stage: str) -> str:
    found = re.match(r"python -m (\S+)", STAGES[stage]["cmd"])
    assert found
    name = found[1]
    return f"{name}.__main__" if (ROOT / name.replace(".", "/")).is_dir() else name


def test_every_stage_watches_its_own_code():
    hashes = watched.watched(PARAMS["datasets"])
    assert set(hashes) == set(STAGES)
    for name, stage in STAGES.items():
        key = f"{name}.${{item.dataset}}" if isinstance(hashes[name], dict) else name
        assert {"results/code.json": [key]} in stage["params"]


@pytest.mark.parametrize("stage", watched.EXPERIMENTS)
def test_the_door_of_a_stage_leads_to_the_code_it_watches(stage):
    assert set(watched.EXPERIMENTS[stage]) & set(reached(entry_module(stage)))


def test_the_hash_of_a_stage_follows_what_it_runs(monkeypatch):
    before = watched.watched(["drift"])
    module_hash = watched.code.module_hash
    monkeypatch.setattr(
        watched.code, "module_hash", lambda name: "other" if name == "cams.engine.kernel" else module_hash(name)
    )
    after = watched.watched(["drift"])
    changed = {stage for stage in before if before[stage] != after[stage]}
    assert {"replay", "seeds"} <= changed
    assert not changed & {"fetch", "split", "classifiers", "policies"}


def test_templates_and_styles_count():
    assert "page.html" in {path.name for path in watched.beside("experiments.report.render")}
    assert "paper.mplstyle" in {path.name for path in watched.beside("cams.plotting.draw")}


def test_every_data_set_is_in_the_graph_unless_it_is_brought_by_hand():
    assert PARAMS["datasets"] == [name for name, entry in catalogue().items() if not entry.by_hand]
    targets = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert " ".join(PARAMS["datasets"]) in targets


def test_the_seeds_stage_knows_its_seeds_and_the_raw_data_it_trains_on():
    claims = yaml.safe_load((ROOT / "conf/claims.yaml").read_text())
    own = yaml.safe_load((ROOT / "conf/own_claims.yaml").read_text())
    assert PARAMS["other_seeds"] == all_seeds({**claims, "own": own})
    raw = [name.removeprefix("data/raw/") for name in STAGES["seeds"]["deps"] if name.startswith("data/raw/")]
    assert set(raw) == set(claims["training_seeds"]) | set(own["judged_on"])


def test_a_stage_read_what_another_made():
    # Where data are missing DVC has only these hashes to tell by that nothing changed.
    lock = yaml.safe_load((ROOT / "dvc.lock").read_text())["stages"]
    made = {out["path"]: out["md5"] for stage in lock.values() for out in stage["outs"]}
    read = {(name, dep["path"]): dep.get("md5") for name, stage in lock.items() for dep in stage.get("deps", [])}
    assert {key: md5 for key, md5 in read.items() if key[1] in made and md5 != made[key[1]]} == {}


def test_the_picture_of_the_graph_is_the_graph():
    dot = subprocess.run(
        [sys.executable, "-m", "dvc", "dag", "--dot"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    tool = runpy.run_path(str(ROOT / ".ci/dag"))
    assert tool["mermaid"](tool["folded"](dot)) in (ROOT / "docs/architecture.md").read_text()
