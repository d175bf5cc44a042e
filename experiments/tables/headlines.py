"""A handful of numbers per data set, for `dvc metrics show`: results/headlines/<dataset>.json.

Means over realizations at the largest budget of the main comparison; the best rival is the baseline with fewest errors.
"""

from __future__ import annotations

from pathlib import Path

from cams.files import write_json
from experiments.records.store import Record

RIVALS = ("rs", "qbc", "iwal", "mp", "cqbc", "ciwal")


def headline(record: Record) -> dict[str, float]:
    """Return errors and labels of CAMS and of its best rival, and the errors of the best classifier in hindsight."""
    final = record.table[record.table["round"] == record.facts["plan"]["horizon"]]
    learners = final[(final["kind"] == "learner") & (final["budget"] == final["budget"].max())]
    means = learners.groupby("series", observed=True)[["loss", "queries"]].mean()
    rivals = means[means.index.isin(RIVALS)]
    numbers = {"CAMS errors": means["loss"]["cams"], "CAMS labels": means["queries"]["cams"]}
    if len(rivals):
        best = rivals.loc[rivals["loss"].idxmin()]
        numbers |= {"best rival errors": best["loss"], "best rival labels": best["queries"]}
    classifiers = final[final["kind"] == "classifier"]
    if len(classifiers):
        least = classifiers.groupby("realization", observed=True)["loss"].min()
        numbers["best classifier errors"] = least.mean()
    return {name: round(float(value), 1) for name, value in numbers.items()}


def write_headline(record: Record, results: Path, dataset: str) -> None:
    write_json(results / "headlines" / f"{dataset}.json", headline(record))
