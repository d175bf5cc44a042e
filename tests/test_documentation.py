"""What the documentation shows must run as it stands."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

import cams
from cams.learners import Entry
from cams.shell import main as cams_command
from data_prep.pipeline.shell import CONF
from experiments.claims.page import with_summary
from experiments.runner.configuration import register_streams

ROOT = Path(__file__).resolve().parents[1]


def blocks(page: str, *kinds: str) -> list[str]:
    """The blocks of code on a page that are marked as one of these kinds."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    return [code for kind, code in found if kind in kinds]


def python_blocks(page: str) -> list[str]:
    return blocks(page, "python")


def commands(page: str, program: str) -> list[list[str]]:
    """What a page has its reader type that begins with this program, as lists of arguments."""
    lines = "".join(blocks(page, "bash", "")).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith(f"{program} ")]


# Guides that are followed by tests of their own; a statistic's excerpt is no whole program.
FOLLOWED = {"docs/add-a-learner.md", "docs/add-a-data-set.md", "docs/add-a-claim.md"}
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))]


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page) and page not in FOLLOWED])
def test_the_examples_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    for block in python_blocks(page):
        exec(block, scope)
    assert capsys.readouterr().out
    for _, *arguments in commands(page, "cams"):
        assert cams_command(arguments) == 0
    for _, _, module, *overrides in commands(page, "python"):
        if "bundle=mine.npz" in overrides:
            GlobalHydra.instance().clear()
            monkeypatch.setattr(sys, "argv", [module, *overrides])
            import_module(module).main()


# The configuration that a module's command line sets.
CONFIGURATIONS = {"experiments.run": "run", "experiments.all": "all", "experiments.replay": "replay"}


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page, "python")])
def test_the_commands_are_understood(page):
    """Every setting that they name exists; what the commands do is tested elsewhere."""
    register_streams()
    for _, _, module, *overrides in commands(page, "python"):
        if module.startswith("data_prep.") or module in CONFIGURATIONS:
            import_module(module)
            with initialize_config_dir(str(CONF), version_base="1.3"):
                compose(
                    CONFIGURATIONS.get(module, "prep"), [one_of_a_sweep(text) for text in overrides if text != "-m"]
                )


def one_of_a_sweep(override: str) -> str:
    """The first of several values; for names that stand for a reader's own, one of ours."""
    name, _, value = override.replace("<name>", "main").replace("=digits", "=drift").partition("=")
    return f"{name}={value if value.startswith('[') else value.split(',')[0]}"


def test_every_learner_has_its_paragraph_and_its_line_of_code():
    page = (ROOT / "docs/learners.md").read_text()
    told = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", page, flags=re.DOTALL | re.MULTILINE))
    assert set(told) == set(cams.LEARNERS)
    for name, paragraph in told.items():
        quoted = re.findall(r"^- `(cams/\S+)`: `(.+)`$", paragraph, flags=re.MULTILINE)
        assert quoted, f"{name} shows no line of code"
        for path, line in quoted:
            lines = [found.strip() for found in (ROOT / path).read_text().splitlines()]
            assert line in lines, f"{name}: {path} has no line {line}"


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE))
    written = {str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/**/*.md")}
    assert listed == written | {"claims.md"}


def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path):
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    run = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    for page in tmp_path.rglob("*.html"):
        assert not re.search(r'(src="|<link[^>]*href=")(https?:)?//', page.read_text()), page.name


def test_the_learner_of_the_guide_plays(monkeypatch):
    scope: dict = {}
    exec(python_blocks("docs/add-a-learner.md")[0], scope)
    monkeypatch.setitem(cams.LEARNERS, "plurality", Entry(scope["Plurality"], constants={"patience": 1.0}))
    rng = np.random.default_rng(0)
    bundle = cams.Bundle(predictions=rng.integers(0, 3, (60, 4)), labels=rng.integers(0, 3, 60), num_classes=3)
    result = cams.replay(bundle, ["plurality", "rs"], horizon=50, budgets=[5, 20], realizations=2, seed=0)
    assert (result.queries <= result.budgets[None, :, None]).all()
    assert (result.queries[0, 1] == 20).any()


@pytest.mark.parametrize("page", PAGES)
def test_links_point_at_files_that_exist(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_the_readme_tells_the_ledgers_summary():
    ledger = json.loads((ROOT / "results/claims.json").read_text())
    readme = (ROOT / "README.md").read_text()
    assert "<!-- claims -->" in readme
    assert with_summary(readme, {"own": [], **ledger}, {}) == readme


def test_make_targets_named_in_the_readme_exist():
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    known = {name for line in listed.splitlines() for name in re.split(r" {2,}", line.strip())[0].split()}
    named = set(re.findall(r"`?make ([a-z0-9]+)`?", (ROOT / "README.md").read_text()))
    assert named - known == set()
