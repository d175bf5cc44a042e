"""Damaged and altered bundles: only `InputError`, in one line that names the file, or the bundle as it was written."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cams
from cams.compact import DenseRewards, HeadRewards, Recipe, save_compact
from tests.fuzzing import examples

SEED = 0
N, S, K, C = 12, 2, 3, 4
RECIPES = [
    Recipe("trained", "normal", "stored:0"),
    Recipe("worst", "malicious", "opposite:1"),
    Recipe("noise", "random", "random:17"),
]


def _write(form: str, path: Path) -> None:
    rng = np.random.default_rng(SEED)
    pool: dict[str, Any] = {"predictions": rng.integers(0, C, (N, K)), "labels": rng.integers(0, C, N)}
    if form == "plain":
        advice = rng.dirichlet(np.ones(K), (N, S))
        cams.Bundle(**pool, advice=advice, num_classes=C, groups=np.arange(N)).save(path)
        return
    heads = HeadRewards(rng.integers(-9, 9, (N, S, 2)).astype(np.int8), np.ones(S), np.ones((S, 2, K)), np.ones((S, K)))
    rewards = heads if form == "heads" else DenseRewards(rng.random((N, S, K)).astype(np.float16))
    names = [f"model {j}" for j in range(K)]
    save_compact(
        path, **pool, rewards=rewards, sharpness=4.0, policies=RECIPES, num_classes=C, model_names=names
    )  # fmt: skip


FORMS = ("plain", "dense", "heads")
forms, places = st.sampled_from(FORMS), st.floats(0, 1)


@pytest.fixture(scope="module")
def written(tmp_path_factory: Any) -> dict[str, tuple[bytes, cams.Bundle]]:
    found = {}
    for form in FORMS:
        path = tmp_path_factory.mktemp("written") / f"{form}.npz"
        _write(form, path)
        found[form] = path.read_bytes(), cams.Bundle.load(path)
    return found


def _load(content: bytes, path: Path) -> cams.Bundle | None:
    """Return the bundle of these bytes, or None if they are refused as they should be."""
    path.write_bytes(content)
    try:
        return cams.Bundle.load(path)
    except cams.InputError as error:
        said = str(error)
    assert str(path) in said
    assert "\n" not in said
    return None


def _assert_same(one: cams.Bundle, other: cams.Bundle) -> None:
    for name in ("predictions", "labels", "advice", "groups"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("num_classes", "model_names", "policy_names", "policy_kinds"):
        assert getattr(one, name) == getattr(other, name)


@examples(150)
@given(form=forms, flips=st.lists(st.tuples(places, st.integers(0, 7)), min_size=1, max_size=3))
def test_bits_that_flipped(written: Any, form: str, flips: list[tuple[float, int]], tmp_path: Path) -> None:
    content, bundle = written[form]
    damaged = bytearray(content)
    for place, bit in flips:
        damaged[int(place * (len(damaged) - 1))] ^= 1 << bit
    if (loaded := _load(bytes(damaged), tmp_path / "b.npz")) is not None:
        _assert_same(loaded, bundle)


@examples(50)
@given(
    form=forms,
    start=places,
    stop=places,
    filling=st.sampled_from([b"", b"\0", b"P"]),
)
def test_parts_that_are_gone(
    written: Any, form: str, start: float, stop: float, filling: bytes, tmp_path: Path
) -> None:
    content, bundle = written[form]
    first, last = sorted(int(place * len(content)) for place in (start, stop))
    damaged = content[:first] + filling * (last - first) + content[last:]
    if (loaded := _load(damaged, tmp_path / "b.npz")) is not None:
        _assert_same(loaded, bundle)


# ---- archives that are whole, with arrays that are not what they should be ----


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


LENGTHS = st.sampled_from([-1, 0, 1, 2, 3, N, 2**31, 2**40, 2**63, 10**30])
KINDS = ["<f2", ">f4", "<f8", "|u1", "<i8", "|b1", "<U3", "|O", "|V2", "<M8[s]", "<c8", "3i4", "nonsense"]


@st.composite
def headers(draw: Any) -> bytes:
    """The first bytes of an array that claims a shape and a type; some are no header at all."""
    shape = tuple(draw(st.lists(LENGTHS, max_size=4)))
    text = repr({"descr": draw(st.sampled_from(KINDS)), "fortran_order": draw(st.booleans()), "shape": shape})
    text = draw(st.sampled_from([text, text, text, text[:-3], text.replace("shape", "form"), "(" * 80, "[1", "\n  x"]))
    version = draw(st.sampled_from([(1, 0), (1, 0), (2, 0), (3, 0), (9, 9)]))
    length = len(text).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + text.encode()


@examples(150)
@given(form=forms, which=st.integers(0, 20), header=headers())
def test_headers_that_claim_something_else(written: Any, form: str, which: int, header: bytes, tmp_path: Path) -> None:
    members = _members(written[form][0])
    name = list(members)[which % len(members)]
    old = members[name]
    members[name] = header + old[10 + int.from_bytes(old[8:10], "little") :]
    _load(_packed(members), tmp_path / "b.npz")


ODD_ARRAYS = [
    *map(np.array, (3, -1, np.nan, "text", b"text", [], [1, 2], ["x"] * K, [[1]] * N, 2**64 - 1)),
    *map(np.array, (["stored:0"] * 3, ["opposite:99"], ["random:" + "9" * 60])),
    *(np.zeros(shape) for shape in ((N, 0), (0, K), (N, 0, K), (0, S, K))),
    *(np.zeros(N, kind) for kind in ("?", "c8", "M8[s]", [("a", int)])),
    *(np.ones((N, S, K)).astype(kind) for kind in ("f2", "f4", "f8", "i1", "i8", "u8", ">i2", "U5", "S5")),
    np.full(N, np.inf),
]


@examples(150)
@given(form=forms, which=st.integers(0, 20), odd=st.sampled_from(ODD_ARRAYS), drop=st.booleans())
def test_arrays_of_another_kind(written: Any, form: str, which: int, odd: Any, drop: bool, tmp_path: Path) -> None:
    """What loads nevertheless (a bundle without groups, say) keeps every promise of a bundle."""
    members = _members(written[form][0])
    name = list(members)[which % len(members)]
    if drop:
        del members[name]
    else:
        buffer = io.BytesIO()
        np.save(buffer, odd)
        members[name] = buffer.getvalue()
    loaded = _load(_packed(members), tmp_path / "b.npz")
    if loaded is not None:
        rows, k = loaded.predictions.shape
        assert loaded.advice.shape == (rows, len(loaded.policy_names), k)
        assert len(loaded.policy_kinds) == len(loaded.policy_names)
        np.testing.assert_allclose(loaded.advice.sum(axis=2, dtype=float), 1, atol=1e-6)
        for classes in (loaded.predictions, loaded.labels):
            assert classes is None or (classes.min() >= 0 and classes.max() < loaded.num_classes)
