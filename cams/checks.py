"""Checks of numbers and of arrays that hold class numbers; the error names the value and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
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


def number(name: str, value: Any, least: float, most: float = np.inf) -> float:
    """Return a setting as a finite number from `least` to `most`."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise InputError(f"{name} is {value!r}, expected a number")
    try:
        converted = float(value)
    except OverflowError:
        converted = np.inf if value > 0 else -np.inf
    if not (np.isfinite(converted) and least <= converted <= most):
        expected = f"of at least {least:g}" if most == np.inf else f"from {least:g} to {most:g}"
        raise InputError(f"{name} is {converted:g}, expected a number {expected}")
    return converted


def whole_number(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """Return a whole number from `least` to `most`; 10.0 is whole, 10.5 is refused, not cut."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole and not (isinstance(value, float | np.floating) and float(value).is_integer()):
        raise InputError(f"{name} is {value!r}, expected a whole number")
    if not least <= int(value) <= most:
        expected = f"of at least {least}" if int(value) < least else f"from {least} to {most}"
        raise InputError(f"{name} is {int(value)}, expected a whole number {expected}")
    return int(value)


def distinct(what: str, names: Sequence[str]) -> None:
    """Refuse a list in which a name stands twice: nobody could tell the two apart."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{what} has the name '{name}' twice")


def _first(mask: Array) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _position(at: tuple[int, ...]) -> str:
    return ", ".join(map(str, at))
