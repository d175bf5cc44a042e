"""The table of bounds: what is measured stands beside what is promised, and a dash where nothing is known."""

from __future__ import annotations

import pandas as pd

from cams import bounds
from experiments.records.columns import COLUMNS
from experiments.records.record import Record
from experiments.tables.bounds import bound_table

T = 100


def make_record(**errors: int) -> Record:
    rows = [("", name, "learner", 50, 0, T, loss, 7) for name, loss in errors.items()]
    rows += [("", "good", "classifier", 0, 0, T, 4, 0)]
    given = {
        "best_model_rate": 0.1,
        "best_policy_rate": 0.05,
        "best_expected_rate": 0.07,
        "smallest_advice": 0.1,
        "policy_gap": 0.2,
        "margin": 0.5,
        "model_gaps": [0.1, 0.2],
        "model_disagreements": [0.2, 0.3],
    }
    facts = {"classifiers": 3, "policies": 5, "classes": 4, "bounds": given}
    plan = {"horizon": T, "learners": [{"label": name} for name in errors], "cases": [{"label": ""}]}
    return Record(pd.DataFrame(rows, columns=list(COLUMNS)), {"plan": plan, "bundle": facts})


def test_our_own_learners_have_rows_for_bound_and_measurement() -> None:
    own = make_record(cams=12, cams_evidence=10, cams_plus=9)
    table = bound_table({"mine": make_record(cams=12)}, {"mine": own}).set_index("Algorithm")
    assert table["mine: regret"].to_list()[-3:] == ["8.0", "6.0", "5.0"]
    assert table["mine: labels"].to_list()[-3:] == ["7.0", "7.0", "7.0"]
    by_rate = bounds.evidence_regret(8, bounds.expected_evidence(T))
    assert table.loc["CAMS, evidence rate, drawn (ours; V at its most)", "mine: regret"] == f"{by_rate:.3g}"
    # Models are drawn, so what the best policy loses on average counts, not what its favourite does.
    labels = bounds.evidence_queries(T, 4, by_rate, 7.0)
    assert table.loc["CAMS, evidence rate, drawn (ours; V at its most)", "mine: labels"] == f"{labels:.3g}"


def test_without_their_record_nothing_is_said_of_them() -> None:
    table = bound_table({"mine": make_record(cams=12)}, {}).set_index("Algorithm")
    assert table["mine: regret"].to_list()[-3:] == ["8.0", "-", "-"]
