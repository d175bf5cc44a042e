"""What a ledger is asked for must be there: records of its seed, and of training seeds that the shell names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import cams
from experiments.claims.planned import refuse_unread, require_records
from experiments.claims.training_seeds import refuse_unplanned
from tests.experiments.claims.test_training_seeds import CONFIG

LEDGER: dict[str, Any] = {
    "seed": 0,
    "training_seeds": {"drift": [1, 2], "hiv": [4]},
    "own": {"judged_on": {"hiv": [5]}},
}


def make_record(results: Path, dataset: str, seed: int) -> None:
    path = results / f"records/main/{dataset}/seed{seed}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Records of the shipped seed, and of one of the two training seeds of DRIFT."""
    make_record(tmp_path, "drift", 0)
    make_record(tmp_path / "seeds/seed1", "drift", 1)
    return tmp_path


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["seeds=[1]"], "seeds has no effect on the ledger: `python -m experiments.claims.training_seeds` reads it"),
        (["seed=1", "+datasets=[hiv]"], "datasets has no effect on the ledger: `python -m"),
        (["+baselines.more=[rs]"], "baselines.more has no effect on the ledger: the checks of claims have"),
        (["~baselines"], "baselines has no effect on the ledger: the checks of claims have copies of it"),
    ],
)
def test_settings_that_no_ledger_reads_are_refused(overrides: list[str], sentence: str) -> None:
    with pytest.raises(cams.InputError, match=f"^{re.escape(sentence)}"):
        refuse_unread(overrides)


def test_settings_that_a_ledger_reads_are_not_refused() -> None:
    refuse_unread(["seed=1", "training_seeds.drift=[1]", "interval.level=0.95", "n_jobs=2"])


def test_a_folder_without_records_of_the_seed_is_refused(results: Path) -> None:
    with pytest.raises(cams.InputError) as refusal:
        require_records(LEDGER | {"seed": 1}, results, [])
    assert str(refusal.value) == (
        f"{results} has no records of seed 1; `python -m experiments.all` makes those of seed 0"
    )


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["seed=0", "interval.level=0.95"],
        # DRIFT's seed 1 is there, and nothing was asked of HIV.
        ["training_seeds.drift=[1]"],
    ],
)
def test_shipped_seeds_may_be_missing_and_those_asked_for_are_there(results: Path, overrides: list[str]) -> None:
    drift = [1] if overrides[:1] == ["training_seeds.drift=[1]"] else [1, 2]
    require_records(LEDGER | {"training_seeds": {"drift": drift, "hiv": [4]}}, results, overrides)


@pytest.mark.parametrize(
    ("overrides", "where", "dataset", "seeds", "missing"),
    [
        (["training_seeds.drift=[1,2]"], "training_seeds.drift", "drift", "[1, 2]", 2),
        (["+training_seeds.hiv=[4]"], "training_seeds.hiv", "hiv", "[4]", 4),
        (["training_seeds={drift: [1, 2]}"], "training_seeds.drift", "drift", "[1, 2]", 2),
        (["own.judged_on.hiv=[5]"], "own.judged_on.hiv", "hiv", "[5]", 5),
        (["own.judged_on={hiv: [5]}"], "own.judged_on.hiv", "hiv", "[5]", 5),
        (["own={}"], "own.judged_on.hiv", "hiv", "[5]", 5),
    ],
)
def test_training_seeds_that_the_shell_names_must_have_records(
    results: Path, overrides: list[str], where: str, dataset: str, seeds: str, missing: int
) -> None:
    # A record of another data set with that seed, or of that data set with another seed, is none.
    make_record(results / f"seeds/seed{missing}", "vertebral", missing)
    make_record(results / f"seeds/seed{missing}", dataset, missing + 1)
    with pytest.raises(cams.InputError) as refusal:
        require_records(LEDGER, results, overrides)
    assert str(refusal.value) == (
        f"{where} is {seeds}, but {results / 'seeds'} has no records of {dataset} with seed {missing}"
    )


def test_a_ledger_without_claims_of_our_own_is_none_the_worse(results: Path) -> None:
    require_records({key: value for key, value in LEDGER.items() if key != "own"}, results, ["own.judged_on.hiv=[5]"])


def test_seeds_to_be_trained_must_be_planned_for_one_of_the_data_sets() -> None:
    refuse_unplanned(CONFIG | {"seeds": None}, ["drift"])
    refuse_unplanned(CONFIG | {"seeds": [1, 4]}, ["drift", "hiv"])
    with pytest.raises(cams.InputError) as refusal:
        refuse_unplanned(CONFIG | {"seeds": [1, 4]}, ["drift", "covtype"])
    assert str(refusal.value) == "seed 4 is planned for none of drift, covtype, see training_seeds and own.judged_on"
