"""Every condition at its boundary: an interval (low, value, high) against a limit."""

from __future__ import annotations

import pytest

import cams
from experiments.claims.evidence import Estimate
from experiments.claims.rules import FAILS, HOLDS, LEANS, condition_in_words, outcome, verdict

CASES = [
    # condition, limit, low, value, high, outcome
    ("below", 1, 0.2, 0.5, 0.9, HOLDS),
    ("below", 1, 0.2, 0.5, 1.0, LEANS),
    ("below", 1, 0.2, 1.0, 1.5, FAILS),
    ("above", 1, 1.1, 1.5, 1.9, HOLDS),
    ("above", 1, 1.0, 1.5, 1.9, LEANS),
    ("above", 1, 0.5, 1.0, 1.9, FAILS),
    ("not_below", 1, 0.2, 0.5, 0.9, FAILS),
    ("not_below", 1, 0.2, 0.5, 1.0, HOLDS),
    ("not_above", 1, 1.1, 1.5, 1.9, FAILS),
    ("not_above", 1, 1.0, 1.5, 1.9, HOLDS),
    ("within", [0, 1], 0.0, 0.5, 1.0, HOLDS),
    ("within", [0, 1], -0.1, 0.5, 1.0, LEANS),
    ("within", [0, 1], 0.0, 0.5, 1.1, LEANS),
    ("within", [0, 1], -0.1, 0.0, 1.1, LEANS),
    ("within", [0, 1], -0.1, 1.0, 1.1, LEANS),
    ("within", [0, 1], -0.5, -0.1, 0.2, FAILS),
    ("within", [0, 1], 0.5, 1.1, 1.2, FAILS),
    ("covers", 1, 1.0, 1.5, 2.0, HOLDS),
    ("covers", 1, 0.5, 0.8, 1.0, HOLDS),
    ("covers", 1, 1.1, 1.5, 2.0, FAILS),
    ("covers", 1, 0.5, 0.8, 0.9, FAILS),
    ("share_above", 0.8, 0.8, 0.8, 0.8, HOLDS),
    ("share_above", 0.8, 0.79, 0.79, 0.79, LEANS),
    ("share_above", 0.8, 0.4, 0.4, 0.4, LEANS),
    ("share_above", 0.8, 0.39, 0.39, 0.39, FAILS),
]


@pytest.mark.parametrize(("condition", "limit", "low", "value", "high", "expected"), CASES)
def test_a_condition_at_its_boundary(condition, limit, low, value, high, expected):
    assert outcome(Estimate(value, low, high), {"statistic": "any", condition: limit}) == expected


def test_what_could_not_be_computed_fails_whatever_is_asked():
    unknown = Estimate(float("nan"), float("nan"), float("nan"))
    assert outcome(unknown, {"statistic": "any", "not_below": 1}) == FAILS


def test_a_check_with_two_conditions_is_refused_by_name():
    with pytest.raises(cams.InputError, match=r"check 'gap' has 2 conditions, expected one"):
        outcome(Estimate(1, 1, 1), {"statistic": "gap", "below": 1, "above": 0})


def test_a_limit_is_told_in_the_unit_of_its_value():
    assert condition_in_words({"statistic": "any", "within": [0.25, 1]}, "share") == "within 25 % to 100 %"
    assert condition_in_words({"statistic": "any", "below": 0.5}, "errors") == "below 0.5"
    assert condition_in_words({"statistic": "any"}, "errors") is None


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([HOLDS, HOLDS], "reproduced"),
        ([HOLDS, LEANS], "partly"),
        ([HOLDS, FAILS], "partly"),
        ([LEANS], "partly"),
        ([LEANS, FAILS], "not reproduced"),
        ([], "not measured"),
    ],
)
def test_a_verdict_is_the_mean_score_of_its_checks(outcomes, expected):
    assert verdict(outcomes, {"reproduced": 1.0, "partly": 0.5}) == expected
