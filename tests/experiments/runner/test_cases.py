"""The rows of a record: every value once, equal to the replay's, and the second reading of the oracle."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

import cams
from cams.randomness import stream_order
from experiments.runner.cases import compute, compute_together
from experiments.runner.plan import Case, Learner, Plan

PLAN = Plan(
    experiment="outperform",
    dataset="small",
    seed=0,
    horizon=50,
    realizations=3,
    budgets=(0, 20),
    trace_rounds=(),
    trace_budgets=(),
    learners=(Learner("cams", "cams", {}),),
    cases=(Case(),),
    options={"oracle_drawn": True},
)


def test_oracle_drawn_is_the_least_expected_loss(bundle: cams.Bundle) -> None:
    table = compute(PLAN, bundle, 1, False)
    drawn = table[table["kind"] == "oracle_drawn"].sort_values("realization")["loss"].to_numpy()
    assert bundle.labels is not None
    wrong = (bundle.predictions != bundle.labels[:, None]).astype(float)
    for realization, loss in enumerate(drawn):
        rows = stream_order(0, realization, bundle.num_rows, PLAN.horizon)
        of_policies = [sum(bundle.advice[row, i] @ wrong[row] for row in rows) for i in range(bundle.num_policies)]
        assert np.isclose(loss, min(*of_policies, *wrong[rows].sum(axis=0)), rtol=1e-6)


def test_without_labels_a_learner_still_errs(bundle: cams.Bundle) -> None:
    table = compute(PLAN, bundle, 1, False)
    unlabelled = table[(table["kind"] == "learner") & (table["budget"] == 0)]
    assert len(unlabelled) == PLAN.realizations
    assert (unlabelled["queries"] == 0).all()
    assert (unlabelled["loss"] > 0).all()


def test_plans_that_share_replays_get_the_records_they_would_get_alone(bundle: cams.Bundle) -> None:
    some = (Learner("cams", "cams", {}), Learner("rs", "rs", {}), Learner("mp", "mp", {}))
    plans = [
        dataclasses.replace(PLAN, learners=some, budgets=(0, 3, 20), options={}),
        # Another label, a setting of its own, other budgets, and recorded rounds.
        dataclasses.replace(
            PLAN,
            learners=(Learner("mp", "picker", {}), Learner("cams", "low floor", {"floor": 0.1})),
            budgets=(5, 20),
            trace_rounds=(10, 30, 50),
            trace_budgets=(20,),
        ),
        # Other rows, and two ways of preparing the bundle, one of them shared.
        dataclasses.replace(PLAN, learners=some[:1], horizon=40),
        dataclasses.replace(PLAN, learners=some, cases=(Case("plain"), Case("flat", temper=0.25)), budgets=(7,)),
    ]
    for plan, together in zip(plans, compute_together(plans, bundle, 2, False), strict=True):
        pd.testing.assert_frame_equal(together, compute(plan, bundle, 1, False))
