"""Verifying: equal results pass, and the first value that differs is named."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from from_shell import call

from experiments.records.difference import record_difference, table_difference, value_difference
from experiments.records.store import Origin, read_record, write_record

SELECTION = ["experiments=[experts]", "datasets=[vertebral]"]


def exit_code(monkeypatch: pytest.MonkeyPatch, module: str, results: Path) -> int:
    try:
        call(monkeypatch, module, *SELECTION, "n_jobs=1", results=results)
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_results_are_made_again_and_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    assert exit_code(monkeypatch, "all", results) == 0
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert exit_code(monkeypatch, "verify", results) == 0
    assert "2 same, 0 different" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in results.rglob("*") if path.is_file()} == before

    path = results / "records" / "experts" / "vertebral" / "seed0.parquet"
    record = read_record(path)
    table = record.table.copy()
    was = int(table.loc[7, "loss"])
    table.loc[7, "loss"] += 1
    write_record(path, table, Origin(record.plan, None, record.facts["code"]), record.facts["bundle"])
    (results / "figures" / "experts" / "vertebral.png").write_bytes(b"another picture")
    assert exit_code(monkeypatch, "verify", results) == 1
    said = capsys.readouterr().out
    assert f"loss {was + 1} is now {was} (series cams, kind learner, budget 0, realization 7, round 80)" in said
    assert "figures/experts/vertebral.png is drawn otherwise" in said

    path.write_bytes(path.read_bytes()[:1000])
    assert exit_code(monkeypatch, "verify", results) == 1
    assert "seed0.parquet is damaged" in capsys.readouterr().out


def test_differences() -> None:
    table = pd.DataFrame({"case": [""], "series": ["cams"], "kind": ["learner"], "budget": [3], "realization": [0]})
    table = table.assign(round=5, loss=2, queries=1, reference=float("nan"))
    assert table_difference(table, table.copy()) == ""
    assert table_difference(table, table.drop(columns="queries")).startswith("columns case")
    assert table_difference(table, pd.concat([table, table])) == "1 rows are now 2"
    assert value_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}) == ""
    assert value_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "a[1].b 2 is now 3"
    assert value_difference({"a": 1}, {}) == "a is gone"
    assert value_difference({"a": [1]}, {"a": [1, 2]}) == "a has 2 entries, not 1"


def test_a_record_that_nobody_kept(tmp_path: Path) -> None:
    assert "there is no record" in record_difference(tmp_path / "none.parquet", tmp_path / "made.parquet")
