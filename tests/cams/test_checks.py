"""Checks of numbers: what passes, up to the last value that does, and in what words the next is refused."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import cams
from cams.checks import in_range, integers, number, whole_number

HUGE = 10**400  # larger than any float


def test_whole_floats_become_integers_and_integers_stay_what_they_are() -> None:
    floats = integers("x", [2.0, 5.0], ndim=1, most=5)
    assert floats.dtype == np.int64
    assert floats.tolist() == [2, 5]
    small = np.array([[1, 5]], dtype=np.uint8)
    assert integers("x", small, ndim=2, most=5) is small


def test_classes_lie_row_by_row_in_memory() -> None:
    classes = in_range("x", np.asfortranarray([[0, 1, 2], [2, 1, 0]]), num_classes=3)
    assert classes.flags.c_contiguous
    assert classes.dtype == np.int32
    assert classes.tolist() == [[0, 1, 2], [2, 1, 0]]


def test_both_ends_of_a_range_belong_to_it() -> None:
    assert [number("x", value, 0.5, 2) for value in (0.5, 2)] == [0.5, 2.0]
    assert [whole_number("x", value, 1, 5) for value in (1, 5, 5.0)] == [1, 5, 5]


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (partial(integers, "x", [5, 6], 1, 5), "x[1] is 6, expected at most 5"),
    (partial(integers, "x", [2.0**63], 1), f"x[0] is 9.22337e+18, expected at most {2**63 - 1}"),
    (partial(integers, "x", [[0.0, 0.1 + 0.2]], 2), "x[0, 1] is 0.3, expected a whole number"),
    (partial(integers, "x", 2.5, 0), "x is 2.5, expected a whole number"),
    (partial(in_range, "x", np.array([0, 3]), 3), "x[1] is 3, expected a class in 0..2"),
    (partial(in_range, "x", np.array(-1), 3), "x is -1, expected a class in 0..2"),
    (partial(number, "x", HUGE, 0), "x is inf, expected a number of at least 0"),
    (partial(number, "x", -HUGE, 0, 2), "x is -inf, expected a number from 0 to 2"),
    (partial(number, "x", 2.5, 0, 2), "x is 2.5, expected a number from 0 to 2"),
    (partial(number, "x", True, 0), "x is True, expected a number"),
    (partial(whole_number, "x", 6, 1, 5), "x is 6, expected a whole number from 1 to 5"),
    (partial(whole_number, "x", 0, 1, 5), "x is 0, expected a whole number of at least 1"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_is_refused(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(cams.InputError) as caught:
        call()
    assert str(caught.value) == sentence
