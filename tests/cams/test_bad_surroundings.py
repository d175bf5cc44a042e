"""What is wrong outside a call: damaged files, pipes, full disks, what is not installed, somebody who interrupts."""

import errno
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cams
from tests.cams.three_rows import LABELS, VOTES, bundle, replay

DAMAGED = [
    ("horizon", -3, "there is no learner, budget, realization or round, or fewer than none"),
    ("budgets", [-1], "there is no learner, budget, realization or round, or fewer than none"),
    ("budgets", [1.5], "'budgets' is no list of whole numbers"),
    ("budgets", [[1]], "'budgets' is no list of whole numbers"),
    ("trace", [2, 1], "'trace' does not list rounds between 1 and 3 in ascending order"),
    ("trace", [5, 6], "'trace' does not list rounds between 1 and 3 in ascending order"),
    ("learners", [[1]], "'learners' is no list of names"),
    ("model_names", [["a", "b"]], "'model_names' is no list of names"),
    ("loss", [[[-1, 0]]], "'loss' has counts outside 0..3"),
    ("queries", [[[9, 0]]], "'queries' has counts outside 0..3"),
    ("queries", [[[0, 3]]], "'queries' has more labels bought than a budget allows"),
]


@pytest.mark.parametrize(("name", "value", "sentence"), DAMAGED)
def test_a_replay_that_nobody_played_is_refused(tmp_path: Path, name: str, value: Any, sentence: str) -> None:
    path = tmp_path / "replay.npz"
    replay(trace=[1, 2]).save(path)
    with np.load(path) as stored:
        arrays = dict(stored) | {name: np.asarray(value)}
    np.savez(path, **arrays)
    with pytest.raises(cams.InputError) as caught:
        cams.Replay.load(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_a_pipe_or_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(cams.InputError, match="it is no plain file"):
        bundle().save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_a_stored_bundle_of_zip_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "predictions.npy").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(cams.InputError, match="is no array that can be read"):
        cams.StoredBundle(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(cams.InputError, match="it is no plain file"):
        cams.Bundle.load(tmp_path / "pipe.npz")


def test_a_stored_bundle_of_endless_brackets_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "predictions.npy", VOTES)
    np.save(tmp_path / "labels.npy", LABELS)
    (tmp_path / "bundle.json").write_text("[" * 100_000)
    with pytest.raises(cams.InputError, match="cannot be read"):
        cams.StoredBundle(tmp_path)


@pytest.mark.parametrize("missing", [None, "finder"])
def test_what_is_not_installed_is_asked_for(monkeypatch: pytest.MonkeyPatch, missing: str | None) -> None:
    """Also where a search for it raises, as in some frozen programs."""
    if missing is None:
        monkeypatch.setattr("cams.plotting.picture.find_spec", lambda name: None)
    else:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(cams.InputError, match=r"^drawing needs matplotlib: pip install"):
        replay().plot()
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(cams.InputError, match=r"^router 'router' needs scikit-learn: pip install"):
        cams.Router(None, sharpness=1).fit(VOTES, VOTES, LABELS)


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_full_disk_is_all_that_a_picture_complains_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(cams.InputError, match="No space left on device"):
        replay().plot(tmp_path / f"mine.{suffix}")
    assert not list(tmp_path.iterdir())


def test_who_interrupts_a_replay_need_not_wait_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    played = []

    def interrupted(stage: Any, bundle: Any, order: Any, pool: Any, bar: Any) -> None:
        for i in range(1000):
            pool.submit(lambda i=i: (time.sleep(0.01), played.append(i)))
        raise KeyboardInterrupt

    monkeypatch.setattr("cams.realizations.play_pool", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replay()
    assert len(played) < 100
