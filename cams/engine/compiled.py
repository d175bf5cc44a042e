"""How this package compiles: cached on disk, without the interpreter lock, sums free to run in vector registers."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy.typing as npt

Array = npt.NDArray[Any]

# numba's settings live in a module that it fills while it runs, which no type checker can see.
config: Any = numba.config

F = TypeVar("F", bound=Callable[..., Any])

_HERE = Path(__file__).resolve().parent

# The releases of numba whose internals this package was tested with: from this one, and before that one. With any other
# (pyproject.toml asks for none), or with CAMS_PLAIN_LOOPS=1 in the environment, it does without them: slower, with
# the same decisions.
TESTED_FROM, TESTED_BEFORE = (0, 61), (0, 69)


def tested_with(version: str) -> bool:
    """Say whether the internals of a release of numba may be relied on."""
    release = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return TESTED_FROM <= release < TESTED_BEFORE


_ASKED_FOR = os.environ.get("CAMS_PLAIN_LOOPS", "0") not in ("", "0")
PLAIN_LOOPS = _ASKED_FOR or bool(config.DISABLE_JIT) or not tested_with(numba.__version__)


def _cache_folder() -> str:
    """Return a folder of its own for every state of these sources.

    numba looks for changes only in the file of the function it compiles, not in those it calls, and would go on using
    a kernel compiled from yesterday's arithmetic.
    """
    digest = hashlib.sha256()
    for source in sorted([*_HERE.glob("*.py"), _HERE.parent / "randomness.py"]):
        digest.update(source.read_bytes())
    name = f"compiled-{digest.hexdigest()[:16]}{'-plain' if PLAIN_LOOPS else ''}"
    # The temporary folder is everybody's, and a cache is code that will be run: only one's own will do.
    for root in (_HERE / "__pycache__", Path("~/.cache/cams"), Path(tempfile.gettempdir()) / f"cams-{_user()}"):
        try:
            folder = root.expanduser() / name
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except (OSError, RuntimeError):
            continue
        if os.access(folder, os.W_OK) and folder.stat().st_uid == _user():
            return str(folder)
    return ""


def is_compiled() -> bool:
    """Say whether the engine has been compiled before, which takes half a minute or so."""
    return any(Path(_FOLDER).rglob("*play_rounds*.nbi"))


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


_FOLDER = _cache_folder()


def _decorator(fastmath: set[str], *, counts_references: bool = False, inlined: bool = False) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        usual = config.CACHE_DIR
        config.CACHE_DIR = _FOLDER
        try:
            internals: Any = {} if PLAIN_LOOPS else {"_nrt": counts_references}
            njit: Any = numba.njit(
                nogil=True, cache=True, fastmath=fastmath, error_model="numpy", forceinline=inlined, **internals
            )
            return cast(F, njit(function))
        finally:
            config.CACHE_DIR = usual

    return decorate


# Nothing here meets a NaN (bundles are checked), so minima and sums may be reordered.
_REORDERED = {"reassoc", "contract", "nsz", "nnan"}

# For functions that make no arrays of their own. Counting references to those they are given would take longer than
# many a function, and threads that share an array would wait for one another at its counter.
compiled = _decorator(_REORDERED)

# For steps of a round, which are given the whole game: handing it over would take longer than many a step.
compiled_inline = _decorator(_REORDERED, inlined=True)

# For functions that make arrays.
compiled_making_arrays = _decorator(_REORDERED, counts_references=True)

# Where the order of operations is the point.
compiled_in_order = _decorator({"contract"})
