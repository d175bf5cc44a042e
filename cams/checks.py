"""Checks of numbers and of arrays that hold class numbers; the error names the value and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from cams.errors import InputError

Array = npt.NDArray[Any]


# Classes are counted in 32 bits; a number beyond that is an id of something, not a class.
MOST_CLASSES = 2**31 - 1


def as_array(name: str, values: npt.ArrayLike) -> Array:
    """Return values as an array, without a copy where they are one."""
    if _is_masked(values):
        raise InputError(f"{name} has masked entries, expected a value in each")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} is not an array: its rows differ in length or it holds no numbers") from None
    except (TypeError, RuntimeError) as error:  # tensors that numpy cannot read
        raise InputError(f"{name} is not an array: {' '.join(str(error).split())}") from None
    # A set, a generator or a sparse matrix: numpy takes the whole of it for one value.
    if array.ndim == 0 and array.dtype.kind == "O" and values is not None:
        raise InputError(f"{name} is a {type(values).__name__}, expected a list or an array")
    return _plain_numbers(array) if array.dtype.kind == "O" else array


def _is_masked(values: npt.ArrayLike) -> bool:
    """Say whether an array has a mask, or one in a list of them; pandas' arrays call their gaps a mask as well."""
    if isinstance(values, list | tuple) and values and isinstance(values[0], np.ndarray):
        return any(_is_masked(value) for value in values)
    return isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values)


def _plain_numbers(array: Array) -> Array:
    """Return objects that are all numbers, as some tables hold them, as numpy's own; others as they are."""
    kinds = {type(value) for value in array.flat}
    if not kinds or not all(
        issubclass(kind, int | float | np.integer | np.floating) and kind is not bool for kind in kinds
    ):
        return array
    try:
        return np.array(array.tolist()).reshape(array.shape)
    except OverflowError:
        return array


def is_listed(values: Any) -> TypeGuard[Iterable[Any]]:
    """Say whether values come one after another; those of text do, and of one number in an array they do not."""
    return isinstance(values, Iterable) and getattr(values, "ndim", 1) != 0


def integers(name: str, values: npt.ArrayLike, ndim: int, most: int = 2**63 - 1) -> Array:
    """Return values as an array of whole numbers with `ndim` dimensions; 2.0 is whole, 2.5 is refused, not cut."""
    array = as_array(name, values)
    if array.ndim != ndim:
        raise InputError(f"{name} has {array.ndim} dimension(s), expected {ndim}")
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
        _refuse_first(name, array, ~np.isfinite(array) | (array != np.floor(array)), "a whole number")
    elif array.dtype.kind == "O" and all(type(value) is int for value in array.flat):
        # Numpy keeps whole numbers beyond 64 bits as they are.
        _refuse_first(name, array, abs(array) > most, f"a whole number of at most {most} in size")
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} has type {array.dtype}, expected whole numbers")
    # Before the cast: what does not fit would turn into another number without a word.
    _refuse_first(name, array, array >= most + 1, f"at most {most}")
    return array.astype(np.int64) if array.dtype.kind == "f" else array


def in_range(name: str, array: Array, num_classes: int) -> npt.NDArray[np.int32]:
    """Return class numbers as a new array of int32 after checking that all lie in 0..num_classes-1."""
    _refuse_first(name, array, (array < 0) | (array >= num_classes), f"a class in 0..{num_classes - 1}")
    return np.array(array, dtype=np.int32, order="C")


def read_only(array: Array) -> Array:
    """Return the same numbers where nobody can write to them."""
    shown = array.view()
    shown.flags.writeable = False
    return shown


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


def _refuse_first(name: str, array: Array, wrong: Array, expected: str) -> None:
    """Refuse an array with wrong entries, naming the first of them."""
    if not wrong.any():
        return
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = f"{name}[{', '.join(map(str, at))}]" if at else name
    value = f"{array[at]:g}" if array.dtype.kind == "f" else str(array[at])
    raise InputError(f"{place} is {value}, expected {expected}")
