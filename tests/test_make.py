"""What the recipes of the Makefile do when a command of theirs fails; a stand-in for Python fails as it is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
STAND_IN = '#!/bin/sh\necho "$2 $3" >> "$LOG"\ntest "$2" != "$FAILING" || exit "$CODE"\n'


@pytest.mark.parametrize(
    ("failing", "code", "ends_well", "last"),
    [
        ("data_prep.fetch", 2, True, "experiments.all scale=smoke"),
        ("data_prep.fetch", 1, False, "data_prep.fetch dataset=vertebral"),
        ("data_prep.all", 2, False, "data_prep.all dataset=vertebral"),
        ("", 0, True, "experiments.all scale=smoke"),
    ],
)
def test_smoke_goes_on_without_a_data_set_that_cannot_be_had_and_with_no_other_failure(
    tmp_path: Path, failing: str, code: int, ends_well: bool, last: str
) -> None:
    for name, text in (("python", STAND_IN), ("everything.done", "")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    told = {"LOG": str(tmp_path / "log"), "FAILING": failing, "CODE": str(code)}
    environment = {**os.environ, **told, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["make", "smoke", f"VENV={tmp_path}"], cwd=ROOT, env=environment, capture_output=True, check=False
    )
    assert (done.returncode == 0) == ends_well
    assert (tmp_path / "log").read_text().splitlines()[-1] == last
