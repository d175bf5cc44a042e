"""Records on disk: read back as written, stale when anything they were made from changed, never believed if damaged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cams
from experiments.records.store import Origin, State, read_record, record_path, state_of, write_record
from tests.fuzzing import examples

ORIGIN = Origin(
    {"experiment": "main", "dataset": "drift", "seed": 0, "horizon": 10, "learners": ("cams",)}, "bundle", "code"
)
TABLE = pd.DataFrame(
    {
        "case": "",
        "series": np.repeat(["cams", "mp"], 50),
        "kind": "learner",
        "budget": np.tile(np.repeat([0, 5], 25), 2),
        "realization": np.tile(np.arange(25), 4),
        "round": 10,
        "loss": np.arange(100) % 9,
        "queries": np.arange(100) % 4,
        "reference": np.linspace(0, 1, 100),
    }
)


def home(results: Path) -> Path:
    return record_path(results, "main", "drift", 0)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = home(tmp_path_factory.mktemp("results"))
    write_record(path, TABLE, ORIGIN, {"digest": "bundle"})
    return path


def test_a_record_comes_back_as_it_was_written(written: Path) -> None:
    record = read_record(written)
    assert record.facts["plan"] == ORIGIN.plan | {"learners": ["cams"]}
    for column in TABLE:
        assert record.table[column].astype(TABLE[column].dtype).tolist() == TABLE[column].tolist()


def test_the_same_values_give_the_same_bytes(written: Path, tmp_path: Path) -> None:
    write_record(tmp_path / "again.parquet", TABLE, ORIGIN, {"digest": "bundle"})
    assert (tmp_path / "again.parquet").read_bytes() == written.read_bytes()


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (ORIGIN, "current"),
        (ORIGIN._replace(bundle=None), "current"),
        (ORIGIN._replace(plan=ORIGIN.plan | {"horizon": 11}), "stale (another plan)"),
        (ORIGIN._replace(bundle="other"), "stale (another bundle)"),
        (ORIGIN._replace(code="other"), "stale (another code)"),
        (ORIGIN._replace(bundle="other", code="other"), "stale (another bundle and code)"),
    ],
)
def test_a_record_is_stale_when_what_made_it_changed(written: Path, now: Origin, state: str) -> None:
    assert str(state_of(written, now)) == state


def test_a_record_that_is_not_there(tmp_path: Path) -> None:
    assert state_of(tmp_path / "none.parquet", ORIGIN) == State("missing")
    with pytest.raises(cams.InputError, match="there is no record"):
        read_record(tmp_path / "none.parquet")


def test_missing_columns_are_a_mistake_of_the_computation(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lack the columns loss"):
        write_record(tmp_path / "bad.parquet", TABLE.drop(columns="loss"), ORIGIN, {})


def test_a_record_without_a_checksum_is_damaged(written: Path, tmp_path: Path) -> None:
    arrow = pq.read_table(written)
    facts = json.loads(arrow.schema.metadata[b"cams"])
    del facts["checksum"]
    facts["rows"] = len(TABLE)
    path = tmp_path / "unsigned.parquet"
    pq.write_table(arrow.replace_schema_metadata({b"cams": json.dumps(facts)}), path)
    with pytest.raises(cams.InputError, match=r"unsigned\.parquet is damaged"):
        read_record(path)
    assert state_of(path, ORIGIN) == State("damaged")


def test_words_that_were_given_an_order_are_damage(written: Path) -> None:
    arrow = pq.read_table(written)
    column = arrow["series"].combine_chunks()
    ordered = pa.DictionaryArray.from_arrays(column.indices, column.dictionary, ordered=True)
    path = home(written.parents[4] / "ordered")
    path.parent.mkdir(parents=True)
    pq.write_table(arrow.set_column(arrow.column_names.index("series"), "series", ordered), path)
    assert pq.read_table(path).to_pandas().series.cat.ordered
    with pytest.raises(cams.InputError, match="is damaged"):
        read_record(path)


@examples(200)
@given(damage=st.data())
def test_fuzz_damaged_records(written: Path, tmp_path: Path, damage: st.DataObject) -> None:
    """Bit flips, cuts and added bytes: the record is read as it was written, or refused."""
    whole = written.read_bytes()
    kind = damage.draw(st.sampled_from(["flip", "cut", "insert"]))
    place = damage.draw(st.integers(0, len(whole) - 1))
    if kind == "flip":
        broken = bytearray(whole)
        broken[place] ^= 1 << damage.draw(st.integers(0, 7))
    elif kind == "cut":
        broken = bytearray(whole[:place])
    else:
        broken = bytearray(whole[:place] + damage.draw(st.binary(min_size=1, max_size=8)) + whole[place:])
    path = home(tmp_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(broken)
    try:
        record = read_record(path)
    except cams.InputError:
        return
    assert record.facts == read_record(written).facts
    assert record.table.equals(read_record(written).table)


def test_a_file_overwritten_is_read_anew(written: Path, tmp_path: Path) -> None:
    """Records of the same bytes are parsed once; other bytes at the same place and of the same length are not them."""
    path = home(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(written.read_bytes())
    assert read_record(path) is read_record(written)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(cams.InputError, match="damaged"):
        read_record(path)


@pytest.mark.parametrize("copy", [("rcl", "drift", 0), ("main", "hiv", 0), ("main", "drift", 1)])
def test_a_copy_does_not_pass_for_what_its_place_says(
    written: Path, tmp_path: Path, copy: tuple[str, str, int]
) -> None:
    path = record_path(tmp_path, *copy)
    path.parent.mkdir(parents=True)
    path.write_bytes(written.read_bytes())
    with pytest.raises(cams.InputError, match="is damaged: it is the record of main on drift, seed 0"):
        read_record(path)
    assert state_of(path, ORIGIN) == State("damaged")
