"""Names made by hashing depend on content alone, and a checkpoint is whole or absent."""

import numpy as np
import pytest

from cams import InputError
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
