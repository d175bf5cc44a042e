"""What a record keeps about its bundle, on four rows worked out by hand."""

from __future__ import annotations

import pytest

import cams
from experiments.records.bundle_facts import describe_bundle


def test_what_enters_the_bounds() -> None:
    # The first model is wrong on the last row, the second on the first two; the policy sees which.
    bundle = cams.Bundle(
        predictions=[[0, 1], [0, 1], [1, 1], [1, 0]],
        labels=[0, 0, 1, 0],
        advice=[[[0.75, 0.25]], [[0.75, 0.25]], [[0.75, 0.25]], [[0.25, 0.75]]],
        policy_kinds=["normal"],
    )
    facts = describe_bundle(bundle, "digest")
    assert (facts["rows"], facts["classes"], facts["classifiers"], facts["policies"]) == (4, 2, 2, 1)
    assert (facts["digest"], facts["policy_kinds"]) == ("digest", {"normal": 1})
    assert (facts["classifier_accuracy"], facts["best_policy_accuracy"]) == ([0.5, 0.75], 1.0)
    # Regularised, 0.75 and 0.25 become 0.7 and 0.3, and 1 and 0 become 0.75 and 0.25.
    assert facts["bounds"] == {
        "model_gaps": [0.25],
        "model_disagreements": [0.75],
        "best_model_rate": 0.25,
        "policy_gap": 0.25,
        "best_policy_rate": 0.0,
        "best_expected_rate": pytest.approx((0.3 + 0.3 + 0 + 0.3) / 4),
        "smallest_advice": pytest.approx(0.25),
        "margin": pytest.approx(0.4),
    }


def test_without_labels_there_is_nothing_to_keep() -> None:
    with pytest.raises(cams.InputError, match="the bundle has no labels, and a replay needs them"):
        describe_bundle(cams.Bundle(predictions=[[0, 1]]), "digest")
