"""The arithmetic of a round against numpy's, and against rounds worked by hand."""

from typing import Any

import numpy as np
import pytest

from cams.engine import spec
from cams.engine.arithmetic import add_expected, draw, exponentials, mix, pick_tied, weigh, weigh_with_prior


def _bits(size: int) -> tuple[Any, Any]:
    return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)


def test_exponentials_are_good_to_the_last_bit_or_two() -> None:
    x = -(np.linspace(0, 708, 4001) ** 1.5) / np.sqrt(708)
    found = x.copy()
    exponentials(found, *_bits(x.size))
    np.testing.assert_allclose(found, np.exp(x), rtol=4.5e-16)
    assert found[0] == 1


def test_exponentials_fade_to_nothing() -> None:
    x = np.array([-720.0, -740.0, -745.0, -760.0, -1e4, -1e300])
    found = x.copy()
    exponentials(found, *_bits(x.size))
    np.testing.assert_allclose(found, np.exp(x), atol=1e-323)
    assert found[1] > 0


def test_weights_by_hand() -> None:
    # Losses 3, 1, 2 at a rate of 2: exp(-4), 1, exp(-2).
    q = np.zeros(3)
    assert weigh(np.array([3.0, 1.0, 2.0]), 2.0, q, *_bits(3)) == pytest.approx(1.153651)
    assert q == pytest.approx([0.018316, 1, 0.135335], abs=1e-6)


def test_weights_with_a_prior_by_hand() -> None:
    # Rate 2, strength 3: 4 + 0, 0 + 6, 2 + 1.5, less the least, which is 3.5.
    q, oddness = np.zeros(3), np.array([0.0, 2.0, 0.5])
    total = weigh_with_prior(np.array([3.0, 1.0, 2.0]), 2.0, oddness, 3.0, q, *_bits(3))
    assert q == pytest.approx([np.exp(-0.5), np.exp(-2.5), 1])
    assert total == pytest.approx(q.sum())


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("weighed", [spec.WEIGH_EXTENDED, spec.WEIGH_POLICIES, spec.WEIGH_MODELS])
def test_mixtures_and_expectations_are_products_of_matrices(weighed: int, n: int) -> None:
    rng, k, on, off = np.random.default_rng(n), 3, 0.7, 0.15
    pi, constants = rng.dirichlet(np.ones(k), n).astype(np.float32), (on - off) * np.eye(k) + off
    kinds = {spec.WEIGH_EXTENDED: [pi, constants], spec.WEIGH_POLICIES: [pi], spec.WEIGH_MODELS: [constants]}
    policies = np.concatenate(kinds[weighed])
    q, values = rng.random(len(policies)), rng.random(k)
    w, totals = np.full(k, 9.0), np.ones(len(policies))
    mix(pi, q, 2.5, weighed, on, off, w)
    np.testing.assert_allclose(w, q @ policies / 2.5, rtol=1e-13)
    add_expected(weighed, pi, on, off, values, totals)
    np.testing.assert_allclose(totals, 1 + policies @ values, rtol=1e-13)


@pytest.mark.parametrize(
    ("scores", "uniform", "picked"),
    [
        ([1.0, 3.0, 2.0], 0.9, 1),
        ([2.0, 1.0, 2.0], 0.49, 0),
        ([2.0, 1.0, 2.0], 0.5, 2),
        ([-1.0, -3.0, -1.0, -1.0], 0.4, 2),
        ([1.0, 1 - 5e-13, 0.5], 0.5, 1),  # a tie
        ([1.0, 1 - 5e-12, 0.5], 0.5, 0),  # none
        ([-1 - 5e-13, -1.0], 0.0, 0),
        ([0.0, 0.0], 0.75, 1),
    ],
)
def test_ties(scores: list[float], uniform: float, picked: int) -> None:
    assert pick_tied(np.array(scores), uniform) == picked


@pytest.mark.parametrize(
    ("probabilities", "uniform", "drawn"),
    [
        ([1.0, 2.0, 1.0], 0.0, 0),
        ([1.0, 2.0, 1.0], 0.24, 0),
        ([1.0, 2.0, 1.0], 0.25, 1),
        ([1.0, 2.0, 1.0], 0.74, 1),
        ([1.0, 2.0, 1.0], 0.75, 2),
        ([0.0, 1.0], 0.0, 1),
        ([0.0, 5e-324], 0.9, 1),  # 0.9 times the smallest number rounds up to it
    ],
)
def test_draws(probabilities: list[float], uniform: float, drawn: int) -> None:
    assert draw(np.array(probabilities), uniform) == drawn
