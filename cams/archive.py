"""Reading and writing `.npz` files: no pickle, no half-written file, large arrays without a second copy."""

from __future__ import annotations

import lzma
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cams.errors import InputError
from cams.files import as_path, atomic_path

Array = npt.NDArray[Any]

# Small beside any array worth reading in parts, large beside the cost of a read.
_READ_BYTES = 1 << 19


# What reading a damaged file has been seen to raise.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    SyntaxError,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


# The last record of a zip file, which ends in a comment: the number of members is at its byte 10.
_END_OF_ZIP = struct.Struct("<10sH10s")


class Header(NamedTuple):
    """What an array says of itself before its first value."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    in_rows: bool


class Archive:
    """An open `.npz` file."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        if len(file.namelist()) != _count_listed(file):
            raise InputError("its list of arrays is damaged")
        # All of them: a damaged name would otherwise pass for an array that was never there.
        self._headers = {name.removesuffix(".npy"): self._header(name) for name in file.namelist()}

    def names(self) -> set[str]:
        return set(self._headers)

    def shape(self, name: str, expected: tuple[int | None, ...]) -> tuple[int, ...]:
        """Return the shape of an array, or refuse one that differs from the expected; None is any length."""
        found = self._header_of(name).shape
        if len(found) != len(expected) or any(b not in (None, a) for a, b in zip(found, expected, strict=True)):
            wanted = ", ".join("any" if length is None else str(length) for length in expected)
            raise InputError(f"array '{name}' has shape {found}, expected ({wanted})")
        return found

    def read(self, name: str) -> Array:
        """Return one whole array."""
        self._header_of(name)
        with self._member(f"{name}.npy") as member:
            array: Array = np.lib.format.read_array(member, allow_pickle=False)
        return array

    def read_rows(self, name: str, working_dtype: Callable[[np.dtype[Any]], type]) -> Array:
        """Return one array in its working precision, converted block by block while it is read."""
        shape, dtype, in_rows = self._header_of(name)
        if dtype.kind not in "fiu":
            raise InputError(f"array '{name}' has type {dtype}, expected real numbers")
        if not in_rows or not shape:
            return np.ascontiguousarray(self.read(name), dtype=working_dtype(dtype))
        out: Array = np.empty(shape, dtype=working_dtype(dtype))
        row_bytes = dtype.itemsize * math.prod(shape[1:])
        step = max(1, _READ_BYTES // max(1, row_bytes))
        with self._member(f"{name}.npy") as member:
            _read_header(member)
            for start in range(0, shape[0] if row_bytes else 0, step):
                rows = min(step, shape[0] - start)
                block = member.read(rows * row_bytes)
                out[start : start + rows] = np.frombuffer(block, dtype).reshape(rows, *shape[1:])
        return out

    def _header_of(self, name: str) -> Header:
        if name not in self._headers:
            raise InputError(f"there is no array '{name}'")
        return self._headers[name]

    def _header(self, member_name: str) -> Header:
        """Read what an array says of itself, and believe it only if it fits the size of what is stored."""
        name = member_name.removesuffix(".npy")
        if name == member_name:
            raise InputError(f"'{name}' is not an array")
        with self._member(member_name) as member:
            header = _read_header(member)
            given = self._file.getinfo(member_name).file_size - member.tell()
        if header.dtype.hasobject:
            raise InputError(f"array '{name}' has type object, which only pickle could have stored")
        claimed = header.dtype.itemsize * math.prod(header.shape)
        if min(header.shape, default=0) < 0 or claimed != given:
            raise InputError(f"array '{name}' says it is {header.dtype} {header.shape}, but has {given} bytes")
        return header

    @contextmanager
    def _member(self, member_name: str) -> Iterator[IO[bytes]]:
        try:
            with self._file.open(member_name) as member:
                yield member
        except _DAMAGE as error:
            name = member_name.removesuffix(".npy")
            raise InputError(f"array '{name}' is truncated or damaged ({_one_line(error)})") from None


def _count_listed(file: zipfile.ZipFile) -> int:
    """Return how many members the end of the file says there are; `zipfile` itself believes what it finds."""
    end = file.fp
    assert end is not None  # the file is open
    end.seek(-_END_OF_ZIP.size - len(file.comment), os.SEEK_END)
    return int(_END_OF_ZIP.unpack(end.read(_END_OF_ZIP.size))[1])


def _read_header(member: IO[bytes]) -> Header:
    version = np.lib.format.read_magic(member)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the .npy format")
    shape, fortran_order, dtype = _HEADERS[version](member)
    return Header(shape, dtype, not fortran_order)


_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


@contextmanager
def open_archive(path: str | os.PathLike[str]) -> Iterator[Archive]:
    """Open an `.npz` file for reading; whatever is refused while it is open is refused in its name."""
    path = as_path(path)
    # A pipe would be waited for, and a device read without end.
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path} is not a readable .npz file: it is no plain file")
    try:
        file = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except PermissionError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (*_DAMAGE, MemoryError):
        raise InputError(f"{path} is not a readable .npz file (truncated, a pickle, or something else)") from None
    with file:
        try:
            yield Archive(file)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except MemoryError:
            raise InputError(f"{path}: its arrays do not fit into memory") from None


def read_archive(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Return every array of an `.npz` file."""
    with open_archive(path) as archive:
        return {name: archive.read(name) for name in sorted(archive.names())}


def write_archive(path: str | os.PathLike[str], arrays: Mapping[str, npt.ArrayLike]) -> None:
    """Write a compressed `.npz`, whole or not at all; equal arrays make equal bytes. What needs pickle is refused."""
    # In order of their names and row by row in memory, so that nothing depends on how the arrays came about.
    plain: dict[str, Any] = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    for name, array in plain.items():
        if array.dtype.hasobject:
            raise InputError(f"{path}: array '{name}' has type object, which only pickle could store")
    # An open file, because numpy would append `.npz` to a name without it.
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **plain)
