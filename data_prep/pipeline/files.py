"""Files that are either whole or absent: everything is written under a temporary name, then renamed."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; on success rename it to `path`, on failure remove it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays last: numpy and others append their own when they do not find it.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def save_npz(path: Path, **arrays: Any) -> None:
    """Write arrays compressed; anything that would need pickle is refused."""
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    for name, value in plain.items():
        if value.dtype.hasobject:
            raise TypeError(f"{path.name}: array '{name}' has dtype object, which only pickle could store")
    with atomic_path(path) as temporary:
        np.savez_compressed(temporary, **plain)


def load_npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def save_json(path: Path, value: Mapping[str, Any]) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1) + "\n")


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fingerprint(*parts: Any) -> str:
    """Hash arrays (dtype, shape, bytes) and JSON-able settings, so that equal inputs give equal names."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
    return digest.hexdigest()
