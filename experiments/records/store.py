"""Records: what a run computed, one row per value, as parquet that knows what it was made from.

    results/records/<experiment>/<dataset>/seed<k>.parquet

Its columns are told in experiments/records/columns.py. The facts in the file's metadata are the plan, the bundle and
the code that made it, and a checksum over all of this and the table.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import cams
from cams.files import atomic_path
from experiments.records.columns import COLUMNS
from experiments.records.record import Record

_DTYPES = {"budget": "int32", "realization": "int16", "round": "int32"}
_META = b"cams"


class Origin(NamedTuple):
    """What a record is made from: the plan as plain values, the hash of its bundle and that of the code.

    A bundle that is not here has no hash (None), and is not compared.
    """

    plan: dict[str, Any]
    bundle: str | None
    code: str


class State(NamedTuple):
    """Whether a record can be believed: `word` is current, stale, damaged or missing, `why` names what changed."""

    word: str
    why: tuple[str, ...] = ()

    @property
    def is_current(self) -> bool:
        return self.word == "current"

    def __str__(self) -> str:
        return f"{self.word} (another {' and '.join(self.why)})" if self.why else self.word


def record_path(results: str | Path, experiment: str, dataset: str, seed: int) -> Path:
    return Path(results) / "records" / experiment / dataset / f"seed{seed}.parquet"


def write_record(path: Path, table: pd.DataFrame, origin: Origin, bundle: dict[str, Any]) -> None:
    """Write a record in one step: a reader finds the old file or the whole new one."""
    missing = [column for column in COLUMNS if column not in table]
    if missing:
        raise ValueError(f"the records of {origin.plan['experiment']} lack the columns {', '.join(missing)}")
    table = _compact(table[[*COLUMNS, *(column for column in table if column not in COLUMNS)]])
    facts = _plain({"hash": _plan_hash(origin.plan), "plan": origin.plan, "bundle": bundle, "code": origin.code})
    facts["checksum"] = _checksum(table, facts)
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    arrow = arrow.replace_schema_metadata({_META: json.dumps(facts, sort_keys=True)})
    with atomic_path(path) as temporary:
        pq.write_table(arrow, temporary, compression="zstd", compression_level=15)


def read_record(path: Path) -> Record:
    """Read a whole record; one that is not there, not as it was written or not where it belongs is refused.

    Figures, tables and claims ask for the same records again and again, so a file of the same bytes is parsed once.
    """
    if not path.is_file():
        raise cams.InputError(f"there is no record {path}")
    record = _parse(path.read_bytes())
    if record is None:
        raise cams.InputError(f"the record {path} is damaged")
    plan = record.plan
    own = record_path("", plan["experiment"], plan["dataset"], plan["seed"])
    # A copy would pass for what its place says: another data set's numbers under the name of this one.
    if Path(*path.absolute().parts[-len(own.parts) :]) != own:
        raise cams.InputError(f"the record {path} is damaged: it is {record}, seed {plan['seed']}")
    return record


@lru_cache(maxsize=128)
def _parse(content: bytes) -> Record | None:
    """Return the record in a file's bytes, None if it is not as it was written."""
    try:
        arrow = pq.read_table(pa.BufferReader(content))
        facts = json.loads((arrow.schema.metadata or {})[_META])
        table = arrow.to_pandas()
        whole = facts["checksum"] == _checksum(table, facts)
    # Damaged bytes fail in whatever part of the reader they reach.
    except Exception:
        return None
    return Record(table, facts) if whole else None


def state_of(path: Path, origin: Origin) -> State:
    """Compare a record with what it would be made from now; a folder or a pipe in its place is damage."""
    if not path.exists():
        return State("missing")
    try:
        facts = read_record(path).facts
    except cams.InputError:
        return State("damaged")
    same = {
        "plan": facts["plan"] == _plain(origin.plan),
        "bundle": origin.bundle is None or facts["bundle"]["digest"] == origin.bundle,
        "code": facts["code"] == origin.code,
    }
    changed = tuple(name for name, unchanged in same.items() if not unchanged)
    return State("stale", changed) if changed else State("current")


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return values as JSON gives them back, so that what was read compares with what is about to be written."""
    plain: dict[str, Any] = json.loads(json.dumps(values, default=list))
    return plain


def _plan_hash(plan: dict[str, Any]) -> str:
    """Return a short name for a plan: two records with the same one answer the same question."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True, default=list).encode()).hexdigest()[:16]


def _checksum(table: pd.DataFrame, facts: dict[str, Any]) -> str:
    """Hash the values of a table (not how parquet stores them) and its facts."""
    others = {name: value for name, value in facts.items() if name != "checksum"}
    digest = hashlib.sha256(json.dumps(others, sort_keys=True).encode())
    for name, column in table.items():
        digest.update(str(name).encode())
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, words = pd.factorize(column)
            digest.update("\0".join(map(str, words)).encode())
            digest.update(codes.astype(np.int64).tobytes())
            # No record has an order of words, which would be sorted and compared by it.
            digest.update(b"ordered" if column.cat.ordered else b"")
        else:
            digest.update(np.ascontiguousarray(column.to_numpy()).tobytes())
    return digest.hexdigest()


def _compact(table: pd.DataFrame) -> pd.DataFrame:
    """Dictionary-encode the names and narrow the integers: a hundred thousand rows fit in some 100 KB."""
    narrow: dict[str, Any] = dict.fromkeys(("case", "series", "kind"), "category") | _DTYPES
    for column in ("loss", "queries"):
        if pd.api.types.is_integer_dtype(table[column]):
            narrow[column] = "int32"
    return table.astype(narrow)
