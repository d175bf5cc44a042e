"""The table of regret and query bounds, with the numbers of every data set put in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

import cams
from cams import bounds
from cams.learners.prior import STRENGTH
from cams.plotting.appearance import title_of
from experiments.figures.compose import dataset_title
from experiments.records.columns import CLASSIFIER, POLICY_KINDS
from experiments.records.record import Record

# The bounds with high probability hold with 1 - FAILURE.
FAILURE = 0.1
MISSING = "-"
OWN = ("cams_evidence", "cams_plus")


def bound_table(records: dict[str, Record], own_records: dict[str, Record]) -> pd.DataFrame:
    """Return one row per algorithm; per data set a column of regret and one of labels.

    `records` have what CAMS did, `own_records` what our own learners did on the same streams, where that is known.
    """
    algorithms = [name for name, _, _ in _rows({}, {}, 2)]
    columns = {"Algorithm": algorithms + [f"{title_of(learner)}, measured" for learner in ("cams", *OWN)]}
    for dataset, record in records.items():
        rows = _rows(record.facts["bundle"], record.facts["bundle"]["bounds"], record.horizon)
        measured = [_measured(record, "cams")] + [_measured(own_records.get(dataset), learner) for learner in OWN]
        title = dataset_title(dataset)
        columns[f"{title}: regret"] = [_number(row[1]) for row in rows] + [regret for regret, _ in measured]
        columns[f"{title}: labels"] = [_number(row[2]) for row in rows] + [labels for _, labels in measured]
    return pd.DataFrame(columns)


def _rows(size: dict[str, Any], given: dict[str, Any], horizon: int) -> list[tuple[str, Any, Any]]:
    """Return (algorithm, regret, labels), each bound as a function still to be called."""
    k, n, c = size.get("classifiers", 2), size.get("policies", 2), size.get("classes", 2)
    m = n + k
    best_model_loss = horizon * given.get("best_model_rate", 0)
    best_policy_rate = given.get("best_policy_rate", 0)
    # Who draws a model from a policy's advice is charged what that loses on average.
    best_expected_loss = horizon * given.get("best_expected_rate", 0)

    def stochastic() -> float:
        range_ = bounds.advice_range(given["smallest_advice"], c)
        return bounds.cams_stochastic_regret(m, given["policy_gap"], given["margin"], range_, FAILURE)

    def own(prior: float) -> float:
        # The most that the evidence can be in expectation, and models that disagree on every round.
        evidence = bounds.expected_evidence(horizon)
        return bounds.evidence_regret(m, evidence, prior=prior, disagreements=horizon)

    def own_labels(prior: float) -> float:
        return bounds.evidence_queries(horizon, c, own(prior), best_expected_loss)

    def printed() -> float:
        range_ = bounds.advice_range_printed(given["smallest_advice"], c)
        return bounds.cams_stochastic_regret(m, given["policy_gap"], given["margin"], range_, FAILURE)

    return [
        ("Exp3", lambda: bounds.exp3_regret(horizon, k), None),
        ("Exp3.P", lambda: bounds.exp3p_regret(horizon, k, FAILURE), None),
        ("Exp4", lambda: bounds.exp4_regret(horizon, k, n), None),
        ("Exp4.P", lambda: bounds.exp4p_regret(horizon, k, n, FAILURE), None),
        (
            "Model Picker, stochastic",
            lambda: bounds.model_picker_stochastic_regret(given["model_gaps"], given["model_disagreements"]),
            lambda: bounds.model_picker_stochastic_queries(horizon, k, c, min(given["model_gaps"])),
        ),
        (
            "Model Picker, adversarial",
            lambda: bounds.model_picker_adversarial_regret(horizon, k),
            lambda: bounds.model_picker_adversarial_queries(horizon, k, best_model_loss),
        ),
        (
            "CAMS, stochastic (Theorems 1, 2; the proofs' constants)",
            stochastic,
            lambda: bounds.cams_stochastic_queries(horizon, stochastic(), best_policy_rate, c),
        ),
        (
            "CAMS, stochastic (Theorems 1, 2; as printed)",
            printed,
            lambda: bounds.cams_stochastic_queries_printed(horizon, printed(), best_policy_rate, c),
        ),
        (
            "CAMS, adversarial (Theorems 3, 4; rho = 0)",
            lambda: bounds.cams_adversarial_regret(horizon, m, c, 0.0),
            lambda: bounds.cams_adversarial_queries(horizon, m, c, 0.0, best_expected_loss),
        ),
        ("CAMS, evidence rate, drawn (ours; V at its most)", lambda: own(0.0), lambda: own_labels(0.0)),
        ("CAMS+, drawn (ours; V at its most)", lambda: own(STRENGTH), lambda: own_labels(STRENGTH)),
    ]


def _number(bound: Callable[[], float] | None) -> str:
    """Write a bound with three digits, or a dash where its assumptions fail (a tie for the best)."""
    if bound is None:
        return MISSING
    try:
        return f"{bound():.3g}"
    except (cams.InputError, ValueError, ZeroDivisionError):
        return MISSING


def _measured(record: Record | None, learner: str) -> tuple[str, str]:
    """Return a learner's mean regret against the realization's best policy or classifier, and its mean labels."""
    if record is None or learner not in record.learners():
        return MISSING, MISSING
    best = record.references([CLASSIFIER, *POLICY_KINDS]).to_numpy().min(axis=0)
    return f"{(record.errors(learner) - best).mean():.1f}", f"{record.labels(learner).mean():.1f}"
