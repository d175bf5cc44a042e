"""Names made by hashing depend on content alone, and a checkpoint is whole or absent."""

import numpy as np
import pytest

from cams import InputError
from cams.archive import read_archive, write_archive
from data_prep.pipeline.checkpoints import Checkpoints
from data_prep.pipeline.hashes import fingerprint


def test_fingerprint_sees_dtype_shape_and_settings():
    x = np.arange(6)
    prints = [fingerprint(x), fingerprint(x.reshape(2, 3)), fingerprint(x.astype(float)), fingerprint(x, {"a": 1})]
    assert len(set(prints)) == 4
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})


def test_a_checkpoint_is_computed_once_per_key(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"x": np.arange(3)}

    kept = Checkpoints(tmp_path)
    for _ in range(2):
        assert kept.arrays("tree", ({"depth": 3}, np.arange(4)), compute)["x"].tolist() == [0, 1, 2]
    assert len(calls) == 1
    kept.arrays("tree", ({"depth": 4}, np.arange(4)), compute)
    assert len(calls) == 2


def test_a_killed_computation_leaves_no_checkpoint(tmp_path):
    def killed():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Checkpoints(tmp_path).arrays("tree", {"depth": 3}, killed)
    assert not list(tmp_path.iterdir())


def test_a_damaged_checkpoint_is_refused_by_name_and_says_what_helps(tmp_path):
    kept = Checkpoints(tmp_path)
    path = kept.path("tree", {"depth": 3})
    path.write_bytes(b"cut")
    with pytest.raises(InputError, match=rf"{path.name} is not a readable .*; delete it, and the stage makes it anew"):
        kept.arrays("tree", {"depth": 3}, dict)


@pytest.mark.parametrize(
    "edited",
    [
        {"x": np.arange(1, 4)},
        {"x": np.arange(2)},
        {"x": np.array(["a", "b", "c"])},
        {"x": np.full(3, np.nan)},
        {"y": np.arange(3)},
        {"x": np.arange(3), "y": np.arange(3)},
        {},
    ],
    ids=str,
)
def test_a_checkpoint_that_somebody_edited_is_refused(edited, tmp_path):
    kept, key = Checkpoints(tmp_path), {"depth": 3}
    made = kept.arrays("tree", key, lambda: {"x": np.arange(3)})
    path = kept.path("tree", key)
    write_archive(path, {"checksum": read_archive(path)["checksum"], **edited})
    with pytest.raises(InputError, match=rf"{path.name}: it is not what the stage wrote; delete it"):
        kept.arrays("tree", key, dict)
    # That of another model under this name is no better; one from before there were checksums is as good as ever.
    kept.arrays("tree", {"depth": 4}, lambda: {"x": np.arange(3)})
    kept.path("tree", {"depth": 4}).rename(path)
    with pytest.raises(InputError, match="it is not what the stage wrote"):
        kept.arrays("tree", key, dict)
    write_archive(path, made)
    assert kept.arrays("tree", key, dict)["x"].tolist() == [0, 1, 2]
