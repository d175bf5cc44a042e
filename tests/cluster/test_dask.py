"""A real Dask cluster of two worker processes: what comes back, and what happens when workers or schedulers die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import cams
from data_prep.pipeline import tasks
from data_prep.pipeline.cluster import connected
from data_prep.pipeline.dataset import Table
from data_prep.pipeline.tasks import in_parallel, width_elsewhere
from experiments.runner.blocks import replay_in_blocks
from tests.data_prep.conftest import context_for
from tests.data_prep.datasets.tabular.test_tabular import SMALL, train

pytest.importorskip("distributed", reason="Dask is not installed")

WEIGHTS = np.arange(1000.0)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # A worker that a task kills is worth one more, not three.
        patch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
        import dask

        dask.config.refresh()
        with connected("local:2"):
            yield


def weighted(weights: np.ndarray, number: int) -> float:
    return float(weights[number])


def fatal_once(weights: np.ndarray, number: int, mark: Path) -> float:
    """Kill the worker that runs task 3 for the first time."""
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return weighted(weights, number)


def fatal(number: int) -> None:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)


def refusing(number: int) -> None:
    raise cams.InputError(f"task {number} is not to be had")


@pytest.mark.usefixtures("cluster")
def test_results_come_in_order_and_survive_a_killed_worker(tmp_path: Path) -> None:
    assert width_elsewhere() == 2
    assert list(in_parallel(weighted, [(WEIGHTS, i) for i in range(9)], 1)) == list(range(9))
    mark = tmp_path / "killed"
    assert list(in_parallel(fatal_once, [(WEIGHTS, i, mark) for i in range(9)], 1)) == list(range(9))
    assert mark.exists()


@pytest.mark.usefixtures("cluster")
def test_a_replay_is_the_same_in_blocks_elsewhere() -> None:
    rng = np.random.default_rng(0)
    bundle = cams.Bundle(
        predictions=rng.integers(0, 3, (60, 4)),
        labels=rng.integers(0, 3, 60),
        advice=rng.dirichlet(np.ones(4), (60, 3)),
    )
    how = {"horizon": 40, "budgets": [5, 20], "seed": 3, "trace": [10, 40], "regularize": True}
    for order in (None, np.stack([rng.permutation(60)[:40] for _ in range(7)])):
        here = cams.replay(bundle, ["cams", "mp", "oracle"], realizations=7, order=order, **how)
        there = replay_in_blocks(bundle, ["cams", "mp", "oracle"], realizations=7, order=order, **how)
        assert here.to_frame().equals(there.to_frame())
        assert here.summary().equals(there.summary())


@pytest.mark.usefixtures("cluster")
def test_training_elsewhere_leaves_the_same_models_and_checkpoints(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    table = Table(rng.normal(size=(400, 5)) + 3 * labels[:, None], labels, num_classes=3, groups=np.arange(400) % 4)
    _, classifiers, policies = train(table, context_for("vertebral", tmp_path / "there", **SMALL))
    there = {path.name for path in (tmp_path / "there").rglob("*.npz")}
    with elsewhere_forgotten():
        _, own_classifiers, own_policies = train(table, context_for("vertebral", tmp_path / "here", **SMALL))
    np.testing.assert_array_equal(classifiers.pool_predictions, own_classifiers.pool_predictions)
    np.testing.assert_array_equal(policies.pool_rewards.values, own_policies.pool_rewards.values)
    assert there == {path.name for path in (tmp_path / "here").rglob("*.npz")}
    assert there


@contextmanager
def elsewhere_forgotten() -> Iterator[None]:
    """Run tasks on this machine although a cluster is in use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "_elsewhere", [])
        yield


@pytest.mark.usefixtures("cluster")
def test_what_a_task_raises_is_raised_and_a_fatal_task_is_given_up() -> None:
    with pytest.raises(cams.InputError, match="task 0 is not to be had"):
        list(in_parallel(refusing, [(0,), (1,)], 1))
    with pytest.raises(cams.InputError, match="gave up a task with which 2 workers died"):
        list(in_parallel(fatal, [(i,) for i in range(5)], 1))


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp:/host", "expected tcp://HOST:PORT, tls://HOST:PORT or local:WORKERS"),
        ("local:0", "expected tcp://HOST:PORT"),
        ("tcp://127.0.0.1:9", "no scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_an_address_that_leads_nowhere(address: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("data_prep.pipeline.cluster.SECONDS_TO_ANSWER", 1)
    with pytest.raises(cams.InputError, match=said), connected(address):
        pass


def slow(number: int) -> int:
    time.sleep(1)
    return number


@pytest.fixture
def scheduler() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler of its own with one worker: its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    module = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = start([*module, "--host", "127.0.0.1", "--port", port, "--no-dashboard"])
    module = [sys.executable, "-m", "distributed.cli.dask_worker"]
    worker = start([*module, address, "--nthreads", "1", "--no-nanny", "--no-dashboard"])
    yield address, scheduler
    for process in (scheduler, worker):
        process.kill()
        process.wait()


def start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=importable())


def test_a_scheduler_that_goes_away(scheduler: tuple[str, subprocess.Popen[bytes]]) -> None:
    address, process = scheduler
    with connected(address):
        results = in_parallel(slow, [(i,) for i in range(9)], 1)
        assert next(results) == 0
        process.kill()
        with pytest.raises(cams.InputError, match=f"the scheduler {address} went away"):
            list(results)


def importable() -> dict[str, str]:
    """The environment of a worker that can import this project and these tests."""
    folders = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}


def test_without_a_cluster_dask_is_not_imported() -> None:
    code = "import experiments.all, experiments.replay, data_prep.all, sys; sys.exit('distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=importable(), check=False).returncode == 0
