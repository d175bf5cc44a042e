"""A bundle refuses what cannot be meant, in one sentence that names the array, the row and the value."""

import pickle
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cams

VOTES = np.array([[0, 1], [2, 1], [1, 1]])
LABELS = np.array([0, 1, 2])
ADVICE = np.array([[[0.5, 0.5]], [[0.25, 0.75]], [[1.0, 0.0]]])


def _bundle(**changes: Any) -> cams.Bundle:
    return cams.Bundle(**{"predictions": VOTES, "labels": LABELS, "advice": ADVICE, **changes})


def _changed(array: Any, at: Any, value: Any) -> Any:
    copy = np.array(array)
    copy[at] = value
    return copy


# ---- from arrays ----


def test_a_bundle_describes_itself() -> None:
    bundle = _bundle()
    assert (bundle.num_rows, bundle.num_models, bundle.num_policies, bundle.num_classes) == (3, 2, 1, 3)
    assert (bundle.model_names, bundle.policy_names) == (["model_0", "model_1"], ["policy_0"])
    assert bundle.policy_kinds == ["normal"]
    assert bundle.predictions.dtype == bundle.labels.dtype == np.int32
    assert repr(bundle) == "Bundle(3 rows, 2 models, 1 policies, 3 classes)"


def test_classes_default_to_one_more_than_the_largest_label_or_prediction() -> None:
    assert _bundle(labels=[0, 1, 4]).num_classes == 5
    assert _bundle(predictions=_changed(VOTES, (0, 0), 7)).num_classes == 8
    assert _bundle(num_classes=20).num_classes == 20


def test_labels_and_advice_may_be_missing() -> None:
    bundle = cams.Bundle(predictions=VOTES)
    assert bundle.labels is None
    assert bundle.advice.shape == (3, 0, 2)


@pytest.mark.parametrize(("given", "kept"), [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i8", "f4"), (">f8", "f8")])
def test_advice_keeps_single_or_double_precision(given: str, kept: str) -> None:
    one_hot = np.eye(2)[[[0], [1], [0]]].astype(given)
    assert _bundle(advice=one_hot).advice.dtype == np.dtype(kept)


def test_rows_that_were_rounded_are_renormalised() -> None:
    bundle = _bundle(advice=_changed(ADVICE, (1, 0), [0.255, 0.75]))  # sums to 1.005
    np.testing.assert_allclose(bundle.advice[1, 0], [0.255 / 1.005, 0.75 / 1.005], rtol=1e-15)
    np.testing.assert_array_equal(bundle.advice[0, 0], [0.5, 0.5])


def test_sums_are_taken_in_double_precision_whatever_the_advice_is_kept_in() -> None:
    advice = (1.001 * np.random.default_rng(0).dirichlet(np.ones(40), (30, 1))).astype(np.float32)
    exact = advice.astype(np.float64)
    divided = (exact / exact.sum(axis=2, keepdims=True)).astype(np.float32)
    bundle = cams.Bundle(predictions=np.zeros((30, 40), int), advice=advice, num_classes=2)
    np.testing.assert_array_equal(bundle.advice, divided)


class _ArrayLike:
    """A tensor of another library: not a numpy array, but it lends its memory."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


@pytest.mark.parametrize("wrap", [np.asarray, _ArrayLike])
def test_the_callers_advice_is_never_modified(wrap: Any) -> None:
    advice = _changed(ADVICE, (1, 0), [0.255, 0.75]).astype(np.float32)
    before = advice.copy()
    assert _bundle(advice=wrap(advice)).advice[1, 0].sum() == pytest.approx(1)
    np.testing.assert_array_equal(advice, before)


def test_a_fault_beyond_the_first_block_is_named_by_its_row() -> None:
    advice = np.full((1000, 2, 2), 0.5, dtype=np.float32)
    advice[777, 1] = [0.9, 0.9]
    with pytest.raises(cams.InputError, match=r"advice\[777, 1\] sums to 1.8"):
        cams.Bundle(predictions=np.zeros((1000, 2), int), advice=advice)


# ---- files ----


@pytest.fixture
def full() -> cams.Bundle:
    rng = np.random.default_rng(0)
    return cams.Bundle(
        predictions=rng.integers(0, 5, (40, 3)),
        labels=rng.integers(0, 5, 40),
        advice=rng.dirichlet(np.ones(3), (40, 4)),
        num_classes=6,
        model_names=["tree", "knn", "réseau"],
        policy_names=["a", "b", "c", "d"],
        policy_kinds=["normal", "malicious", "random", "biased"],
        groups=rng.integers(0, 3, 40),
    )


def _assert_same(one: cams.Bundle, other: cams.Bundle) -> None:
    for name in ("predictions", "labels", "advice", "groups"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("num_classes", "model_names", "policy_names", "policy_kinds"):
        assert getattr(one, name) == getattr(other, name)


def test_saved_and_loaded_is_the_same(full: cams.Bundle, tmp_path: Path) -> None:
    full.save(tmp_path / "new" / "b.npz")
    _assert_same(cams.Bundle.load(tmp_path / "new" / "b.npz"), full)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["b.npz"]


def test_a_bundle_without_labels_or_policies_survives_the_disk(tmp_path: Path) -> None:
    cams.Bundle(predictions=VOTES).save(tmp_path / "b.npz")
    loaded = cams.Bundle.load(tmp_path / "b.npz")
    assert (loaded.labels, loaded.groups, loaded.num_policies) == (None, None, 0)


def test_equal_bundles_make_equal_files(full: cams.Bundle, tmp_path: Path) -> None:
    full.save(tmp_path / "a.npz")
    full.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
def test_a_file_made_by_hand_is_read(save: Any, dtype: str, tmp_path: Path) -> None:
    advice = np.random.default_rng(1).dirichlet(np.ones(2), (3, 5)).astype(dtype)
    save(tmp_path / "b.npz", predictions=VOTES.astype("i8"), labels=LABELS.astype("u1"), advice=advice)
    loaded = cams.Bundle.load(tmp_path / "b.npz")
    np.testing.assert_allclose(loaded.advice, advice.astype(float), atol=1e-3)
    np.testing.assert_allclose(loaded.advice.sum(axis=2, dtype=float), 1, atol=5e-7)
    assert loaded.num_classes == 3


def test_advice_in_column_order_is_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", predictions=VOTES, labels=LABELS, advice=np.asfortranarray(ADVICE))
    np.testing.assert_array_equal(cams.Bundle.load(tmp_path / "b.npz").advice, ADVICE)


def _refusal(path: Path) -> str:
    with pytest.raises(cams.InputError) as caught:
        cams.Bundle.load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_a_fault_in_a_file_names_the_file_and_the_row(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", predictions=VOTES, labels=LABELS, advice=ADVICE * 0.93, policy_names=["knn"])
    assert _refusal(tmp_path / "b.npz").endswith("advice[0, 0] sums to 0.93, expected 1 (policy 'knn')")


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    assert "no file" in _refusal(tmp_path / "nowhere.npz")
    assert "not a readable .npz" in _refusal(tmp_path)


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps({"predictions": VOTES})])
def test_a_pickle_or_something_else_is_refused_unopened(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "b.npz").write_bytes(content)
    assert "not a readable .npz" in _refusal(tmp_path / "b.npz")


def test_a_single_array_is_not_a_bundle(tmp_path: Path) -> None:
    np.save(tmp_path / "b.npy", VOTES)
    assert "not a readable .npz" in _refusal(tmp_path / "b.npy")


def test_another_npz_is_not_a_bundle(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", something=VOTES)
    assert "this is not a bundle, it has no array 'predictions'" in _refusal(tmp_path / "b.npz")


class _Trap:
    """Unpickling this would run code."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("a pickle was opened",))


@pytest.mark.parametrize("name", ["predictions", "labels", "advice", "model_names", "policy_names", "groups"])
def test_object_arrays_are_refused_unopened(name: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"predictions": VOTES, "labels": LABELS, "advice": ADVICE}
    arrays[name] = np.array([_Trap(), None], dtype=object)
    np.savez(tmp_path / "b.npz", **arrays)
    assert f"'{name}'" in _refusal(tmp_path / "b.npz")


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.6, 0.9, 0.99, 0.999])
def test_a_truncated_file_is_refused(full: cams.Bundle, keep: float, tmp_path: Path) -> None:
    full.save(tmp_path / "b.npz")
    content = (tmp_path / "b.npz").read_bytes()
    (tmp_path / "b.npz").write_bytes(content[: int(keep * len(content))])
    assert "not a readable .npz" in _refusal(tmp_path / "b.npz")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("name", ["predictions", "advice"])
def test_damage_inside_the_file_is_noticed(save: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "b.npz"
    rng = np.random.default_rng(0)
    save(path, predictions=rng.integers(0, 9, (500, 2)), advice=rng.dirichlet(np.ones(2), (500, 3)))
    with zipfile.ZipFile(path) as archive:
        offset = archive.getinfo(f"{name}.npy").header_offset
    content = bytearray(path.read_bytes())
    for position in range(offset + 400, offset + 460):
        content[position] ^= 0xFF
    path.write_bytes(content)
    assert f"'{name}'" in _refusal(path)


def test_an_array_shorter_than_its_header_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.npz"
    np.savez(path, predictions=VOTES, labels=LABELS)
    np.save(tmp_path / "advice.npy", ADVICE)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("advice.npy", (tmp_path / "advice.npy").read_bytes()[:-8])
    assert "array 'advice' says it is float64 (3, 1, 2), but has 40 bytes" in _refusal(path)


def test_an_array_without_a_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.npz"
    np.savez(path, predictions=VOTES, labels=LABELS)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("advice.npy", b"nothing of the kind")
    assert "'advice'" in _refusal(path)


@pytest.mark.parametrize(
    "odd", [{"num_classes": np.array([3, 4])}, {"num_classes": np.array("three")}, {"model_names": np.array("one")}]
)
def test_metadata_of_an_odd_shape_is_refused(odd: dict[str, Any], tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", predictions=VOTES, labels=LABELS, **odd)
    assert next(iter(odd)) in _refusal(tmp_path / "b.npz")


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(full: cams.Bundle, tmp_path: Path) -> None:
    full.save(tmp_path / "b.npz")
    before = (tmp_path / "b.npz").read_bytes()
    full._groups = np.array([object()] * 40)
    with pytest.raises(cams.InputError, match="'groups' has type object"):
        full.save(tmp_path / "b.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["b.npz"]
    assert (tmp_path / "b.npz").read_bytes() == before


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_loading_holds_one_copy_of_the_advice(dtype: Any, tmp_path: Path) -> None:
    shape = (2000, 20, 40)
    advice = np.random.default_rng(0).random(shape, dtype=np.float32)
    advice /= advice.sum(axis=2, keepdims=True)
    np.savez(tmp_path / "b.npz", predictions=np.zeros((2000, 40), np.int32), advice=advice.astype(dtype))
    del advice
    tracemalloc.start()
    bundle = cams.Bundle.load(tmp_path / "b.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert bundle.advice.nbytes == 4 * np.prod(shape)
    assert peak < 1.3 * bundle.advice.nbytes


# ---- some of the policies ----


def test_policies_are_selected_by_kind_or_position(full: cams.Bundle) -> None:
    bad = full.select_policies(kinds=("malicious", "random"))
    assert (bad.policy_names, bad.policy_kinds) == (["b", "c"], ["malicious", "random"])
    np.testing.assert_array_equal(bad.advice, full.advice[:, 1:3])
    np.testing.assert_array_equal(full.select_policies(kinds="random").advice, full.advice[:, 2:3])
    swapped = full.select_policies(np.array([3, 0]))
    assert swapped.policy_names == ["d", "a"]
    np.testing.assert_array_equal(swapped.advice, full.advice[:, [3, 0]])
    assert (swapped.num_classes, swapped.model_names) == (full.num_classes, full.model_names)
    np.testing.assert_array_equal(swapped.groups, full.groups)


def test_without_policies(full: cams.Bundle) -> None:
    bare = full.without_policies()
    assert (bare.num_policies, bare.policy_names, bare.num_classes) == (0, [], 6)
    np.testing.assert_array_equal(bare.labels, full.labels)


def test_selections_that_make_no_sense(full: cams.Bundle) -> None:
    with pytest.raises(cams.InputError, match="either positions or kinds"):
        full.select_policies()
    with pytest.raises(cams.InputError, match="there is no kind of policy 'malicous'; did you mean 'malicious'"):
        full.select_policies(kinds=["malicous"])
    with pytest.raises(cams.InputError, match="there is no policy 4, the bundle has 4"):
        full.select_policies([4])
    with pytest.raises(cams.InputError, match=r"^there is no policy -100, the bundle has 4$"):
        full.select_policies([-100])
