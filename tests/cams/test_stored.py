"""Bundles larger than memory: read part by part, they give what the same rows give in memory, bit for bit."""

import json
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cams
from cams import stored

N, K, POLICIES, C = 300, 4, 3, 3
LEARNERS = ["cams", "cams_adversarial", "mp", "ciwal", "rs", "oracle", ("cams", {"label": "short", "floor": 0.5})]


def _arrays(rows: int = N) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, C, rows)
    predictions = np.where(rng.random((rows, K)) < 0.6, labels[:, None], rng.integers(0, C, (rows, K)))
    advice = rng.dirichlet(np.full(K, 0.5), (rows, POLICIES)).astype(np.float16)
    return {"predictions": predictions.astype(np.uint8), "labels": labels.astype(np.uint8), "advice": advice}


def _write(folder: Path, arrays: dict[str, Any], **facts: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "bundle.json").write_text(json.dumps({"num_classes": C, **facts}))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    return _write(tmp_path_factory.mktemp("stored"), _arrays(), policy_names=["a", "b", "c"])


HOW: dict[str, Any] = {
    "horizon": 250,
    "budgets": [0, 3, 40, 250],
    "realizations": 2,
    "seed": 5,
    "trace": [1, 64, 99, 250],
}


@pytest.mark.parametrize("part_rows", [64, 1000])
@pytest.mark.parametrize("switches", [{}, {"regularize": True}, {"scaled": True}])
def test_the_same_rows_give_the_same_replay(folder: Path, part_rows: int, switches: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(stored, "PART_ROWS", part_rows)
    learners = [name for name in LEARNERS if not (switches.get("scaled") and name == "oracle")]
    apart = cams.replay(cams.StoredBundle(folder), learners, order="stream", **HOW, **switches)
    whole = cams.Bundle(**_arrays(), num_classes=C, policy_names=["a", "b", "c"])
    at_once = cams.replay(whole, learners, order="stream", **HOW, **switches)
    for name in ("loss", "queries", "loss_trace", "queries_trace", "model_loss_trace", "policy_losses", "model_losses"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(at_once, name), err_msg=name)
    assert apart.policy_names == ["a", "b", "c"]
    assert apart.queries.max() > 40


def test_stream_order_is_the_order_of_the_rows() -> None:
    bundle, how = cams.Bundle(**_arrays(), num_classes=C), {**HOW, "horizon": 100, "trace": None}
    rows = np.tile(np.arange(100), (2, 1))
    one, other = (cams.replay(bundle, ["cams"], order=order, **how) for order in ("stream", rows))
    np.testing.assert_array_equal(one.loss, other.loss)


def test_memory_does_not_grow_with_the_stream(tmp_path: Path) -> None:
    peaks = []
    for rows in (20_000, 80_000):
        written = _write(tmp_path / str(rows), _arrays(rows))
        tracemalloc.start()
        bundle = cams.StoredBundle(written)
        cams.replay(bundle, ["cams"], order="stream", horizon=rows, budgets=[50], realizations=1, seed=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_stored_bundle_describes_itself(folder: Path) -> None:
    assert repr(cams.StoredBundle(folder)) == f"StoredBundle(300 rows, 4 models, 3 policies, 3 classes, in {folder})"


def test_parts_lie_row_by_row_in_memory_however_they_were_written(tmp_path: Path) -> None:
    arrays = _arrays()
    kept = cams.StoredBundle(_write(tmp_path / "c", {name: np.asfortranarray(array) for name, array in arrays.items()}))
    part = next(kept.parts(10))
    for name in arrays:
        assert getattr(part, name).flags.c_contiguous
    np.testing.assert_array_equal(part.predictions, arrays["predictions"][:10])
    np.testing.assert_allclose(part.advice, arrays["advice"][:10], atol=2e-3)


def test_learners_without_a_compiled_twin_are_refused(folder: Path, monkeypatch: Any) -> None:
    entry = cams.LEARNERS["cams"]

    class WithoutTwin(entry.factory):  # type: ignore[misc, name-defined]
        def kernel(self) -> None:
            return None

    monkeypatch.setitem(cams.LEARNERS, "cams", replace(entry, factory=WithoutTwin))
    with pytest.raises(cams.InputError) as caught:
        cams.replay(cams.StoredBundle(folder), [{"name": "cams", "label": "mine"}], order="stream", **HOW)
    assert str(caught.value) == "learner 'cams' has no compiled twin, which a stored bundle needs"


def _changed(name: str, at: Any, value: Any) -> dict[str, Any]:
    arrays = _arrays()
    arrays[name][at] = value
    return arrays


class _Trap:
    """What runs somebody else's code where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_nothing_in_a_file_is_run(tmp_path: Path) -> None:
    written = _write(tmp_path / "bundle", _arrays())
    (written / "labels.npy").write_bytes(pickle.dumps(_Trap(tmp_path / "sprung")))
    with pytest.raises(cams.InputError, match=r"labels.npy is no array that can be read"):
        cams.StoredBundle(written)
    assert not (tmp_path / "sprung").exists()


REFUSED = [
    ({**_arrays(), "labels": np.zeros(299, int)}, {}, "labels has 299 rows, expected 300 as in predictions"),
    ({**_arrays(), "advice": np.ones((300, 3, 5))}, {}, "advice has shape (300, 3, 5), expected (300, n, 4) to match"),
    ({**_arrays(), "advice": np.ones((300, 3, 4), "U1")}, {}, "advice has type <U1, expected real numbers"),
    (_changed("predictions", (270, 1), 7), {}, "predictions[256:][14, 1] is 7, expected a class in 0..2"),
    (_changed("labels", 3, 9), {}, "labels[0:][3] is 9, expected a class in 0..2"),
    (_changed("advice", (270, 1), 0.5), {}, "advice[270, 1] sums to 2, expected 1 (policy 'policy_1')"),
    (_arrays(), {"num_classes": None}, "bundle.json: num_classes is None, expected a whole number"),
    (_arrays(), {"policy_names": ["a"]}, "bundle.json: policy_names has 1 names, expected 3"),
    ({**_arrays(), "predictions": np.zeros((0, 4))}, {}, "shape (0, 4), expected at least one row and one model"),
    ({**_arrays(), "predictions": np.zeros((300, 0))}, {}, "shape (300, 0), expected at least one row and one model"),
    ({**_arrays(), "predictions": np.zeros(300, int)}, {}, "predictions has 1 dimension(s), expected 2"),
    ({**_arrays(), "labels": np.full(300, 0.5)}, {}, "labels[0:][0] is 0.5"),
    (_arrays(), {"num_classes": 2**40}, "bundle.json: num_classes is 1099511627776"),
    (_arrays(), {"model_names": ["a"]}, "bundle.json: model_names has 1 names, expected 4"),
    (_arrays(), {"policy_kinds": ["normal"]}, "bundle.json: policy_kinds has 1"),
    (_arrays(), {"titel": 1}, "bundle.json must map model_names, num_classes, policy_kinds, policy_names to values"),
]  # fmt: skip


@pytest.mark.parametrize(("arrays", "facts", "sentence"), REFUSED, ids=[case[2] for case in REFUSED])
def test_what_is_refused(arrays: Any, facts: Any, sentence: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(stored, "PART_ROWS", 64)
    with pytest.raises(cams.InputError) as caught:
        list(cams.StoredBundle(_write(tmp_path / "b", arrays, **facts)).parts(N))
    assert sentence in str(caught.value)
    assert str(tmp_path / "b") in str(caught.value)


def test_facts_are_read_and_may_be_missing(tmp_path: Path) -> None:
    facts = {"model_names": list("wxyz"), "policy_names": list("abc"), "policy_kinds": ["normal", "random", "biased"]}
    bundle = cams.StoredBundle(_write(tmp_path / "named", _arrays(), **facts))
    assert {name: getattr(bundle, name) for name in facts} == facts
    bare = cams.StoredBundle(_write(tmp_path / "bare", _arrays()))
    assert bare.model_names == [f"model_{j}" for j in range(K)]
    assert bare.policy_kinds == ["normal"] * POLICIES
    without = {name: array for name, array in _arrays().items() if name != "advice"}
    alone = cams.StoredBundle(_write(tmp_path / "alone", without))
    assert next(alone.parts(10)).advice.shape == (10, 0, K)
    assert next(alone.parts(10)).advice.dtype == np.float32
    one = cams.StoredBundle(_write(tmp_path / "one", {"predictions": [[0]], "labels": [0]}, num_classes=1))
    assert (one.num_rows, one.num_models, one.num_classes) == (1, 1, 1)


@pytest.mark.usefixtures("plain_ascii")
def test_facts_are_in_utf_8_wherever_they_are_read(tmp_path: Path) -> None:
    written = _write(tmp_path / "b", _arrays())
    (written / "bundle.json").write_text('{"num_classes": 3, "policy_names": ["à", "b", "c"]}', encoding="utf-8")
    assert cams.StoredBundle(written).policy_names == ["à", "b", "c"]


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    folder = _write(tmp_path / "b", _arrays())
    np.save(folder / "labels.npy", np.array([0] * N, dtype=object), allow_pickle=True)
    with pytest.raises(cams.InputError, match=r"labels.npy is no array that can be read .*Python objects"):
        cams.StoredBundle(folder)


@pytest.mark.parametrize("text", ["[1]", "{", "3"])
def test_facts_that_are_no_facts(text: str, tmp_path: Path) -> None:
    folder = _write(tmp_path / "b", _arrays())
    (folder / "bundle.json").write_text(text)
    with pytest.raises(cams.InputError, match=r"bundle.json (must map|cannot be read)"):
        cams.StoredBundle(folder)
    (folder / "bundle.json").unlink()
    with pytest.raises(cams.InputError, match=r"^there is no file .*bundle.json$"):
        cams.StoredBundle(folder)


def test_files_that_are_missing_or_damaged(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(cams.InputError, match=r"^there is no file .*predictions.npy$"):
        cams.StoredBundle(tmp_path)
    damaged = _write(tmp_path / "b", _arrays())
    (damaged / "advice.npy").write_bytes((damaged / "advice.npy").read_bytes()[:-8])
    with pytest.raises(cams.InputError, match=r"advice.npy is no array that can be read"):
        cams.StoredBundle(damaged)


def test_orders_that_cannot_be_meant(folder: Path) -> None:
    with pytest.raises(
        cams.InputError, match=r"^a stored bundle is replayed in the order of its rows: order='stream'$"
    ):
        cams.replay(cams.StoredBundle(folder), ["cams"], **HOW)
    with pytest.raises(cams.InputError, match="order is 'random', expected row numbers or 'stream'"):
        cams.replay(cams.StoredBundle(folder), ["cams"], order="random", **HOW)
    with pytest.raises(cams.InputError, match="horizon is 301, but the bundle has only 300 rows"):
        cams.replay(cams.StoredBundle(folder), ["cams"], order="stream", **{**HOW, "horizon": 301, "trace": None})
