"""A record as evidence: which budgets count, what is said of what it lacks, and intervals from resamples."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

import cams
from experiments.claims.evidence import Estimate, Evidence, estimate
from experiments.claims.statistics import STATISTICS, title
from experiments.records.record import Record
from experiments.runner.plan import Learner
from experiments.statistics.label_cost import Curve, common_costs, mean_gap
from tests.experiments.claims.made_up import REALIZATIONS, evidence_of, plan, table

EVENLY = np.full(REALIZATIONS, 1 / REALIZATIONS)


def test_budgets_above_the_papers_own_do_not_count() -> None:
    assert evidence_of(table()).budget == 20
    found = Evidence(Record(table(), {"plan": replace(plan(), options={"budget": 10}).as_dict()}))
    assert found.budget == 10
    assert found.labels("rs").tolist() == [10] * REALIZATIONS
    assert found.errors("rs").mean() == 30.5
    small = Evidence(Record(table(), {"plan": replace(plan(), options={"budget": 4}).as_dict()}))
    with pytest.raises(cams.InputError, match="the record of main on drift has no 'rs'; `python -m experiments"):
        small.labels("rs")


class Counting:
    """A measure that gives its estimate first and then 0, 1, 2, ..., and keeps the weights that it was given."""

    def __init__(self, values: list[float]) -> None:
        self.values, self.weights = iter([-1.0, *values]), list[np.ndarray]()

    def __call__(self, weights: np.ndarray) -> float:
        self.weights.append(weights)
        return next(self.values)


def test_an_interval_holds_all_but_the_tails_of_the_resamples() -> None:
    counting = Counting([float(i) for i in range(100)])
    # 5 % of a hundred values lie at or below the fifth, 95 % at or below the 95th.
    assert estimate(counting, 4, 0.9, 100, 0) == Estimate(-1, 4, 94)
    assert estimate(Counting([float(i) for i in range(100)]), 4, 0.5, 100, 0) == Estimate(-1, 24, 74)
    # What is never reached stays infinite, without interpolation.
    assert estimate(Counting([1.0] * 90 + [inf] * 10), 4, 0.9, 100, 0) == Estimate(-1, 1, inf)
    first, *others = counting.weights
    assert first.tolist() == [0.25] * 4
    assert {round(float(weights.sum()), 9) for weights in others} == {1.0}
    assert {float(weight) for weights in others for weight in weights} <= {0, 0.25, 0.5, 0.75, 1}


@pytest.mark.parametrize("noise", [-2e-13, 2e-13])
def test_what_is_printed_does_not_depend_on_who_adds(noise: float) -> None:
    # 10.575 has two neighbours with two digits, and 1e-13 would decide which one is shown.
    assert estimate(Counting([10.575 + noise] * 20), 4, 0.9, 20, 0) == Estimate(-1, 10.575, 10.575)


def test_the_seed_decides_the_resamples() -> None:
    drawn = []
    for seed in (0, 0, 1):
        counting = Counting([0.0] * 5)
        estimate(counting, 4, 0.9, 5, seed)
        drawn.append(np.stack(counting.weights).tolist())
    assert drawn[0] == drawn[1] != drawn[2]


def test_curves_that_touch_at_one_cost_have_nothing_in_common() -> None:
    left, right = Curve(np.array([0.0, 5.0]), np.array([9.0, 4.0])), Curve(np.array([5.0, 10.0]), np.array([6.0, 2.0]))
    assert len(common_costs(left, right, 11)) == 0
    assert np.isnan(mean_gap(left, right, 11))
    rows = table()
    # CAMS buys 20 and 25 labels, RS up to 20.
    rows.loc[rows["series"] == "cams", "queries"] += 15
    check = {"learner": "cams", "baseline": "rs", "points": 11}
    details = STATISTICS["equal_cost_difference"].details(evidence_of(rows), check)
    assert (details["note"], details["common_costs"]) == ("no common cost", [20, 20])


def test_fractions_of_a_label_are_costs_of_their_own() -> None:
    """RS buys 5.2 labels on average with a budget of 5, 5.4 with one of 10: each has a band."""
    rows = table()
    rows["queries"] = rows["queries"].astype(float)
    rows.loc[(rows["series"] == "rs") & (rows["budget"] == 5), "queries"] = 5.2
    rows.loc[(rows["series"] == "rs") & (rows["budget"] == 10), "queries"] = 5.4
    check = {"learner": "cams", "baseline": "rs", "points": 11}
    # From 5.2 labels on RS falls from 40.5 to 30.5 and then slowly, CAMS from 30.1 to 20.5.
    assert STATISTICS["share_within_bands"].measure(evidence_of(rows), check)(EVENLY) == 0


def test_nothing_is_said_of_context_where_a_record_has_no_references() -> None:
    rows = table()
    rows = rows[rows["kind"] == "learner"]
    check = {"learner": "cams", "baseline": "rs", "points": 11, "cost": 10}
    assert STATISTICS["difference_at_cost"].analysis(evidence_of(rows), check) == (
        "CAMS is first ahead at 5 labels of RS on the common range and ends it at -10.00 errors at 10 labels."
    )


def test_the_floor_is_summed_over_the_rounds_of_the_stream() -> None:
    found = evidence_of(table())
    found.horizon = 3
    said = STATISTICS["label_saving"].analysis(found, {"learner": "cams", "baseline": "rs"})
    # 1 + 1/sqrt(2) + 1/sqrt(3) = 2.28; a fourth round would make it 2.78.
    assert said.endswith("The floor 1/sqrt(t) alone asks for at most 2.")


def test_conventional_cams_is_set_beside_cams() -> None:
    rows = table()
    rows["series"] = rows["series"].replace("rs", "cams_conventional")
    learners = tuple(Learner(name, name, {}) for name in ("cams", "cams_conventional", "mp"))
    found = Evidence(Record(rows, {"plan": replace(plan(), learners=learners).as_dict()}))
    said = STATISTICS["excess_over_best_classifier"].analysis(found, {"learner": "cams"})
    assert said == (
        "At full budget CAMS 20.5 errors with 10 labels, CAMS-conventional 20.5 errors with 20 labels; the best "
        "classifier makes 25.5 errors and the best of the bad policies 60.5, over 100 rounds."
    )


def test_a_name_without_a_title_is_written_in_words() -> None:
    assert (title("best_classifier_in_hindsight"), title("cams_plus")) == ("best classifier in hindsight", "CAMS+")
