"""Checks of arrays that hold class numbers; the error names the array, the position and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cams.errors import InputError

Array = npt.NDArray[Any]


def integers(name: str, values: npt.ArrayLike, ndim: int) -> Array:
    """Return values as an array of whole numbers with `ndim` dimensions."""
    array = np.asarray(values)
    if array.ndim != ndim:
        raise InputError(f"{name} has {array.ndim} dimension(s), expected {ndim}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        at = _first(~np.isfinite(array))
        raise InputError(f"{name}[{_position(at)}] is {array[at]:g}, expected a class number")
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} has type {array.dtype}, expected integers")
    return array


def in_range(name: str, array: Array, num_classes: int) -> npt.NDArray[np.int32]:
    """Return class numbers as int32 after checking that all lie in 0..num_classes-1."""
    outside = (array < 0) | (array >= num_classes)
    if outside.any():
        at = _first(outside)
        raise InputError(f"{name}[{_position(at)}] is {array[at]}, expected a class in 0..{num_classes - 1}")
    return np.ascontiguousarray(array, dtype=np.int32)


def _first(mask: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _position(at: tuple[int, ...]) -> str:
    return ", ".join(map(str, at))
