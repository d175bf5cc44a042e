"""Advice derived from rewards and from other advice, on numbers small enough to check by eye."""

from __future__ import annotations

import numpy as np
import pytest

import cams
from cams.policies import complement, opposite, random_advice, regularize, sharpen, temper

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


def test_the_opposite_puts_the_worst_first():
    # Proportional to 1, 1/2, 1/5.
    assert opposite(REWARDS, 1.0)[0, 0] == pytest.approx([10 / 17, 5 / 17, 2 / 17])


def test_tempered_advice_is_flat_unchanged_squared_or_one_hot():
    advice = np.array([[0.5, 0.25, 0.25], [0.4, 0.4, 0.2]])
    assert temper(advice, 0) == pytest.approx(np.full((2, 3), 1 / 3))
    assert temper(advice, 1) == pytest.approx(advice)
    assert temper(advice, 2) == pytest.approx(np.array([[4 / 6, 1 / 6, 1 / 6], [4 / 9, 4 / 9, 1 / 9]]))
    # Those that tie for the most share it.
    assert temper(advice, np.inf).tolist() == [[1, 0, 0], [0.5, 0.5, 0]]
    # Numbers as small as these would vanish if they were raised before they are compared.
    assert temper(np.array([1e-200, 1e-200, 0]), 2) == pytest.approx([0.5, 0.5, 0])
    assert temper(advice.astype(np.float32), np.inf).dtype == np.float32


def test_random_advice_is_uniform_on_the_simplex_and_the_same_for_ever():
    advice = random_advice(2000, 3, seed=7)
    assert advice.dtype == np.float32
    assert advice.sum(axis=1) == pytest.approx(1, abs=1e-6)
    # Each share of three is Beta(1, 2): mean 1/3, and above 1/2 with probability 1/4.
    assert advice.mean(axis=0) == pytest.approx(1 / 3, abs=0.02)
    assert (advice > 0.5).mean(axis=0) == pytest.approx(1 / 4, abs=0.04)
    uniforms = np.random.default_rng(7).random((2000, 3))
    assert advice[5] == pytest.approx(np.log(1 - uniforms[5]) / np.log(1 - uniforms[5]).sum())


def test_a_name_that_stands_twice_is_refused():
    with pytest.raises(cams.InputError, match=r"'a'.*twice"):
        cams.Bundle(predictions=[[0, 1, 1]], labels=[1], num_classes=2, model_names=["b", "a", "a"])
