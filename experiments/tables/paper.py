"""What the paper prints, from conf/paper.yaml, checked before it is set beside anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cams
from cams.errors import lookup
from data_prep.pipeline.catalogue import find_entry, read_mapping
from data_prep.pipeline.schema import Complete, Each, Range, check
from data_prep.pipeline.shell import CONF

COUNT = Range(int, 0)
MARKS = Complete(columns=[str], rows=Each([bool]))
PAPER = Complete(
    maximal_queries=Each(Each([COUNT])),
    collections=Each(
        Complete(classes=COUNT, instances=COUNT, pool=COUNT, stream=COUNT, classifiers=COUNT, policies=COUNT)
    ),
    methods=MARKS,
    active_learning=MARKS,
)


def read_paper(path: Path = CONF / "paper.yaml") -> dict[str, Any]:
    """Return the paper's numbers; a file that says something else is refused by its place."""
    paper = read_mapping(path)
    try:
        check(paper, PAPER, "")
        _check_pairs(paper["maximal_queries"])
        for dataset in paper["collections"]:
            find_entry(dataset)
        for name in ("methods", "active_learning"):
            _check_marks(paper[name], name)
    except cams.InputError as error:
        raise cams.InputError(f"{path}: {error}") from None
    return paper


def _check_pairs(rows: dict[str, dict[str, list[int]]]) -> None:
    for learner, by_dataset in rows.items():
        lookup(cams.LEARNERS, learner, "learner")
        for dataset, pair in by_dataset.items():
            find_entry(dataset)
            _check_length(pair, 2, f"maximal_queries.{learner}.{dataset}")


def _check_marks(table: dict[str, Any], name: str) -> None:
    for method, row in table["rows"].items():
        _check_length(row, len(table["columns"]), f"{name}.rows.{method}")


def _check_length(values: list[Any], length: int, where: str) -> None:
    if len(values) != length:
        raise cams.InputError(f"{where} is {values}, expected {length} values")
