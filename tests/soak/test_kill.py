"""Killed at any moment, a run that is started again ends as if it had never been disturbed.

    make soak        # 100 times kill -9 for each kind of run; a plain test run kills two of them once

After every kill each visible file is either absent or whole: the bytes of the undisturbed run.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cams.archive import write_archive
from tests.experiments.small_bundle import make_bundle

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("CAMS_KILLS", "1"))
# So many kills meet a run in several states, or the moments are not those of its work.
ENOUGH = 20

Command = list[str]


def replays(folder: Path, experiments: str = "adversarial,main,rcl", datasets: str = "vertebral,covtype") -> Command:
    """Several records; those of one data set share streams and are complete together, the adversarial ones are not."""
    for dataset in datasets.split(","):
        make_bundle().save(folder / "bundles" / f"{dataset}.npz")
    return [
        "experiments.all", "scale=smoke", "steps=[replay]", f"experiments=[{experiments}]", f"datasets=[{datasets}]",
        f"paths.bundles={folder / 'bundles'}", f"paths.results={folder / 'out'}",
    ]  # fmt: skip


def figures(folder: Path) -> Command:
    """Figures of records that are there already."""
    replay = replays(folder, "main,rcl", "vertebral")
    assert run(replay, folder).wait() == 0
    return [word.replace("steps=[replay]", "steps=[figures]") for word in replay]


def training(folder: Path) -> Command:
    """The longest stage of a small data set, which keeps checkpoints."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), [60, 100, 150])
    features = rng.normal(size=(310, 6)) + labels[:, None]
    write_archive(folder / "raw/vertebral/table.npz", {"features": features, "labels": labels, "num_classes": 3})
    words = [
        "dataset=vertebral", "scale=smoke", "n_jobs=1",
        f"paths.raw={folder / 'raw'}", f"paths.work={folder / 'work'}", f"paths.results={folder / 'out'}",
    ]  # fmt: skip
    for stage in ("split", "classifiers"):
        assert run([f"data_prep.{stage}", *words], folder).wait() == 0
    return ["data_prep.policies", *words]


def run(command: Command, folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", *command], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def killed(command: Command, folder: Path, after: float) -> bool:
    """Start a run and kill it with all its children; tell whether it was still running."""
    process = run(command, folder)
    try:
        process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    assert process.returncode == 0, (folder / "log.txt").read_text()[-2000:]
    return False


def contents(folder: Path) -> dict[str, bytes]:
    """Every visible file of a run; hidden ones are what a killed process was about to rename."""
    found = {}
    for path in sorted(path for place in ("out", "work") for path in (folder / place).rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        # How long a replay took is no result.
        if not any(part.startswith(".") for part in name.parts) and "seconds" not in name.name:
            found[str(name)] = path.read_bytes()
    return found


@pytest.mark.parametrize("prepare", [replays, training, pytest.param(figures, marks=pytest.mark.soak)])
def test_a_killed_run_goes_on_as_if_nothing_had_been(prepare: Callable[[Path], Command], tmp_path: Path):
    command = prepare(tmp_path)
    before = tmp_path.with_name(f"{tmp_path.name}.before")
    shutil.copytree(tmp_path, before)
    duration, expected = undisturbed(command, tmp_path)
    assert len(expected) > len(contents(before))

    # The first moment of this seed is late enough for a run that is killed only once to be at work.
    rng = np.random.default_rng(21)
    kills, progress = 0, set()
    fresh = True
    while kills < KILLS:
        if fresh:
            shutil.rmtree(tmp_path)
            shutil.copytree(before, tmp_path)
        started = time.perf_counter()
        if killed(command, tmp_path, after=rng.uniform(0, duration)):
            kills += 1
            left = contents(tmp_path)
            assert all(expected.get(name) == content for name, content in left.items()), "a file is there but not whole"
            progress.add(len(left))
            # To kill a run again that has nothing left to do would be no trial.
            fresh = left == expected
        else:
            assert contents(tmp_path) == expected
            # The first run had code to compile. How long one takes that goes on from a kill says nothing of the others.
            duration = min(duration, time.perf_counter() - started) if fresh else duration
            fresh = True
    assert len(progress) > 2 or kills < ENOUGH, "all kills came before or after the work"
    assert undisturbed(command, tmp_path)[1] == expected


def undisturbed(command: Command, folder: Path) -> tuple[float, dict[str, bytes]]:
    """Run to the end; return the seconds it took and what it wrote."""
    started = time.perf_counter()
    assert run(command, folder).wait() == 0, (folder / "log.txt").read_text()[-2000:]
    return time.perf_counter() - started, contents(folder)
