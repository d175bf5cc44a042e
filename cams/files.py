"""Files that are either whole or absent: everything is written under a temporary name, then renamed.

with atomic_path(results / "table.csv") as temporary:
    table.to_csv(temporary)
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cams.errors import InputError

# Of a file or a folder, in bytes, on any file system in use.
LONGEST_NAME = 255


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that a file can have."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InputError(f"the file's name is {path!r}, expected text or a path")
    try:
        longest = max(len(os.fsencode(part)) for part in ("", *Path(path).parts))
    except UnicodeEncodeError:  # half a character
        longest = 0
    if longest > LONGEST_NAME:
        raise InputError(f"{path}: File name too long")
    if not longest or not Path(path).name or "\0" in str(path):
        raise InputError(f"{str(path)!r} is no name of a file")
    return Path(path)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside `path`; on success rename it to `path`, on failure remove it.

    A folder that cannot be written to, or is full, is refused in one sentence; the old file stays.
    """
    # Through a link: renaming would put a file in its place and leave what it points to as it was.
    path = as_path(path)
    path = Path(os.path.realpath(path)) if os.path.islink(path) else path
    # The suffix stays last: numpy and others append their own when they do not find it.
    temporary = path.with_name(f".{path.stem[:100]}.{uuid.uuid4().hex[:12]}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Renaming would put a plain file in the place of a device or a pipe.
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError(f"cannot write {path}: it is no plain file")
        yield temporary
        _put_on_disk(temporary)
        # What only its owner may read stays so.
        if path.is_file():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        # Where not even a look at the file is allowed, nothing was written either.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _put_on_disk(path: Path) -> None:
    """Wait until the disk has a file: renamed before that, it may be empty once the power has failed."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def write_text(path: str | os.PathLike[str], text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    write_text(path, json.dumps(value, indent=1) + "\n")


def visible(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match, sorted; hidden ones were being written when a run was killed, or are an editor's."""
    return [path for path in sorted(folder.glob(pattern)) if not path.name.startswith(".")]


def require_writable(folder: str | os.PathLike[str]) -> None:
    """Make a folder and refuse one that takes no file: before a long computation, not after it."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error
