"""docs/add-a-data-set.md, followed to the letter in a copy of the repository, ends with that data set's figure."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/add-a-data-set.md").read_text()
# What a data set can reach.
COPIED = ("cams", "data_prep", "experiments", "conf", ".dvc/config", "dvc.yaml", "params.yaml")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


@pytest.fixture
def imported(copy: Path, tmp_path: Path) -> Path:
    """Return a folder to import the copy from, all but the library: numba finds compiled code by its source's place."""
    folder = tmp_path / "imported"
    folder.mkdir()
    for package in ("data_prep", "experiments"):
        (folder / package).symlink_to(copy / package)
    return folder


def test_the_guide_leads_from_nothing_to_a_figure(copy, imported):
    for name, content in re.findall(
        r"^## \d\. The \w+: `([^`]+)`\n+```\w+\n(.*?)```", PAGE, flags=re.DOTALL | re.MULTILINE
    ):
        (copy / name).write_text(content)
    params = copy / "params.yaml"
    assert "`digits` at the end of `datasets` in `params.yaml`" in PAGE
    params.write_text(re.sub(r"^(datasets: \[.*)\]", r"\1, digits]", params.read_text(), flags=re.MULTILINE))

    commands = re.findall(r"```bash\n(.*?)```", PAGE, flags=re.DOTALL)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(imported), "PYTHONSAFEPATH": "1"}
    for command in "".join(commands).splitlines():
        run = subprocess.run(
            ["bash", "-c", command], cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{command}: {run.stdout[-1500:]}{run.stderr[-1500:]}"
    assert (copy / "results/bundles/digits.npz").exists()
    assert list((copy / "results").rglob("figures/main/digits.png"))
