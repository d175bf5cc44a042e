"""Hashes: what a file or an array is called by its content."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np


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
