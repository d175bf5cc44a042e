"""Statistics against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.statistics.bands import (
    band,
    budget_grid,
    round_grid,
)


def test_band_of_four_values() -> None:
    # mean 5, s = sqrt(20/3), standard error sqrt(20/3)/2 = 1.29099, t(0.95; 3) = 2.353363
    mean, low, high = band([2, 4, 6, 8])
    assert mean == 5
    assert high - mean == pytest.approx(2.353363 * 1.290994, rel=1e-6)
    assert mean - low == pytest.approx(high - mean)
    # t(0.75; 3) = 0.764892
    assert band([2, 4, 6, 8], confidence=0.5).high - mean == pytest.approx(0.764892 * 1.290994, rel=1e-6)


def test_band_keeps_other_axes() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    assert band(values).mean.shape == (2, 3)
    assert np.array_equal(band(values).mean, values.mean(axis=-1))


def test_band_of_one_realization_is_the_value() -> None:
    assert band([[7.0]]) == ([7.0], [7.0], [7.0])


def test_band_covers_the_mean_nine_times_in_ten() -> None:
    draws = np.random.default_rng(0).exponential(size=(4000, 50))
    _, low, high = band(draws)
    assert np.mean((low <= 1) & (high >= 1)) == pytest.approx(0.9, abs=0.025)


def test_budget_grid_is_dense_at_the_start_and_ends_at_the_budget() -> None:
    assert budget_grid(100, 5) == [0, 4, 16, 36, 64, 100]
    assert budget_grid(3, 25) == [0, 1, 2, 3]
    assert budget_grid(7, 1) == [0, 7]
    assert round_grid(100, 4) == [6, 25, 56, 100]
    assert (round_grid(80, 40)[0], round_grid(80, 40)[-1]) == (1, 80)
