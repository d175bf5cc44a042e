"""Copies: what a bundle keeps is its own, and what is copied or pickled is as good as what it was made from."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import cams
from tests.cams.three_rows import ADVICE, LABELS, VOTES, bundle, replay


def test_the_callers_arrays_are_not_the_bundles() -> None:
    given = {"predictions": VOTES.astype(np.int32), "labels": LABELS.astype(np.int32), "advice": ADVICE.copy()}
    given["groups"] = np.arange(3)
    made = cams.Bundle(**given)
    for name, array in given.items():
        before = getattr(made, name).copy()
        array[:] = 99
        np.testing.assert_array_equal(getattr(made, name), before)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_of_a_bundle_cannot_be_written_to_either(copied: Any) -> None:
    made = copied(bundle(groups=[1, 2, 3]))
    for name in ("predictions", "labels", "advice", "groups"):
        assert not getattr(made, name).flags.writeable


def test_a_bundle_that_was_replayed_is_so_again_where_memory_is_read_only() -> None:
    """As joblib hands on large arrays to other processes: they are mapped from a file."""
    made, buffers = bundle(), list[pickle.PickleBuffer]()
    expected = replay(bundle=made).loss
    sent = pickle.dumps(made, protocol=5, buffer_callback=buffers.append)
    came = pickle.loads(sent, buffers=[bytes(buffer) for buffer in buffers])
    np.testing.assert_array_equal(replay(bundle=came).loss, expected)


class Mine(cams.Selector):
    """Somebody's own."""


def test_a_copy_of_a_selector_of_ones_own_is_one() -> None:
    assert type(copy.deepcopy(Mine(models=["a"], num_classes=2))) is Mine
