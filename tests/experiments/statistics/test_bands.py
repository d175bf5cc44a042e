"""Statistics against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.statistics.bands import (
    band,
    best_in_hindsight,
    budget_grid,
    cost_to_reach,
    loss_at_cost,
    paired_difference,
    relative_loss,
    round_grid,
)


def test_band_of_four_values() -> None:
    # mean 5, s = sqrt(20/3), standard error sqrt(20/3)/2 = 1.29099, t(0.95; 3) = 2.353363
    mean, low, high = band([2, 4, 6, 8])
    assert mean == 5
    assert high - mean == pytest.approx(2.353363 * 1.290994, rel=1e-6)
    assert mean - low == pytest.approx(high - mean)


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


def test_paired_difference_cancels_what_is_common() -> None:
    shared = np.array([0.0, 100.0, 200.0])
    mean, low, high = paired_difference(shared + 1, shared)
    assert (mean, low, high) == (1, 1, 1)


def test_loss_at_cost_interpolates_each_realization() -> None:
    queries = [[10, 10], [18, 22], [18, 22]]  # mean costs 10, 20, 20: the learner has stopped buying
    loss = [[100, 80], [60, 60], [50, 40]]
    assert np.array_equal(loss_at_cost(queries, loss, [10, 15, 20]), [[100, 80], [80, 70], [60, 60]])


def test_loss_at_cost_is_unknown_outside_what_was_bought() -> None:
    assert np.isnan(loss_at_cost([[10], [20]], [[5], [4]], [9, 21])).all()


def test_cost_to_reach() -> None:
    queries, loss = [[10], [20], [40]], [[100], [60], [50]]
    assert cost_to_reach(queries, loss, 80) == 15
    assert cost_to_reach(queries, loss, 200) == 10
    assert cost_to_reach(queries, loss, 50) == 40
    assert cost_to_reach(queries, loss, 49) == float("inf")


def test_best_in_hindsight_takes_the_first_of_equals() -> None:
    assert best_in_hindsight([[3, 1, 2], [2, 2, 5]]).tolist() == [1, 0]


def test_relative_loss() -> None:
    loss = np.array([[[3, 6], [4, 8]]])  # one learner, two realizations, two rounds
    assert np.array_equal(relative_loss(loss, [[1, 2], [5, 5]]), [[[2, 4], [-1, 3]]])


def test_budget_grid_is_dense_at_the_start_and_ends_at_the_budget() -> None:
    assert budget_grid(100, 5) == [0, 4, 16, 36, 64, 100]
    assert budget_grid(3, 25) == [0, 1, 2, 3]
    assert budget_grid(7, 1) == [0, 7]
    assert (round_grid(80, 40)[0], round_grid(80, 40)[-1]) == (1, 80)
