"""A record made up so that every answer is known: three learners, two classifiers, two policies."""

from __future__ import annotations

from itertools import product

import pandas as pd

from experiments.claims.evidence import Evidence
from experiments.records.record import Record
from experiments.runner.plan import Case, Learner, Plan

REALIZATIONS, HORIZON, BUDGETS = 6, 100, (5, 10, 20)
# Errors at each budget; a learner buys its whole budget unless it is `cams`, which stops at 10.
LOSSES = {"cams": (30, 20, 20), "rs": (40, 30, 20), "mp": (30, 20, 15)}
REFERENCES = {
    "good classifier": ("classifier", 25),
    "bad classifier": ("classifier", 50),
    "adviser": ("normal", 22),
    "liar": ("malicious", 60),
}


def table() -> pd.DataFrame:
    rows = []
    for (name, losses), r in product(LOSSES.items(), range(REALIZATIONS)):
        for budget, loss in zip(BUDGETS, losses, strict=True):
            bought = min(budget, 10) if name == "cams" else budget
            rows.append((name, "learner", budget, r, loss + r % 2, bought))
    for (name, (kind, loss)), r in product(REFERENCES.items(), range(REALIZATIONS)):
        rows.append((name, kind, 0, r, loss + r % 2, 0))
    frame = pd.DataFrame(rows, columns=["series", "kind", "budget", "realization", "loss", "queries"])
    return frame.assign(case="", round=HORIZON)


def plan(experiment: str = "main", dataset: str = "drift", seed: int = 0) -> Plan:
    return Plan(
        experiment=experiment,
        dataset=dataset,
        seed=seed,
        horizon=HORIZON,
        realizations=REALIZATIONS,
        budgets=BUDGETS,
        trace_rounds=(),
        trace_budgets=(),
        learners=tuple(Learner(name, name, {}) for name in LOSSES),
        cases=(Case(),),
    )


def evidence_of(rows: pd.DataFrame) -> Evidence:
    return Evidence(Record(rows, {"plan": plan().as_dict()}))
