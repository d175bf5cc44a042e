"""The questions that a record answers, on a table small enough to check by hand."""

from __future__ import annotations

import pandas as pd
import pytest

import cams
from experiments.records.columns import COLUMNS
from experiments.records.record import Record

ROWS = [
    # case, series, kind, budget, realization, round, loss, queries
    ("", "cams", "learner", 0, 0, 10, 9, 0),
    ("", "cams", "learner", 0, 1, 10, 8, 0),
    ("", "cams", "learner", 5, 0, 10, 4, 5),
    ("", "cams", "learner", 5, 1, 10, 2, 3),
    ("", "cams", "learner", 5, 0, 6, 3, 4),
    ("", "cams", "learner", 5, 1, 6, 2, 3),
    ("", "worse", "classifier", 0, 0, 10, 6, 0),
    ("", "worse", "classifier", 0, 1, 10, 5, 0),
    ("", "better", "classifier", 0, 0, 10, 3, 0),
    ("", "better", "classifier", 0, 1, 10, 7, 0),
    ("", "best_classifier", "best_classifier", 0, 0, 6, 2, 0),
    ("", "best_classifier", "best_classifier", 0, 1, 6, 1, 0),
    ("", "best_classifier", "best_classifier", 0, 0, 10, 3, 0),
    ("", "best_classifier", "best_classifier", 0, 1, 10, 5, 0),
]
PLAN = {
    "experiment": "small",
    "dataset": "made up",
    "horizon": 10,
    "learners": [{"label": "cams"}],
    "cases": [{"label": ""}],
    "trace_rounds": [6, 10],
    "trace_budgets": [5],
}


@pytest.fixture
def record() -> Record:
    return Record(pd.DataFrame(ROWS, columns=list(COLUMNS)), {"plan": PLAN})


def test_runs_errors_and_labels(record: Record) -> None:
    queries, loss = record.runs("cams")
    assert queries.tolist() == [[0, 0], [5, 3]]
    assert loss.tolist() == [[9, 8], [4, 2]]
    assert record.errors("cams").tolist() == [4, 2]
    assert record.labels("cams").tolist() == [5, 3]
    assert record.budgets("cams") == [0, 5]


def test_references_come_best_first(record: Record) -> None:
    errors = record.references(["classifier"])
    assert list(errors.index) == ["better", "worse"]
    assert errors.loc["better"].tolist() == [3, 7]


def test_final_rows(record: Record) -> None:
    assert len(record.final()) == 10
    assert set(record.final(["classifier"])["series"]) == {"worse", "better"}
    assert record.at_full_budget()["loss"].tolist() == [4, 2]


def test_courses(record: Record) -> None:
    assert record.course("cams", "queries").to_numpy().tolist() == [[4, 3], [5, 3]]
    # The nearest recorded budget stands for one that is not.
    assert record.course("cams", "loss", budget=400).index.tolist() == [6, 10]
    assert record.best_classifier_course().to_numpy().tolist() == [[2, 1], [3, 5]]


def test_what_is_not_there_is_named(record: Record) -> None:
    with pytest.raises(cams.InputError, match="no rows of mp"):
        record.runs("mp")
    with pytest.raises(cams.InputError, match="no rows of malicious or random"):
        record.references(["malicious", "random"])
