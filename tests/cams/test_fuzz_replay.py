"""Damaged and altered replays that were saved: only `InputError` that names the file, or what the file holds."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cams
from cams.archive import read_archive, write_archive
from tests.cams.three_rows import replay
from tests.fuzzing import examples

NAMES = sorted(field.name for field in fields(cams.Replay))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "replay.npz"
    replay(learners=["cams", "rs"], budgets=[0, 2], trace=[1, 3], realizations=4).save(path)
    return path


def holds_or_says_why_not(path: Path, expected: dict[str, Any]) -> None:
    """Load a replay and save it again as it was, unless loading refuses it by name."""
    try:
        loaded = cams.Replay.load(path)
    except cams.InputError as error:
        if str(path) not in str(error) or "\n" in str(error):
            raise
        return
    loaded.save(path)
    for name, found in read_archive(path).items():
        np.testing.assert_array_equal(found, expected[name], err_msg=name)
    for counts in (loaded.loss, loaded.queries, loaded.model_losses):
        assert 0 <= counts.min() <= counts.max() <= loaded.horizon
    assert len(loaded.summary()) == len(loaded.learners) * len(loaded.budgets) + len(loaded.references)
    assert np.isfinite(loaded.to_frame()["loss"]).all()


@examples(100)
@given(data=st.data())
def test_bits_that_flipped_and_parts_that_are_gone(data: st.DataObject, saved: Path, tmp_path: Path) -> None:
    content = bytearray(saved.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content = content[:place]
    else:
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    (tmp_path / "damaged.npz").write_bytes(content)
    holds_or_says_why_not(tmp_path / "damaged.npz", read_archive(saved))


VALUES = st.sampled_from([-1, 0, 1, 2, 3, 4, 2.5, np.nan, np.inf, 2**40, 2**64 - 1, True, "3", "x", "-1", b"3"])


@examples(100)
@given(data=st.data())
def test_values_of_another_kind(data: st.DataObject, saved: Path, tmp_path: Path) -> None:
    """One value of an array is another, or all of them are, or the array is shorter, deeper or gone."""
    arrays = read_archive(saved)
    name, value = data.draw(st.sampled_from(NAMES)), data.draw(VALUES)
    array = arrays[name]
    how = data.draw(st.sampled_from(["one", "all", "shorter", "deeper", "gone"]))
    if how == "gone":
        del arrays[name]
    elif how == "one" and array.size:
        flat = array.ravel().astype(np.result_type(array, np.asarray(value)))
        flat[data.draw(st.integers(0, array.size - 1))] = value
        arrays[name] = flat.reshape(array.shape)
    elif how == "shorter" and array.ndim:
        arrays[name] = array[1:]
    else:
        arrays[name] = array[None] if how == "deeper" else np.full(array.shape, value)
    write_archive(tmp_path / "edited.npz", arrays)
    holds_or_says_why_not(tmp_path / "edited.npz", arrays)
