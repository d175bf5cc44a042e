"""Files are whole or absent, and names made by hashing depend on content alone."""

import numpy as np
import pytest

from data_prep.pipeline.checkpoints import Checkpoints
from data_prep.pipeline.files import atomic_path, fingerprint, load_npz, save_json, save_npz


def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "metrics.json"
    save_json(path, {"old": 1})

    def write_half():
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert [file.name for file in tmp_path.iterdir()] == ["metrics.json"]
    assert "old" in path.read_text()


def test_arrays_that_need_pickle_are_refused(tmp_path):
    with pytest.raises(TypeError, match="'bad'"):
        save_npz(tmp_path / "a.npz", bad=np.array([{}], dtype=object))
    assert not list(tmp_path.iterdir())


def test_equal_arrays_make_equal_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        save_npz(tmp_path / name, x=np.arange(3), names=["p", "q"])
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert load_npz(tmp_path / "a.npz")["names"].tolist() == ["p", "q"]


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
