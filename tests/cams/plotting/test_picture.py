"""The picture of a replay: which numbers become lines and levels, and which files it may go to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import rc_context

import cams
from cams.outcome import Replay
from cams.plotting import picture
from cams.plotting.appearance import BEST_CLASSIFIER_LOOK, BEST_REFERENCE, look_of
from cams.plotting.outcome import panel_of, plot_replay


def replay(queries: list[int], policies: int = 1) -> Replay:
    """Two learners with budgets 10, 0 and 5 on two realizations, whose mistakes lie 2 apart."""
    loss = np.array([[[20, 22], [40, 42], [30, 32]], [[21, 23], [41, 43], [31, 33]]])
    none = np.zeros((2, 3, 2, 0), dtype=np.int64)
    return Replay(
        learners=["cams", "my own"],
        budgets=np.array([10, 0, 5]),
        horizon=1_000,
        trace=np.zeros(0, dtype=np.int64),
        loss=loss,
        queries=np.broadcast_to(np.array(queries)[None, :, None], (2, 3, 2)),
        loss_trace=none,
        queries_trace=none,
        model_loss_trace=np.zeros((2, 0, 2), dtype=np.int64),
        policy_loss_trace=np.zeros((2, 0, policies), dtype=np.int64),
        model_losses=np.array([[25, 90], [80, 27]]),
        policy_losses=np.array([[12], [14]])[:, :policies],
        seed=0,
        realizations=np.arange(2),
    )


# Student's t with one degree of freedom, 95 %: 6.3138. Two values 2 apart have a standard error of 1.
HALF = pytest.approx(6.3138, abs=1e-4)


def test_lines_are_means_over_realizations_in_the_order_of_the_budgets() -> None:
    panel = panel_of(replay([10, 0, 5]))
    first, second = panel.series
    assert (first.name, first.label, first.look) == ("cams", "CAMS", look_of("cams"))
    assert (second.name, second.label, second.look) == ("my own", "my own", look_of("my own", 1))
    assert first.x.tolist() == second.x.tolist() == [0, 5, 10]
    assert (first.mean.tolist(), second.mean.tolist()) == ([41, 31, 21], [42, 32, 22])
    assert (second.mean - second.low).tolist() == [HALF] * 3
    assert (second.high - second.mean).tolist() == [HALF] * 3
    assert (panel.x_label, panel.y_label) == ("Labels bought", "Mistakes in 1,000 rounds")


def test_levels_are_the_best_model_and_policy_of_each_realization() -> None:
    model, policy = panel_of(replay([10, 0, 5])).references
    assert (model.name, model.label, model.look) == ("best_model", "Best model in hindsight", BEST_CLASSIFIER_LOOK)
    assert (policy.name, policy.label, policy.look) == ("best_policy", "Best policy in hindsight", BEST_REFERENCE)
    assert (model.mean, model.mean - model.low, model.high - model.mean) == (26, HALF, HALF)
    assert (policy.mean, policy.mean - policy.low, policy.high - policy.mean) == (13, HALF, HALF)
    assert [level.name for level in panel_of(replay([10, 0, 5], policies=0)).references] == ["best_model"]


@pytest.mark.parametrize(
    ("queries", "scale"),
    [
        ([10, 0, 1], "linear"),
        ([11, 0, 1], "from_zero"),
        ([1_000, 0, 100], "linear"),
        ([1_001, 0, 100], "from_zero"),
        ([0, 0, 0], "linear"),
    ],
)
def test_labels_more_than_tenfold_apart_are_drawn_logarithmically(queries: list[int], scale: str) -> None:
    assert panel_of(replay(queries)).scales == (scale, "linear")


def test_a_label_of_ones_own_is_no_mathematics() -> None:
    played = dataclasses.replace(replay([10, 0, 5]), learners=["cams", "costs 5$ or 6$"])
    assert panel_of(played).series[1].label == r"costs 5\$ or 6\$"


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_a_picture_is_written_as_its_name_ends(suffix: str, begins: bytes, tmp_path: Path) -> None:
    path = tmp_path / "new" / f"replay.{suffix}"
    with rc_context({"savefig.dpi": 50}):  # of no matter to a picture of ours
        figure = plot_replay(replay([10, 0, 5]), path)
    assert path.read_bytes().startswith(begins)
    assert list(path.parent.iterdir()) == [path]
    assert figure.axes[0].get_xlabel() == "Labels bought"
    if suffix == "png":
        width = int.from_bytes(path.read_bytes()[16:20], "big")
        assert width == 720  # 3.6 inches of 200 dots


def test_a_picture_without_a_path_is_only_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(plot_replay(replay([10, 0, 5])).axes[0].lines) == 4
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_no_picture_can_go_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.png").mkdir()
    for path, sentence in (
        (Path("a.gif"), "the picture a.gif ends in '.gif', expected one of .png, .pdf, .svg"),
        (Path("png"), "the picture png ends in '', expected one of .png, .pdf, .svg"),
        (tmp_path / "folder.png", f"cannot write the picture {tmp_path / 'folder.png'}: it is a folder"),
        (tmp_path / "file" / "a.png", f"cannot write to {tmp_path / 'file'}: File exists"),
    ):
        with pytest.raises(cams.InputError) as refused:
            plot_replay(replay([10, 0, 5]), path)
        assert str(refused.value) == sentence


def _raises(name: str) -> None:
    raise ValueError(f"{name}.__spec__ is None")


@pytest.mark.parametrize("find", [lambda name: None if name == "matplotlib" else name, _raises])
def test_matplotlib_is_asked_for(find: Callable[[str], str | None], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(picture, "find_spec", find)
    with pytest.raises(cams.InputError) as refused:
        picture.require_picture(tmp_path / "a.png")
    assert str(refused.value) == "drawing needs matplotlib: pip install 'cams[plot]'"
