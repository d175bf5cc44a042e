"""The habits of the house: what imports what, one version, no data set listed by hand."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("dvc", "hydra", "joblib", "matplotlib", "omegaconf", "sklearn", "torch")


def test_the_library_is_imported_without_heavy_packages():
    code = f"import sys, cams; print([name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_version_is_written_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "cams.__version__"}
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text()
