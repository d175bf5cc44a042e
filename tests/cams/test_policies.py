"""Advice derived from rewards and from other advice, on numbers small enough to check by eye."""

from __future__ import annotations

import numpy as np
import pytest

import cams
from cams.policies import complement, regularize, sharpen

REWARDS = np.log([[[1, 2, 5], [1, 1, 2]], [[4, 4, 8], [1, 0.5, 0.5]]])


def test_advice_is_a_distribution_over_the_last_axis():
    expected = [[[1 / 8, 2 / 8, 5 / 8], [1 / 4, 1 / 4, 2 / 4]], [[1 / 4, 1 / 4, 2 / 4], [2 / 4, 1 / 4, 1 / 4]]]
    assert sharpen(REWARDS, 1.0) == pytest.approx(np.array(expected))


def test_a_complement_spreads_what_is_left_over_the_others():
    advice = sharpen(REWARDS, 1.0)
    assert complement(advice)[0, 0] == pytest.approx([7 / 16, 6 / 16, 3 / 16])
    assert complement(advice).sum(axis=-1) == pytest.approx(1)
    assert complement(np.array([[0.9, 0.1]])) == pytest.approx(np.array([[0.1, 0.9]]))
    assert complement(np.array([[1.0]])).tolist() == [[1.0]]


def test_the_surer_a_policy_the_more_it_is_mixed_with_the_uniform_one():
    # eta = (3/4 - 1/2)^2 + (1/4 - 1/2)^2 = 1/8, so (3/4 + 1/8) / (1 + 2/8) = 7/10; an even policy stays as it is.
    advice = np.array([[[3 / 4, 1 / 4], [1 / 2, 1 / 2], [1, 0]], [[0, 1], [1 / 2, 1 / 2], [1 / 4, 3 / 4]]])
    expected = [[[0.7, 0.3], [0.5, 0.5], [0.75, 0.25]], [[0.25, 0.75], [0.5, 0.5], [0.3, 0.7]]]
    assert regularize(advice) == pytest.approx(np.array(expected))


def test_a_name_that_stands_twice_is_refused():
    with pytest.raises(cams.InputError, match=r"'a'.*twice"):
        cams.Bundle(predictions=[[0, 1, 1]], labels=[1], num_classes=2, model_names=["b", "a", "a"])
