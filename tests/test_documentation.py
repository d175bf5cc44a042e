"""What the documentation shows must run as it stands."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import cams
from cams.learners import Entry
from experiments.claims.page import with_summary

ROOT = Path(__file__).resolve().parents[1]


def python_blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


def test_the_readme_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    for block in python_blocks("README.md"):
        exec(block, scope)
    assert "labels bought" in capsys.readouterr().out
    assert (tmp_path / "state.npz").exists()
    assert (tmp_path / "mine.npz").exists()


def test_the_learner_of_the_guide_plays(monkeypatch):
    scope: dict = {}
    exec(python_blocks("docs/add-a-learner.md")[0], scope)
    monkeypatch.setitem(cams.LEARNERS, "plurality", Entry(scope["Plurality"], constants={"patience": 1.0}))
    rng = np.random.default_rng(0)
    bundle = cams.Bundle(predictions=rng.integers(0, 3, (60, 4)), labels=rng.integers(0, 3, 60), num_classes=3)
    result = cams.replay(bundle, ["plurality", "rs"], horizon=50, budgets=[5, 20], realizations=2, seed=0)
    assert (result.queries <= result.budgets[None, :, None]).all()
    assert (result.queries[0, 1] == 20).any()


@pytest.mark.parametrize("page", ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))])
def test_links_point_at_files_that_exist(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_the_readme_tells_the_ledgers_summary():
    ledger = json.loads((ROOT / "results/claims.json").read_text())
    readme = (ROOT / "README.md").read_text()
    assert "<!-- claims -->" in readme
    assert with_summary(readme, ledger["summary"]) == readme


def test_make_targets_named_in_the_readme_exist():
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    known = {name for line in listed.splitlines() for name in re.split(r" {2,}", line.strip())[0].split()}
    named = set(re.findall(r"`?make ([a-z0-9]+)`?", (ROOT / "README.md").read_text()))
    assert named - known == set()
