"""Reading and writing `.npz` files: no pickle, no half-written file, large arrays without a second copy."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from cams.errors import InputError
from cams.files import atomic_path

Array = npt.NDArray[Any]

# Small beside any array worth reading in parts, large beside the cost of a read.
_READ_BYTES = 1 << 19


class Archive:
    """An open `.npz` file."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file

    def names(self) -> set[str]:
        return {name.removesuffix(".npy") for name in self._file.namelist() if name.endswith(".npy")}

    def read(self, name: str) -> Array:
        """Return one whole array."""
        with self._member(name) as member:
            try:
                array: Array = np.lib.format.read_array(member, allow_pickle=False)
            except ValueError as error:
                raise InputError(f"array '{name}' cannot be read ({error})") from None
        return array

    def read_rows(self, name: str, working_dtype: Callable[[np.dtype[Any]], type]) -> Array:
        """Return one array in its working precision, converted block by block while it is read."""
        with self._member(name) as member:
            try:
                shape, in_rows, dtype = _header(member)
            except ValueError as error:
                raise InputError(f"array '{name}' cannot be read ({error})") from None
            if not in_rows or dtype.kind not in "fiu" or len(shape) == 0:
                array = self.read(name)
                if array.dtype.kind not in "fiu":
                    raise InputError(f"array '{name}' has type {array.dtype}, expected real numbers")
                return np.ascontiguousarray(array, dtype=working_dtype(array.dtype))
            out: Array = np.empty(shape, dtype=working_dtype(dtype))
            row_bytes = dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64))
            step = max(1, _READ_BYTES // max(1, row_bytes))
            for start in range(0, shape[0] if row_bytes else 0, step):
                rows = min(step, shape[0] - start)
                block = member.read(rows * row_bytes)
                if len(block) != rows * row_bytes:
                    raise InputError(f"array '{name}' is truncated")
                out[start : start + rows] = np.frombuffer(block, dtype).reshape(rows, *shape[1:])
        return out

    @contextmanager
    def _member(self, name: str) -> Iterator[IO[bytes]]:
        try:
            with self._file.open(f"{name}.npy") as member:
                yield member
        except KeyError:
            raise InputError(f"there is no array '{name}'") from None
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise InputError(f"array '{name}' is truncated or damaged ({error})") from None


def _header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(member)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran_order, dtype = read(member)
    return shape, not fortran_order, dtype


@contextmanager
def open_archive(path: str | os.PathLike[str]) -> Iterator[Archive]:
    """Open an `.npz` file for reading; whatever is refused while it is open is refused in its name."""
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as file:
            yield Archive(file)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (zipfile.BadZipFile, IsADirectoryError):
        raise InputError(f"{path} is not a readable .npz file (truncated, a pickle, or something else)") from None


def read_archive(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Return every array of an `.npz` file."""
    with open_archive(path) as archive:
        return {name: archive.read(name) for name in sorted(archive.names())}


def write_archive(path: str | os.PathLike[str], arrays: Mapping[str, npt.ArrayLike]) -> None:
    """Write a compressed `.npz`, whole or not at all; equal arrays make equal bytes. What needs pickle is refused."""
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    for name, array in plain.items():
        if array.dtype.hasobject:
            raise InputError(f"{path}: array '{name}' has type object, which only pickle could store")
    # An open file, because numpy would append `.npz` to a name without it.
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **plain)
