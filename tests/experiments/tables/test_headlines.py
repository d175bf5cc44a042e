"""The handful of numbers that `dvc metrics show` compares."""

from __future__ import annotations

import pandas as pd

from experiments.records.columns import COLUMNS
from experiments.records.record import Record
from experiments.tables.headlines import headline

ROWS = [
    # case, series, kind, budget, realization, round, loss, queries
    ("", "cams", "learner", 5, 0, 10, 4, 3),
    ("", "cams", "learner", 5, 1, 10, 2, 5),
    ("", "cams", "learner", 1, 0, 10, 9, 1),
    ("", "mp", "learner", 5, 0, 10, 5, 5),
    ("", "mp", "learner", 5, 1, 10, 5, 5),
    ("", "rs", "learner", 5, 0, 10, 4, 5),
    ("", "rs", "learner", 5, 1, 10, 5, 4),
    ("", "oracle", "learner", 5, 0, 10, 0, 0),
    ("", "cams", "learner", 5, 0, 6, 1, 1),
    ("", "tree", "classifier", 0, 0, 10, 7, 0),
    ("", "tree", "classifier", 0, 1, 10, 3, 0),
    ("", "svm", "classifier", 0, 0, 10, 6, 0),
    ("", "svm", "classifier", 0, 1, 10, 8, 0),
]


def record_of(rows: list[tuple[object, ...]]) -> Record:
    learners = dict.fromkeys(row[1] for row in rows if row[2] == "learner")
    plan = {"horizon": 10, "cases": [{"label": ""}], "learners": [{"label": name} for name in learners]}
    return Record(pd.DataFrame(rows, columns=list(COLUMNS)), {"plan": plan})


def test_means_at_the_largest_budget_and_the_end():
    record = record_of(ROWS)
    assert headline(record) == {
        "CAMS errors": 3.0,
        "CAMS labels": 4.0,
        "best rival errors": 4.5,
        "best rival labels": 4.5,
        "best classifier errors": 4.5,
    }


def test_a_record_without_rivals_tells_what_it_has():
    record = record_of(ROWS[:2])
    assert headline(record) == {"CAMS errors": 3.0, "CAMS labels": 4.0}
