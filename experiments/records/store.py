"""Records: what a run computed, one row per value, as parquet that knows which configuration made it.

    results/records/<experiment>/<dataset>/seed<k>.parquet

| column      | meaning                                                                                |
|-------------|----------------------------------------------------------------------------------------|
| case        | label of the case (how the bundle was prepared), empty if the experiment has only one   |
| series      | learner label, classifier name or policy name                                          |
| kind        | learner, classifier, best_classifier, or a policy's kind (normal malicious random biased) |
| budget      | labels the learner may buy; 0 for classifiers and policies                             |
| realization | 0..R-1                                                                                 |
| round       | t at which the values hold; the horizon for final values                               |
| loss        | errors so far                                                                          |
| queries     | labels bought so far                                                                   |

`best_classifier` is the classifier with the least final loss on that realization (the reference of the
relative loss). An experiment that computes in its own way may add columns.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cams.files import atomic_path
from experiments.runner.plan import Plan

COLUMNS = ("case", "series", "kind", "budget", "realization", "round", "loss", "queries")
_DTYPES = {"budget": "int32", "realization": "int16", "round": "int32"}
_META = b"cams"


@dataclass(frozen=True)
class Record:
    """The table of one run and the facts written with it."""

    table: pd.DataFrame
    facts: dict[str, Any]


def record_path(results: str | Path, experiment: str, dataset: str, seed: int) -> Path:
    return Path(results) / "records" / experiment / dataset / f"seed{seed}.parquet"


def write_record(path: Path, table: pd.DataFrame, plan: Plan, bundle: dict[str, Any]) -> None:
    """Write a record in one step: a reader finds the old file or the whole new one."""
    missing = [column for column in COLUMNS if column not in table]
    if missing:
        raise ValueError(f"the records of {plan.experiment} lack the columns {', '.join(missing)}")
    facts = {"hash": plan.digest(), "rows": len(table), "plan": plan.as_dict(), "bundle": bundle}
    arrow = pa.Table.from_pandas(_compact(table), preserve_index=False)
    arrow = arrow.replace_schema_metadata({_META: json.dumps(facts, sort_keys=True, default=list)})
    with atomic_path(path) as temporary:
        pq.write_table(arrow, temporary, compression="zstd", compression_level=15)


def read_record(path: Path) -> Record:
    arrow = pq.read_table(path)
    return Record(arrow.to_pandas(), json.loads((arrow.schema.metadata or {})[_META]))


def read_facts(path: Path) -> dict[str, Any] | None:
    """Return what is written about a record, or None if there is no whole record at that path."""
    try:
        file = pq.ParquetFile(path)
        facts: dict[str, Any] = json.loads((file.schema_arrow.metadata or {})[_META])
    except (OSError, pa.ArrowInvalid, KeyError, ValueError):
        return None
    return facts if file.metadata.num_rows == facts["rows"] else None


def is_current(path: Path, plan: Plan, bundle_digest: str | None) -> bool:
    """Tell whether a record is whole, made by this plan and from this bundle.

    Without a bundle (digest None) a record of the same plan is the best there is, and counts as current.
    """
    facts = read_facts(path)
    if facts is None or facts["hash"] != plan.digest():
        return False
    return bundle_digest is None or facts["bundle"]["digest"] == bundle_digest


def _compact(table: pd.DataFrame) -> pd.DataFrame:
    """Dictionary-encode the names and narrow the integers: a hundred thousand rows fit in some 100 KB."""
    narrow: dict[str, Any] = dict.fromkeys(("case", "series", "kind"), "category") | _DTYPES
    for column in ("loss", "queries"):
        if pd.api.types.is_integer_dtype(table[column]):
            narrow[column] = "int32"
    return table.astype(narrow)
