"""The ledger in words and on disk: how numbers read, what is written where a value is infinite or undefined."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path

import pytest

from experiments.claims.ledger import write_ledger
from experiments.claims.page import interval, number

EMPTY = {"claims": [], "notes": [], "training_seeds": [], "robustness": [], "own": [], "own_summary": {}, "summary": {}}


@pytest.mark.parametrize(
    ("value", "unit", "read"),
    [
        (0.1234, "share", "12.3 %"),
        (12.5, "share", "1,250.0 %"),
        (-0.5, "share", "-50.0 %"),
        (1234.567, "errors", "1,234.57"),
        (0.75051, "ratio", "0.751"),
        (1e-17, "ratio", "0"),
        (-1e-17, "ratio", "0"),
        (4e-7, "ratio", "0"),
        (2e-6, "ratio", "2e-06"),
        (inf, "share", "never"),
        (-inf, "errors", "never"),
        (nan, "ratio", "undefined"),
        (None, "share", "undefined"),
        ("never", "share", "never"),
    ],
)
def test_a_number_in_its_unit(value: float | str | None, unit: str, read: str) -> None:
    assert number(value, unit) == read


def test_an_interval_stands_beside_its_value_unless_there_is_none() -> None:
    check = {"value": 0.1, "low": -0.05, "high": inf, "unit": "share"}
    assert interval(check) == "10.0 % (-5.0 % to never)"
    assert interval(check | {"low": None, "high": None}) == "10.0 %"


def test_the_file_has_words_for_what_json_has_not(tmp_path: Path) -> None:
    ledger = EMPTY | {"notes": [inf, -inf, nan, 1 / 3, 2, "text", (0.25, None)], "made_from": "x"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.claims.ledger.render_page", lambda *_: "page")
        paths = write_ledger(ledger, tmp_path)
    assert paths == [tmp_path / "claims.json", tmp_path / "claims.md"]
    written = json.loads(paths[0].read_text(encoding="utf-8"))
    assert written["notes"] == ["never", "never", None, 0.333333, 2, "text", [0.25, None]]
    assert paths[1].read_text(encoding="utf-8") == "page"
