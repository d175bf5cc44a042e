"""Every program under examples/ runs from an empty folder and says what its first lines promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# What each prints, and the picture it leaves.
EXAMPLES = {
    "digits": ("the best single model errs on", "outputs/digits.png"),
    "late_labels": ("with three restarts: the same", "outputs/late_labels.png"),
    "sensors": ("the best single model in hindsight", "outputs/sensors.png"),
}


def test_all_examples_are_listed():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name, tmp_path):
    said, picture = EXAMPLES[name]
    run = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert said in run.stdout
    assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
