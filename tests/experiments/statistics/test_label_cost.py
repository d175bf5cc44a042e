"""Equal-cost comparisons on curves small enough to check by eye."""

import numpy as np
import pytest

from experiments.statistics.label_cost import (
    Curve,
    area_between,
    equal_cost_gaps,
    gap_at,
    labels_to_reach,
    leading_ranges,
    mean_curve,
    mean_gap,
    share_leading,
)


def curve(*points: tuple[float, float]) -> Curve:
    cost, loss = np.array(points, dtype=float).T
    return Curve(cost, loss)


def test_a_learner_that_stopped_buying_keeps_one_point() -> None:
    queries = np.array([[1, 1], [4, 6], [4, 6]])
    loss = np.array([[10, 20], [5, 7], [5, 7]])
    cost, errors = mean_curve(queries, loss)
    np.testing.assert_allclose(cost, [1, 5])
    np.testing.assert_allclose(errors, [15, 6])


def test_every_cost_that_is_new_keeps_its_point_and_its_fraction() -> None:
    cost, errors = mean_curve([[1, 2], [2, 3], [2, 3], [5, 6]], [[9, 9], [7, 7], [7, 7], [4, 4]])
    np.testing.assert_allclose(cost, [1.5, 2.5, 5.5])
    np.testing.assert_allclose(errors, [9, 7, 4])


def test_realizations_in_any_order_give_the_same_curve_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    queries, loss = np.sort(rng.integers(0, 50, (9, 200)), axis=0), rng.integers(0, 5000, (9, 200))
    curve = mean_curve(queries, loss)
    for _ in range(20):
        order = rng.permutation(200)
        np.testing.assert_array_equal(mean_curve(queries[:, order], loss[:, order]), curve)


def test_what_is_counted_is_kept_to_nine_digits() -> None:
    curve = mean_curve([[0, 0, 1]], [[0, 1, 1]])
    assert (curve.cost.tolist(), curve.loss.tolist()) == ([0.333333333], [0.666666667])


def test_weights_replace_the_mean_over_realizations() -> None:
    drawn_twice = mean_curve([[1, 3]], [[10, 30]], np.array([1.0, 0.0]))
    assert (drawn_twice.cost[0], drawn_twice.loss[0]) == (1.0, 10.0)


def test_only_the_common_range_counts() -> None:
    # The first stops at 10 labels, the second starts at 2: beyond that the second's lead is not compared.
    first, second = curve((0, 10), (10, 10)), curve((2, 12), (10, 12), (100, 0))
    costs, gap = equal_cost_gaps(first, second, 9)
    assert (costs[0], costs[-1]) == (2, 10)
    np.testing.assert_allclose(gap, -2)
    assert mean_gap(first, second, 9) == pytest.approx(-2)
    # Sixteen errors times labels, however many points it is measured at.
    assert area_between(first, second, 9) == pytest.approx(-16)
    assert area_between(first, second, 5) == pytest.approx(-16)
    assert mean_gap(first, second, 5) == pytest.approx(-2)


@pytest.mark.filterwarnings("error")
def test_curves_that_do_not_overlap_have_no_difference() -> None:
    first, second = curve((0, 1), (1, 1)), curve((2, 1), (3, 1))
    assert np.isnan(mean_gap(first, second, 5))
    assert np.isnan(area_between(first, second, 5))
    assert np.isnan(share_leading(first, second, 5))
    # Touching in one point is no range.
    assert np.isnan(mean_gap(curve((0, 1), (2, 1)), second, 5))
    assert np.isnan(gap_at(first, second, 1.5))
    assert leading_ranges(first, second, 5) == []


def test_where_the_first_leads() -> None:
    # Ahead from 0 to 5, level at 5, behind afterwards.
    first, second = curve((0, 5), (10, 15)), curve((0, 10), (10, 10))
    assert leading_ranges(first, second, 11) == [(0.0, 4.0)]
    assert share_leading(first, second, 11) == pytest.approx(5 / 11)
    assert gap_at(first, second, 2) == pytest.approx(-3)


def test_the_ends_of_the_common_range_belong_to_it() -> None:
    first, second = curve((1, 5), (4, 5), (10, 5)), curve((1, 7), (5, 7), (10, 8))
    assert gap_at(first, second, 1) == pytest.approx(-2)
    assert gap_at(first, second, 10) == pytest.approx(-3)
    costs, _ = equal_cost_gaps(first, second, 3)
    assert (costs[0], costs[-1]) == (1, 10)
    assert np.isnan(gap_at(first, second, 0.9))
    assert np.isnan(gap_at(first, second, 10.1))


def test_labels_needed_are_interpolated_and_infinite_when_never_reached() -> None:
    falling = curve((10, 100), (20, 50), (40, 40))
    assert labels_to_reach(falling, 75) == pytest.approx(15)
    assert labels_to_reach(falling, 45) == pytest.approx(30)
    # Not half-way: four fifths and a tenth of the way down.
    assert labels_to_reach(falling, 60) == pytest.approx(18)
    assert labels_to_reach(falling, 49) == pytest.approx(22)
    assert labels_to_reach(falling, 200) == 10
    assert labels_to_reach(falling, 40) == 40
    assert labels_to_reach(falling, 39.9) == float("inf")


def test_a_loss_reached_and_left_again_counts_as_reached() -> None:
    assert labels_to_reach(curve((0, 10), (10, 0), (20, 10)), 5) == pytest.approx(5)
