"""The runner: records that know their configuration, sweeps that go on, bad input in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import from_shell
import pandas as pd
import pytest

import cams
from data_prep.pipeline.variants import variant_name
from experiments.records.store import read_record
from experiments.run import NEUTRAL, places_for
from experiments.runner.configuration import compose_run, experiment_names
from experiments.runner.jobs import ensure_record
from experiments.runner.places import Places, record_state
from experiments.runner.resolve import make_plan

SMOKE = ["scale=smoke", "dataset=vertebral"]


def call(monkeypatch: pytest.MonkeyPatch, results: Path, *arguments: str) -> None:
    sweep = [f"hydra.sweep.dir={results.parent / 'sweep'}"] if "-m" in arguments else []
    from_shell.call(monkeypatch, "run", *arguments, *sweep, results=results)


def test_every_experiment_runs(monkeypatch: pytest.MonkeyPatch, results: Path) -> None:
    call(monkeypatch, results, "-m", "experiment=glob(*)", *SMOKE)
    recorded = {path.parent.parent.name for path in results.glob("variants/*/records/*/*/seed0.parquet")}
    assert recorded >= set(experiment_names()) - {"ablations"}
    drawn = {path.parent.name for path in results.glob("variants/*/figures/*/*.png")}
    assert drawn == set(experiment_names())


def test_record_is_redone_only_when_it_must_be(results: Path) -> None:
    places = Places(results / "bundles", results)
    plan = make_plan(compose_run(["experiment=main", *SMOKE]))
    said: list[str] = []
    assert ensure_record(plan, places, 1, said.append)
    path = places.record(plan)
    assert path == results / "records" / "main" / "vertebral" / "seed0.parquet"
    whole = path.read_bytes()
    assert not ensure_record(plan, places, 1, said.append)
    assert path.read_bytes() == whole

    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert record_state(plan, places).word == "damaged"
        assert ensure_record(plan, places, 1, said.append)
        assert path.read_bytes() == whole

    stale = make_plan(compose_run(["experiment=main", *SMOKE, "learner.cams.floor=0.1"]))
    assert str(record_state(stale, places)) == "stale (another plan)"
    assert ensure_record(stale, places, 1, said.append)
    assert record_state(stale, places).is_current


def test_record_follows_its_bundle(results: Path, bundle: cams.Bundle) -> None:
    places = Places(results / "bundles", results)
    plan = make_plan(compose_run(["experiment=experts", *SMOKE]))
    assert ensure_record(plan, places, 1, lambda _: None)
    bundle.select_policies(range(4)).save(places.bundle("vertebral"))
    assert ensure_record(plan, places, 1, lambda _: None)
    places.bundle("vertebral").unlink()
    assert not ensure_record(plan, places, 1, lambda _: None)


def test_record_has_every_value_once(results: Path) -> None:
    places = Places(results / "bundles", results)
    plan = make_plan(compose_run(["experiment=covtype", *SMOKE]))
    ensure_record(plan, places, 1, lambda _: None)
    table = read_record(places.record(plan)).table
    assert not table.duplicated(["case", "series", "kind", "budget", "realization", "round"]).any()
    final = table[(table["kind"] == "learner") & (table["round"] == plan.horizon)]
    assert len(final) == len(plan.learners) * len(plan.budgets) * plan.realizations
    assert (final["queries"] <= final["budget"]).all()
    assert set(table["realization"]) == set(range(plan.realizations))


def test_record_agrees_with_the_replay(results: Path, bundle: cams.Bundle) -> None:
    places = Places(results / "bundles", results)
    plan = make_plan(compose_run(["experiment=main", *SMOKE]))
    ensure_record(plan, places, 1, lambda _: None)
    table = read_record(places.record(plan)).table
    result = cams.replay(
        bundle, ["cams"], horizon=plan.horizon, budgets=plan.budgets, realizations=plan.realizations, seed=0
    )
    mine = table[(table["series"] == "cams")].sort_values(["budget", "realization"])
    assert mine["loss"].tolist() == result.loss[0].ravel().tolist()
    assert mine["queries"].tolist() == result.queries[0].ravel().tolist()


def test_overrides_go_beside_the_shipped_results(monkeypatch: pytest.MonkeyPatch, results: Path) -> None:
    call(monkeypatch, results, "experiment=main", *SMOKE, "learner.cams.floor=0.1", "horizon=40", "seed=3")
    variant = results / "variants" / "horizon=40,learner.cams.floor=0.1,scale=smoke,seed=3"
    record = read_record(variant / "records" / "main" / "vertebral" / "seed3.parquet")
    assert record.facts["plan"]["horizon"] == 40
    assert record.facts["plan"]["learners"][0]["settings"]["floor"] == 0.1
    assert not (results / "records").exists()


def test_variant_names() -> None:
    assert variant_name(["experiment=main", "dataset=drift", "n_jobs=2", "hydra/launcher=joblib"], NEUTRAL) == ""
    assert variant_name(["horizon=500", "+budgets=[10, 20]"], NEUTRAL) == "budgets=[10,20],horizon=500"
    assert variant_name(["horizon=500", "seed=1", "horizon=600", "seed=0"], NEUTRAL) == "horizon=600"
    assert len(variant_name([f"learner.cams.floor={'1' * 200}"], NEUTRAL)) == 16


def test_own_bundle(monkeypatch: pytest.MonkeyPatch, results: Path, bundle: cams.Bundle) -> None:
    mine = results.parent / "mine.npz"
    bundle.save(mine)
    stream = ["horizon=50", "budget=10", "realizations=2"]
    call(monkeypatch, results, "experiment=main", f"bundle={mine}", *stream)
    assert len(list(results.glob("variants/*/records/main/mine/seed0.parquet"))) == 1


def test_failed_jobs_are_named_and_the_others_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, results, "-m", "experiment=experts,malicious", "dataset=drift,vertebral", "scale=smoke")
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert "2 job(s) of the sweep failed" in said
    assert "experiment=experts dataset=drift" in said.splitlines()[-2]
    assert "experiment=malicious dataset=drift" in said.splitlines()[-1]
    kept = results / "variants" / "scale=smoke" / "records"
    assert {path.parent.parent.name for path in kept.glob("*/vertebral/*")} == {"experts", "malicious"}


def test_another_sweep_in_the_same_folder_hides_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    def another(_plan: object, places: Places, *_: object, **__: object) -> None:
        # Begins and ends when the first job has failed, in a process of its own.
        command = [sys.executable, "-m", "experiments.run", "-m", "experiment=experts", "dataset=vertebral", "seed=-1"]
        sweep = [f"paths.results={results}/other", f"hydra.sweep.dir={results.parent / 'sweep'}"]
        environment = {name: value for name, value in os.environ.items() if name != "CAMS_SWEEP"}
        ended.append(subprocess.run([*command, *sweep], env=environment, capture_output=True, check=False).returncode)
        raise cams.InputError("enough")

    ended: list[int] = []
    monkeypatch.setattr("experiments.run.ensure_record", another)
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, results, "-m", "experiment=experts", "dataset=vertebral", "seed=-1,3")
    assert (stop.value.code, ended) == (2, [2])
    said = capsys.readouterr().err
    assert "2 job(s) of the sweep failed" in said
    assert "seed is -1" in said
    assert not list((results.parent / "sweep" / "failures").iterdir())


def test_joblib_launcher(monkeypatch: pytest.MonkeyPatch, results: Path) -> None:
    sweep = ["-m", "experiment=experts", "seed=0,1", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]
    call(monkeypatch, results, *sweep, *SMOKE)
    records = sorted(path.relative_to(results / "variants") for path in results.glob("variants/*/records/*/*/*"))
    assert [(path.parts[0], path.name) for path in records] == [
        ("scale=smoke", "seed0.parquet"),
        ("scale=smoke,seed=1", "seed1.parquet"),
    ]


def test_filter_that_leaves_no_policy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path, bundle: cams.Bundle
) -> None:
    bundle.select_policies(kinds=["normal"]).save(results / "bundles" / "vertebral.npz")
    said = from_shell.refusal(monkeypatch, capsys, "run", "experiment=malicious", "dataset=vertebral", results=results)
    assert len(said.splitlines()) == 1
    assert "leaves no policy" in said


def test_long_form_is_plain_parquet(results: Path) -> None:
    places = Places(results / "bundles", results)
    plan = make_plan(compose_run(["experiment=experts", *SMOKE]))
    ensure_record(plan, places, 1, lambda _: None)
    assert {"series", "budget", "realization", "loss"} <= set(pd.read_parquet(places.record(plan)).columns)


def test_only_the_budgets_asked_for_are_played(monkeypatch: pytest.MonkeyPatch, results: Path) -> None:
    # The last records a budget of 1000 besides, whatever others are played.
    for experiment in ("experts", "nonactive", "covtype"):
        chosen = [f"experiment={experiment}", "dataset=vertebral", "budgets=[3,7]", "realizations=2"]
        call(monkeypatch, results, *chosen)
        (path,) = results.glob(f"variants/*/records/{experiment}/vertebral/seed0.parquet")
        assert read_record(path).budgets("cams") == [3, 7]


def test_a_data_set_that_an_experiment_does_not_list_has_a_place_of_its_own() -> None:
    overrides = ["experiment=main", "dataset=covtype"]
    assert places_for(compose_run(overrides), overrides).results == Path("results/variants/dataset=covtype")
    overrides = ["experiment=main", "dataset=drift"]
    assert places_for(compose_run(overrides), overrides).results == Path("results")
