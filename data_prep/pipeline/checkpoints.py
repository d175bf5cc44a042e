"""What a killed stage had finished: one file per model, named by a hash of all that determines it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cams.archive import read_archive, write_archive
from cams.errors import InputError
from data_prep.pipeline.hashes import fingerprint

Arrays = dict[str, np.ndarray]
CHECKSUM = "checksum"
# Of a damaged checkpoint, which a stage would find again and again.
DELETE = "delete it, and the stage makes it anew"


@dataclass(frozen=True)
class Checkpoints:
    """A folder of finished models. It lies outside the stages' outputs, which DVC deletes before a run."""

    folder: Path

    def path(self, name: str, key: Any, suffix: str = ".npz") -> Path:
        """Where the model `name` made from `key` (JSON-able settings, or a tuple with arrays) belongs."""
        parts = key if isinstance(key, tuple) else (key,)
        return self.folder / f"{name}-{fingerprint(*parts)[:16]}{suffix}"

    def arrays(self, name: str, key: Any, compute: Callable[[], Arrays]) -> Arrays:
        """The stored arrays of this model, computed and stored first if they are not there yet."""
        path = self.path(name, key)
        if not path.exists():
            made = compute()
            write_archive(path, made | {CHECKSUM: np.array(checksum(path, made))})
        try:
            stored = read_archive(path)
        except InputError as error:
            raise InputError(f"{error}; {DELETE}") from None
        # Those of earlier versions have none.
        written = stored.pop(CHECKSUM, None)
        if written is not None and str(written) != checksum(path, stored):
            raise InputError(f"{path}: it is not what the stage wrote; {DELETE}")
        return stored


def checksum(path: Path, arrays: Arrays) -> str:
    """Hash the arrays of a checkpoint and its name: another one in its place is as wrong as an edited one."""
    return fingerprint(path.name, *(part for name in sorted(arrays) for part in (name, arrays[name])))
