"""A handful of numbers per data set, for `dvc metrics show`: results/headlines/<dataset>.json.

Means over realizations at the largest budget of the main comparison; the best rival is the baseline with fewest errors.
"""

from __future__ import annotations

from pathlib import Path

from cams.files import write_json
from experiments.records.columns import CLASSIFIER
from experiments.records.record import Record

RIVALS = ("rs", "qbc", "iwal", "mp", "cqbc", "ciwal")


def headline(record: Record) -> dict[str, float]:
    """Return errors and labels of CAMS and of its best rival, and the errors of the best classifier in hindsight."""
    numbers = {"CAMS errors": record.errors("cams").mean(), "CAMS labels": record.labels("cams").mean()}
    rivals = {name: record.errors(name).mean() for name in RIVALS if name in record.learners()}
    if rivals:
        best = min(rivals, key=rivals.__getitem__)
        numbers |= {"best rival errors": rivals[best], "best rival labels": record.labels(best).mean()}
    if not record.final([CLASSIFIER]).empty:
        numbers["best classifier errors"] = record.references([CLASSIFIER]).to_numpy().min(axis=0).mean()
    return {name: round(float(value), 1) for name, value in numbers.items()}


def write_headline(record: Record, results: Path, dataset: str) -> None:
    write_json(results / "headlines" / f"{dataset}.json", headline(record))
