"""A replay from the shell: the table it writes, and the picture if one is wanted."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from from_shell import call

import cams


def test_the_table_and_the_picture_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch, results: Path) -> None:
    bundle, out = results / "bundles" / "vertebral.npz", results.parent / "out"
    arguments = [f"bundle={bundle}", "learners=[cams,mp]", "horizon=40", "budgets=[0,5]", "realizations=3"]
    places = [f"out={out}", f"plot={out / 'pictures' / 'mine.png'}"]
    call(monkeypatch, "replay", *arguments, *places)
    expected = cams.replay(cams.Bundle.load(bundle), ["cams", "mp"], horizon=40, budgets=[0, 5], realizations=3, seed=0)
    pd.testing.assert_frame_equal(pd.read_csv(out / "summary.csv"), expected.summary())
    expected.plot(out / "expected.png")
    assert (out / "pictures" / "mine.png").read_bytes() == (out / "expected.png").read_bytes()


@pytest.mark.parametrize(
    ("out", "swept", "jobs"),
    [("${seed}", "seed=0,1", {0, 1}), ("${hydra:job.num}", "seed=0,1", {0, 1}), ("0", "n_jobs=1,2", {0})],
)
def test_the_jobs_of_a_sweep_have_places_of_their_own(
    monkeypatch: pytest.MonkeyPatch, results: Path, tmp_path: Path, out: str, swept: str, jobs: set[int]
) -> None:
    bundle = results / "bundles" / "vertebral.npz"
    places = [f"out={tmp_path}/out/{out}", f"hydra.sweep.dir={tmp_path}/sweep"]
    call(monkeypatch, "replay", "-m", f"bundle={bundle}", "horizon=40", "budgets=[5]", "realizations=2", *places, swept)
    made = {int(path.name): pd.read_csv(path / "summary.csv") for path in (tmp_path / "out").iterdir()}
    assert set(made) == jobs
    for seed, summary in made.items():
        played = cams.replay(cams.Bundle.load(bundle), ["cams"], horizon=40, budgets=[5], realizations=2, seed=seed)
        pd.testing.assert_frame_equal(summary, played.summary())
