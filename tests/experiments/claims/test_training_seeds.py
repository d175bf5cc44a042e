"""Which zoos are trained anew, and which records are made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cams
from experiments.claims import training_seeds
from experiments.claims.training_seeds import all_seeds, experiments_about, repeat, run_step, wanted_experiments
from experiments.runner.jobs import say_now

CLAIMS = [
    {"experiment": "main", "datasets": ["drift", "hiv"], "checks": [{}, {"experiment": "experts"}]},
    {"experiment": "malice", "datasets": ["drift"], "checks": [{"datasets": ["hiv"]}], "beside": [{}]},
    {"experiment": "adversarial", "datasets": ["drift"], "checks": [{}]},
]
OWN = [{"experiment": "rates", "datasets": ["drift"], "checks": [{}]}]
CONFIG: dict[str, Any] = {
    "claims": CLAIMS,
    "training_seeds": {"drift": [1, 2], "hiv": [4]},
    "own": {"claims": OWN, "judged_on": {"drift": [2, 3], "covtype": [9]}},
}


def test_experiments_are_those_that_claims_about_a_data_set_read() -> None:
    # The bounds of the adversarial claim hold for any zoo.
    assert experiments_about(CLAIMS, "drift") == {"main", "experts", "malice"}
    assert experiments_about(CLAIMS, "hiv") == {"main", "experts", "malice"}
    assert experiments_about(CLAIMS, "covtype") == set()


@pytest.mark.parametrize(
    ("seed", "dataset", "wanted"),
    [
        (1, "drift", ["experts", "main", "malice"]),
        (2, "drift", ["experts", "main", "malice", "rates"]),
        (3, "drift", ["rates"]),
        (4, "drift", []),
        (4, "hiv", ["experts", "main", "malice"]),
        (1, "vertebral", []),
    ],
)
def test_a_seed_serves_the_claims_of_the_paper_or_ours_or_both(seed: int, dataset: str, wanted: list[str]) -> None:
    assert wanted_experiments(CONFIG, seed, dataset) == wanted


def test_all_seeds_are_named_once() -> None:
    assert all_seeds(CONFIG) == [1, 2, 3, 4, 9]


def test_a_step_that_fails_is_named() -> None:
    with pytest.raises(cams.InputError, match=r"^`python -m experiments\.nothing seed=1` ended with exit code 1$"):
        run_step("experiments.nothing", "seed=1")


class Recorder:
    """Stands in for making records: there are none until a bundle has been prepared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[tuple[str, ...]] = []
        self.made: list[tuple[str, str, int, Path]] = []
        self.prepared = False
        self.given: list[tuple[int, Any]] = []
        monkeypatch.setattr(training_seeds, "run_step", self.step)
        monkeypatch.setattr(training_seeds, "ensure_record", self.record)

    def step(self, *words: str) -> None:
        self.steps.append(words)
        self.prepared = True

    def record(self, plan: Any, places: Any, n_jobs: int, say: Any) -> bool:
        self.given.append((n_jobs, say))
        if not self.prepared:
            raise cams.InputError("there is no bundle")
        self.made.append((plan.experiment, plan.dataset, plan.seed, places.record(plan)))
        return True


def test_a_zoo_is_trained_once_where_its_records_need_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder(monkeypatch)
    monkeypatch.setattr(training_seeds, "RAW", tmp_path / "raw")
    repeat(7, "vertebral", ["main", "experts"], tmp_path, n_jobs=3)
    folder = tmp_path / "seeds" / "seed7"
    options = (
        "dataset=vertebral",
        "seed=7",
        "paths.work=data/seeds/seed7",
        f"paths.raw={tmp_path / 'raw'}",
        f"paths.results={folder}",
        "n_jobs=3",
    )
    stages = ("fetch", "split", "classifiers", "policies", "bundle")
    assert recorder.steps == [(f"data_prep.{stage}", *options) for stage in stages]
    assert recorder.made == [
        (name, "vertebral", 7, folder / "records" / name / "vertebral" / "seed7.parquet")
        for name in ("main", "experts")
    ]
    # Twice for the first experiment, before its bundle was there and after.
    assert recorder.given == [(3, say_now)] * 3
    assert "preparing vertebral with seed 7" in "".join(capsys.readouterr())


def test_all_cores_for_a_replay_are_all_cores_for_a_stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorder = Recorder(monkeypatch)
    repeat(7, "vertebral", ["main"], tmp_path, n_jobs=0)
    assert {words[-1] for words in recorder.steps} == {"n_jobs=-1"}
    assert recorder.given == [(0, say_now)] * 2


def test_parsed_data_are_shared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorder = Recorder(monkeypatch)
    monkeypatch.setattr(training_seeds, "RAW", tmp_path / "raw")
    (tmp_path / "raw" / "vertebral").mkdir(parents=True)
    repeat(7, "vertebral", ["main"], tmp_path, n_jobs=3)
    assert [words[0] for words in recorder.steps] == [f"data_prep.{stage}" for stage in training_seeds.STAGES]


def test_a_bundle_that_is_there_and_no_good_is_not_trained_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recorder = Recorder(monkeypatch)
    bundle = tmp_path / "seeds" / "seed7" / "bundles" / "vertebral.npz"
    bundle.parent.mkdir(parents=True)
    bundle.touch()
    with pytest.raises(cams.InputError, match="there is no bundle"):
        repeat(7, "vertebral", ["main"], tmp_path, n_jobs=1)
    assert recorder.steps == []
