"""A real Slurm of one node: a sweep of four jobs, one of which fails, and the same sweep again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cams

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch")

pytestmark = [
    pytest.mark.skipif(
        not all(shutil.which(program) for program in NEEDED), reason="Slurm is not installed (slurm-wlm and munge)"
    ),
    pytest.mark.skipif(os.getuid() != 0, reason="only root can start a Slurm of its own"),
]


def sweep(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        *(str(HERE / "slurm.sh"), sys.executable, "-m", "experiments.run", "-m"),
        *("experiment=experts", "dataset=vertebral", "seed=0,1,2,-1", "n_jobs=1"),
        *("horizon=40", "budget=10", "realizations=2"),
        *(f"paths.results={folder}", f"paths.bundles={folder / 'bundles'}"),
        *("hydra/launcher=slurm", "hydra.launcher.cpus_per_task=1", f"hydra.sweep.dir={folder / 'sweep'}"),
    ]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, capture_output=True, check=False
    )


def test_a_sweep_names_what_failed_and_keeps_what_did_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    bundle = cams.Bundle(
        predictions=rng.integers(0, 3, (60, 4)),
        labels=rng.integers(0, 3, 60),
        advice=rng.dirichlet(np.ones(4), (60, 3)),
    )
    (tmp_path / "bundles").mkdir()
    bundle.save(tmp_path / "bundles" / "vertebral.npz")
    # Compile the engine here, so that four jobs do not do it side by side.
    cams.replay(bundle, ["cams"], horizon=40, budgets=[10], realizations=1, seed=0)

    first = sweep(tmp_path)
    assert first.returncode == 2, first.stderr
    assert "1 job(s) of the sweep failed, the others are done:" in first.stderr
    assert "seed=-1" in first.stderr
    assert "WARNING" not in first.stderr
    records = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("records/**/*.parquet")}
    assert sorted(path.name for path in records) == ["seed0.parquet", "seed1.parquet", "seed2.parquet"]

    missing = next(path for path in records if path.name == "seed1.parquet")
    missing.unlink()
    assert sweep(tmp_path).returncode == 2
    assert missing.exists()
    assert {path: path.stat().st_mtime_ns for path in records if path != missing} == {
        path: time for path, time in records.items() if path != missing
    }
