"""Everything at once: records, figures and tables of a results folder with one bundle."""

from __future__ import annotations

from pathlib import Path

import from_shell
import pandas as pd
import pytest

from cams.errors import InputError
from experiments.all import check_datasets
from experiments.records.store import Origin, read_record, write_record
from experiments.runner.configuration import compose_run
from experiments.tables.paper import read_paper
from experiments.tables.write import write_tables

EXPERIMENTS = "experiments=[main,outperform,regularization,ablations]"


def call(monkeypatch: pytest.MonkeyPatch, results: Path, *arguments: str) -> None:
    from_shell.call(monkeypatch, "all", *arguments, "n_jobs=1", results=results)


def test_everything_that_the_bundles_allow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    call(monkeypatch, results, EXPERIMENTS, "scale=smoke")
    results = results / "variants" / "scale=smoke"
    said = capsys.readouterr().out
    assert "main drift: left out" in said
    assert "`make drift` builds it" in said
    for name in ("main", "outperform", "regularization"):
        for stem in ("vertebral", name):
            assert (results / "figures" / name / f"{stem}.png").stat().st_size > 1000
            assert (results / "figures" / name / f"{stem}.pdf").exists()
        numbers = pd.read_csv(results / "figures" / name / "vertebral.csv")
        assert {"panel", "series", "x", "mean", "low", "high"} == set(numbers.columns)
    for table in ("methods", "collections", "bounds", "maximal_queries", "active_learning"):
        for kind in ("csv", "md", "tex"):
            assert (results / "tables" / f"{table}.{kind}").stat().st_size > 100


def test_drawing_twice_changes_nothing(monkeypatch: pytest.MonkeyPatch, results: Path) -> None:
    arguments = ["experiments=[main]", "scale=smoke"]
    call(monkeypatch, results, *arguments)
    first = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    call(monkeypatch, results, *arguments)
    assert {path: path.read_bytes() for path in results.rglob("*") if path.is_file()} == first


def test_what_a_changed_record_feeds_is_made_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    arguments = ["experiments=[experts]", "datasets=[vertebral]", "steps=[figures,claims]"]
    call(monkeypatch, results, "experiments=[experts]", "datasets=[vertebral]", "steps=[replay]")
    call(monkeypatch, results, *arguments)
    picture, ledger = results / "figures" / "experts" / "vertebral.png", results / "claims.json"
    before = picture.read_bytes(), ledger.read_bytes()
    capsys.readouterr()
    call(monkeypatch, results, *arguments)
    said = capsys.readouterr().out
    assert "figures: 0 drawn, 2 unchanged" in said
    assert "claims: up to date" in said
    assert (picture.read_bytes(), ledger.read_bytes()) == before

    path = results / "records" / "experts" / "vertebral" / "seed0.parquet"
    record = read_record(path)
    more = record.table.assign(loss=record.table["loss"] + 1)
    write_record(path, more, Origin(record.plan, None, record.facts["code"]), record.facts["bundle"])
    call(monkeypatch, results, *arguments)
    said = capsys.readouterr().out
    assert "figures: 2 drawn, 0 unchanged" in said
    assert "claims: wrote" in said
    assert picture.read_bytes() != before[0]
    assert ledger.read_bytes() != before[1]


def test_a_data_set_that_no_experiment_lists_is_drawn_alone() -> None:
    with pytest.raises(
        InputError, match=r"^no experiment here lists 'drift'.*experiments\.run experiment=main dataset="
    ):
        check_datasets(["drift"], {"main": compose_run(["experiment.datasets=[vertebral]"])})


def test_tables_without_records(results: Path) -> None:
    assert write_tables(results, lambda _: None) == ["methods", "active_learning"]


def test_latex_tables_use_booktabs_and_escape(results: Path) -> None:
    write_tables(results, lambda _: None)
    text = (results / "tables" / "methods.tex").read_text()
    assert r"\toprule" in text
    assert r"\bottomrule" in text


def test_paper_numbers_cover_the_streams() -> None:
    paper, cfg = read_paper(), compose_run()
    for learner, row in paper["maximal_queries"].items():
        for dataset, (queries, loss) in row.items():
            assert queries <= cfg.streams[dataset].budget, learner
            assert loss <= cfg.streams[dataset].horizon
    for dataset, facts in paper["collections"].items():
        assert facts["stream"] == cfg.streams[dataset].horizon
