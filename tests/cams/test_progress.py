"""What a replay shows while it runs: a bar on a terminal, and a word before it compiles."""

import io
import json
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from tqdm import tqdm

import cams
from cams import realizations
from cams.pool import PoolStage
from cams.realizations import COMPILING

HOW: dict[str, Any] = {"horizon": 20, "budgets": [5], "realizations": 3, "seed": 0}


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def bundle(make_bundle: Any) -> cams.Bundle:
    made: cams.Bundle = make_bundle(rows=50)
    return made


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(realizations, "is_compiled", lambda: True)


def _shown(bundle: Any, progress: bool | None, capsys: pytest.CaptureFixture[str]) -> str:
    cams.replay(bundle, ["cams"], **HOW, progress=progress)
    printed, shown = capsys.readouterr()
    assert not printed
    return shown


def test_silent_unless_asked_or_on_a_terminal(bundle: Any, capsys: Any, monkeypatch: Any) -> None:
    assert _shown(bundle, None, capsys) == ""
    assert _shown(bundle, False, capsys) == ""
    assert "replay" in _shown(bundle, True, capsys)
    for progress, seen in ((None, True), (True, True), (False, False)):
        monkeypatch.setattr("sys.stderr", terminal := _Terminal())
        cams.replay(bundle, ["cams"], **HOW, progress=progress)
        assert bool(terminal.getvalue()) == seen


def test_the_bar_counts_rounds_and_is_gone_at_the_end(bundle: Any, capsys: Any) -> None:
    shown = _shown(bundle, True, capsys)
    assert shown.lstrip("\r").startswith("replay:   0%|")
    assert "| 0.00/60.0 [00:00<?, ?round/s]" in shown  # three realizations of twenty rounds
    assert shown.endswith(" \r")
    assert "\n" not in shown


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_bar_ends_at_the_last_round(bundle: Any, in_memory: bool, tmp_path: Path, monkeypatch: Any) -> None:
    ends: list[tuple[float, float]] = []

    class Watched(tqdm):  # type: ignore[type-arg]
        def __exit__(self, *how: Any) -> None:
            ends.append((self.n, self.total))
            super().__exit__(*how)

    monkeypatch.setattr(realizations, "tqdm", Watched)
    monkeypatch.setattr("cams.stored.PART_ROWS", 7)
    if not in_memory:
        for name in ("predictions", "labels", "advice"):
            np.save(tmp_path / f"{name}.npy", getattr(bundle, name))
        (tmp_path / "bundle.json").write_text(json.dumps({"num_classes": 3}))
        bundle = cams.StoredBundle(tmp_path)
    cams.replay(bundle, ["cams"], **HOW, order="stream", progress=True)
    assert ends == [(60, 60)]


@pytest.mark.parametrize(("progress", "told"), [(None, f"{COMPILING}\n"), (False, ""), (True, f"{COMPILING}\n")])
def test_who_must_wait_for_the_engine_is_told(
    bundle: Any, progress: Any, told: str, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(realizations, "is_compiled", lambda: False)
    shown = _shown(bundle, progress, capsys)
    assert shown.replace("\r", "").startswith(told)
    assert bool(shown) == bool(told)


def test_who_interrupts_does_not_wait_for_the_realizations_that_are_left(bundle: Any, monkeypatch: Any) -> None:
    begun: list[int] = []

    def play(_: Any, realization: int, *__: Any) -> None:
        begun.append(realization)
        sleep(0.001)

    class Interrupted(tqdm):  # type: ignore[type-arg]
        def update(self, n: float | None = 1) -> bool | None:
            raise KeyboardInterrupt

    monkeypatch.setattr(PoolStage, "play", play)
    monkeypatch.setattr(realizations, "tqdm", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        cams.replay(bundle, ["cams"], **{**HOW, "realizations": 2_000})
    assert len(begun) < 2_000


@pytest.mark.parametrize(("asked", "threads"), [({}, 1), ({"n_jobs": 3}, 3)])
def test_as_many_threads_as_asked_for(bundle: Any, asked: Any, threads: int, monkeypatch: Any) -> None:
    made = []
    executor = realizations.ThreadPoolExecutor
    monkeypatch.setattr(realizations, "ThreadPoolExecutor", lambda max_workers: made.append(max_workers) or executor(1))
    cams.replay(bundle, ["cams"], **HOW, **asked)
    assert made == [threads]
