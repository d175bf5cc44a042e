"""Files of arrays: what is read back, how much memory it takes, and in what words a damaged one is refused."""

import io
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cams
from cams.archive import open_archive, read_archive, write_archive

NUMBERS = np.arange(6.0).reshape(2, 3)


def _stored(array: Any, version: tuple[int, int] = (1, 0)) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), version=version)
    return buffer.getvalue()


def _packed(members: dict[str, bytes], comment: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = comment
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _miscounted(content: bytes, comment: bytes = b"") -> bytes:
    """Let the end of a zip file, 22 bytes and a comment, say at its byte 10 that there are nine members."""
    at = len(content) - len(comment) - 22 + 10
    return content[:at] + b"\x09" + content[at + 1 :]


def _flipped(content: bytes) -> bytes:
    """Change the last value of the only array, which is stored as it is."""
    at = content.index(_stored(NUMBERS)) + len(_stored(NUMBERS)) - 1
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


ONE = {"x.npy": _stored(NUMBERS)}
DAMAGED: list[tuple[bytes, str]] = [
    (_miscounted(_packed(ONE)), "its list of arrays is damaged"),
    (_miscounted(_packed(ONE, b"by hand"), b"by hand"), "its list of arrays is damaged"),
    (_packed({**ONE, "readme.txt": b"hello"}), "'readme.txt' is not an array"),
    (_flipped(_packed(ONE)), "array 'x' is truncated or damaged (Bad CRC-32 for file 'x.npy')"),
    (
        _packed({"x.npy": _stored(NUMBERS, version=(3, 0))}),
        "array 'x' is truncated or damaged (version (3, 0) of the .npy format)",
    ),
    (_packed({"x.npy": ONE["x.npy"][:-8]}), "array 'x' says it is float64 (2, 3), but has 40 bytes"),
    (_packed({"y.npy": ONE["x.npy"]}), "there is no array 'x'"),
]


@pytest.mark.parametrize(("content", "sentence"), DAMAGED)
def test_a_damaged_file_is_refused_in_these_words(content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(cams.InputError) as caught, open_archive(tmp_path / "a.npz") as archive:
        archive.read("x")
    assert str(caught.value) == f"{tmp_path / 'a.npz'}: {sentence}"


def test_a_comment_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(_packed(ONE, b"by hand"))
    np.testing.assert_array_equal(read_archive(tmp_path / "a.npz")["x"], NUMBERS)


def _in_single(_: Any) -> type:
    return np.float32


@pytest.mark.parametrize("kept", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("shape", [(), (4,), (4, 3), (3, 0, 2), (0, 2)])
def test_rows_are_read_in_their_working_precision(shape: Any, kept: Callable[..., Any], tmp_path: Path) -> None:
    given = np.arange(np.prod(shape), dtype=np.float16).reshape(shape)
    np.savez(tmp_path / "a.npz", x=kept(given) if shape else given)
    with open_archive(tmp_path / "a.npz") as archive:
        read = archive.read_rows("x", _in_single)
    assert read.dtype == np.float32
    assert read.flags.c_contiguous
    np.testing.assert_array_equal(read.reshape(shape), given)


def test_rows_of_text_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.array(["0.5"]))
    with pytest.raises(cams.InputError) as caught, open_archive(tmp_path / "a.npz") as archive:
        archive.read_rows("x", _in_single)
    assert str(caught.value) == f"{tmp_path / 'a.npz'}: array 'x' has type <U3, expected real numbers"


def test_rows_need_no_second_copy(tmp_path: Path) -> None:
    """8 MB on disk make 16 MB in memory; all at once they would need 24."""
    np.savez(tmp_path / "a.npz", x=np.zeros((2000, 2000), dtype=np.float16))
    with open_archive(tmp_path / "a.npz") as archive:
        tracemalloc.start()
        archive.read_rows("x", _in_single)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 19_000_000


def test_how_an_array_lies_in_memory_changes_no_byte(tmp_path: Path) -> None:
    write_archive(tmp_path / "rows.npz", {"x": NUMBERS})
    write_archive(tmp_path / "columns.npz", {"x": np.asfortranarray(NUMBERS)})
    assert (tmp_path / "rows.npz").read_bytes() == (tmp_path / "columns.npz").read_bytes()
