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
            write_archive(path, compute())
        try:
            return read_archive(path)
        except InputError as error:
            raise InputError(f"{error}; {DELETE}") from None
