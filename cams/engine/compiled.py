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
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

Array = npt.NDArray[Any]

# numba's settings live in a module that it fills while it runs, which no type checker can see.
config: Any = numba.config

F = TypeVar("F", bound=Callable[..., Any])

_HERE = Path(__file__).resolve().parent


def _cache_folder() -> str:
    """Return a folder of its own for every state of these sources.

    numba looks for changes only in the file of the function it compiles, not in those it calls, and would go on using
    a kernel compiled from yesterday's arithmetic.
    """
    digest = hashlib.sha256()
    for source in sorted([*_HERE.glob("*.py"), _HERE.parent / "randomness.py"]):
        digest.update(source.read_bytes())
    name = f"compiled-{digest.hexdigest()[:16]}"
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
    return any(Path(_FOLDER).rglob("*replay_realization*.nbi"))


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


_FOLDER = _cache_folder()


def _decorator(fastmath: set[str]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        usual = config.CACHE_DIR
        config.CACHE_DIR = _FOLDER
        try:
            njit = numba.njit(nogil=True, cache=True, fastmath=fastmath, error_model="numpy")
            return cast(F, njit(function))
        finally:
            config.CACHE_DIR = usual

    return decorate


# Nothing here meets a NaN (bundles are checked), so minima and sums may be reordered.
compiled = _decorator({"reassoc", "contract", "nsz", "nnan"})

# Where the order of operations is the point.
compiled_in_order = _decorator({"contract"})


def instruction(generator: Callable[..., Any]) -> Any:
    """Make a function of compiled code of one that writes that code, instruction by instruction, for given types.

    numba's own decorator, but for its annotations, which do not know that the typing context is not passed.
    """
    return intrinsic(generator)


@instruction
def uncounted(typing_context: Any, array: Any) -> Any:
    """Return the same array without its reference counter.

    Every row that compiled code looks at counts as a reference to its array, which takes time, and threads that share
    the array would wait for one another at its counter. The caller must keep the original alive, and what is returned
    must never leave compiled code.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(array)(context, builder, arguments[0])
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()

    return array(array), generate


def _chooser(operation: str) -> Any:
    """Return the larger or smaller of two numbers of one type as compiled code may vectorise it, unlike max and min."""

    @instruction
    def choose(typing_context: Any, first: Any, second: Any) -> Any:
        if first != second or first not in (types.float32, types.float64):
            raise TypingError(f"expected two numbers of one type, not {first} and {second}")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = arguments[0].type
            function = builder.module.declare_intrinsic(operation, [kind], ir.FunctionType(kind, [kind, kind]))
            return builder.call(function, arguments, fastmath=("nnan", "nsz"))

        return first(first, first), generate

    return choose


larger = _chooser("llvm.maxnum")
smaller = _chooser("llvm.minnum")
