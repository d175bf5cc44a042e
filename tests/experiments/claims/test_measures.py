"""What claims measure, on records made up so that every answer is known."""

from __future__ import annotations

import numpy as np
import pytest

import cams
from experiments.claims.evidence import Evidence, TooLittle, estimate
from experiments.claims.statistics import STATISTICS
from tests.experiments.claims.made_up import REALIZATIONS, evidence_of, table

INTERVAL = {"level": 0.9, "resamples": 50, "seed": 0}


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return evidence_of(table())


def value(evidence: Evidence, statistic: str, **check: object) -> float:
    measure = STATISTICS[statistic].measure(evidence, {"points": 11, **check})
    return measure(np.full(REALIZATIONS, 1 / REALIZATIONS))


def test_statistics_on_known_curves(evidence: Evidence) -> None:
    assert value(evidence, "equal_cost_difference", learner="cams", baseline="rs") == pytest.approx(-10)
    assert value(evidence, "difference_at_cost", learner="cams", baseline="rs", cost=10) == pytest.approx(-10)
    assert np.isnan(value(evidence, "difference_at_cost", learner="cams", baseline="rs", cost=15))
    assert value(evidence, "relative_equal_cost_difference", learner="cams", baseline="rs") == pytest.approx(-10 / 35.5)
    # RS ends at 20.5 errors with 20 labels; CAMS has that with 10.
    assert value(evidence, "label_ratio_to_match", learner="cams", baselines=["rs"]) == pytest.approx(0.5)
    # MP ends at 15.5, which CAMS never reaches.
    assert value(evidence, "label_ratio_to_match", learner="cams", baselines=["rs", "mp"]) == float("inf")
    assert value(evidence, "fewest_labels_ratio", learner="cams", baselines=["rs", "mp"]) == pytest.approx(0.5)
    assert value(evidence, "label_saving", learner="cams", baseline="rs") == pytest.approx(0.5)
    assert value(evidence, "final_difference", learner="cams", reference="best_classifier") == pytest.approx(-5)
    assert value(evidence, "final_difference", learner="cams", reference="best_policy") == pytest.approx(-2)
    assert value(evidence, "final_difference", learner="cams", reference="best_bad_policy") == pytest.approx(-40)
    assert value(evidence, "excess_over_best_classifier", learner="cams") == pytest.approx(-5 / 25.5)
    assert value(evidence, "share_within_bands", learner="cams", baseline="mp") == 1.0


def test_the_share_of_a_gap_that_is_closed(evidence: Evidence) -> None:
    rows = table()
    rows.loc[(rows["series"] == "rs") & (rows["kind"] == "learner"), "loss"] += 25
    trapped = evidence_of(rows)
    # RS ends at 45.5, the best classifier at 25.5, CAMS at 20.5 and MP at 15.5.
    assert value(trapped, "share_of_gap_closed", learner="cams", baseline="rs") == pytest.approx(25 / 20)
    assert value(trapped, "share_of_gap_closed", learner="rs", baseline="rs") == 0
    # RS at 25.5 is as good as the best classifier, and one error on one of six realizations is a gap of 1/6.
    rows.loc[(rows["series"] == "rs") & (rows["kind"] == "learner"), "loss"] -= 20
    assert np.isnan(value(evidence_of(rows), "share_of_gap_closed", learner="cams", baseline="rs"))
    rows.loc[(rows["series"] == "rs") & (rows["realization"] == 0), "loss"] += 1
    found = value(evidence_of(rows), "share_of_gap_closed", learner="cams", baseline="rs")
    assert found == pytest.approx((5 + 1 / 6) / (1 / 6))
    # CAMS, who should be trapped, makes fewer errors than the best classifier: there is no gap.
    assert np.isnan(value(evidence, "share_of_gap_closed", learner="mp", baseline="cams"))


@pytest.mark.parametrize(
    ("mine", "theirs", "share"),
    [
        ((20, 20), (20, 20), 1),
        ((20, 20), (30, 30), 0),
        ((30, 30), (20, 20), 0),
        # Each mean is 25, inside the band of the other.
        ((10, 40), (20, 30), 1),
        ((20, 30), (10, 40), 1),
        # One mean, 20 or 30, is inside the other's band from 10 to 40, but 25 is not inside a band without width.
        ((20, 20), (10, 40), 0),
        ((10, 40), (20, 20), 0),
        ((10, 40), (30, 30), 0),
        # A mean of 35 is above a band from 20 to 30.
        ((10, 60), (20, 30), 0),
        ((20, 30), (10, 60), 0),
    ],
)
def test_means_inside_the_band_of_the_other(mine: tuple[int, int], theirs: tuple[int, int], share: float) -> None:
    rows = table()
    for name, losses in (("cams", mine), ("rs", theirs)):
        chosen = rows["series"] == name
        rows.loc[chosen, "queries"] = rows.loc[chosen, "budget"]
        rows.loc[chosen, "loss"] = np.where(rows.loc[chosen, "realization"] % 2, losses[1], losses[0])
    assert value(evidence_of(rows), "share_within_bands", learner="cams", baseline="rs") == share


def test_labels_needed_where_one_needs_none_or_never_gets_there(evidence: Evidence) -> None:
    share = "label_ratio_to_come_near_baseline"
    # 200 % above 20.5 is met by both with their first 5 labels.
    assert value(evidence, share, learner="cams", baseline="rs", margin=2) == 1
    # CAMS never gets to 15.5.
    assert value(evidence, share, learner="cams", baseline="mp", margin=0) == float("inf")
    rows = table()
    rows.loc[(rows["budget"] == 5) & (rows["kind"] == "learner"), ["budget", "queries"]] = 0
    from_nothing = evidence_of(rows)
    # With no label CAMS has 30.5 and RS 40.5; twice RS's final 20.5 is 41, for which neither needs a label.
    assert value(from_nothing, share, learner="cams", baseline="rs", margin=1) == 1
    # An RS that ends where it began needs no label for its final loss; nor does CAMS, or else it needs endlessly more.
    rows.loc[rows["series"] == "rs", "loss"] = 31
    assert value(evidence_of(rows), "label_ratio_to_match", learner="cams", baselines=["rs"]) == 1
    rows.loc[rows["series"] == "rs", "loss"] = 25
    assert value(evidence_of(rows), "label_ratio_to_match", learner="cams", baselines=["rs"]) == float("inf")
    # 97 % above 20.5 is 40.385, for which RS needs a fraction of a label: CAMS, without any, needs none of that.
    assert value(from_nothing, share, learner="cams", baseline="rs", margin=0.97) == 0
    # Half above 20.5 is 30.75: CAMS needs no label, RS 9.75.
    assert value(from_nothing, share, learner="cams", baseline="rs", margin=0.5) == 0
    assert value(from_nothing, share, learner="rs", baseline="cams", margin=0.5) == float("inf")


def test_a_resample_weighs_the_curves_too(evidence: Evidence) -> None:
    """With all weight on the first realization RS makes 40, 30 and 20 errors, half an error less than on average."""
    check = {"learner": "cams", "baseline": "rs", "points": 11}
    only_the_first = np.eye(REALIZATIONS)[0]
    assert STATISTICS["relative_equal_cost_difference"].measure(evidence, check)(only_the_first) == pytest.approx(
        -10 / 35
    )


def test_the_best_classifier_in_hindsight_is_another_on_each_realization() -> None:
    rows = table()
    rows.loc[(rows["series"] == "bad classifier") & (rows["realization"] == 0), "loss"] = 10
    found = evidence_of(rows)
    assert found.errors("best_classifier_in_hindsight").tolist() == [10, 26, 25, 26, 25, 26]
    assert found.errors("best_classifier").tolist() == [25, 26, 25, 26, 25, 26]


def test_what_a_record_lacks_is_named(evidence: Evidence) -> None:
    with pytest.raises(cams.InputError, match="the record of main on drift has no 'nobody'"):
        evidence.errors("nobody")
    with pytest.raises(cams.InputError) as refused:
        evidence.errors("oracle_drawn")
    assert str(refused.value) == (
        "the record of main on drift has no 'oracle_drawn'; `python -m experiments.run experiment=main dataset=drift "
        "fresh=true` makes it anew"
    )


def test_paired_noise_cancels(evidence: Evidence) -> None:
    measure = STATISTICS["final_difference"].measure(evidence, {"learner": "cams", "reference": "best_policy"})
    found = estimate(measure, REALIZATIONS, **INTERVAL)
    assert found.low == pytest.approx(found.high) == pytest.approx(-2)


def test_labels_to_come_near_the_best_of_all(evidence: Evidence) -> None:
    # MP ends lowest, at 15.5: within a third of that is 20.67. CAMS has 20.5 with 10 labels and 30.5 with 5.
    near = {"baselines": ["rs", "mp"], "margin": 1 / 3}
    assert value(evidence, "label_ratio_to_come_near", learner="cams", **near) == pytest.approx(1)
    assert value(evidence, "label_ratio_to_come_near", learner="rs", baselines=["mp"], margin=1 / 3) == pytest.approx(
        (10 + 10 * 9.8333333 / 10) / (5 + 5 * 9.8333333 / 10)
    )
    own = {"learner": "mp", "baseline": "rs", "margin": 0}
    # RS ends at 20.5 with 20 labels, where MP is with 10.
    assert value(evidence, "label_ratio_to_come_near_baseline", **own) == pytest.approx(0.5)
    details = STATISTICS["label_ratio_to_come_near"].details(evidence, {"learner": "cams", **near})
    assert details["note"].startswith("labels needed: CAMS 10, MP 10, RS 20")


def test_errors_without_a_label_need_budget_zero(evidence: Evidence) -> None:
    with pytest.raises(TooLittle, match="budget 0"):
        value(evidence, "relative_unlabelled_difference", learner="cams", baseline="rs")
    rows = table()
    rows.loc[(rows["budget"] == 5) & (rows["kind"] == "learner"), ["budget", "queries"]] = 0
    unlabelled = evidence_of(rows)
    found = value(unlabelled, "relative_unlabelled_difference", learner="cams", baseline="rs")
    assert found == pytest.approx(30.5 / 20.5 - 1)
