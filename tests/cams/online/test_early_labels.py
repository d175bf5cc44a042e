"""Scaled queries reckon with the labels bought early: those that were dropped, and those that were cheap."""

from __future__ import annotations

import copy
from typing import Any

import cams


def scaled(**options: Any) -> cams.Selector:
    return cams.Selector(models=["a", "b"], num_classes=2, budget=2, horizon=100, scaled=True, **options)


def test_labels_that_were_dropped_early_are_not_counted() -> None:
    selector = scaled()
    for _ in range(20):
        decision = selector.step([0, 1])
        if decision.query:
            selector.drop(decision.ticket)
    assert selector._learner.early_labels == 0
    assert sum(selector.step([0, 1]).query for _ in range(80)) == 2, "all of the budget is free"
    assert selector.history().query_probability.between(0, 1).all()
    copy.deepcopy(selector)


def test_early_labels_that_were_cheap_leave_a_chance_for_later_ones() -> None:
    selector = scaled()
    for _ in range(100):
        decision = selector.step([0, 1], cost=0.1)
        if decision.query:
            selector.label(decision.ticket, 0)
    assert selector._learner.early_labels >= 2, "as many as the budget has at the usual price"
    assert selector.history().query_probability.between(0, 1, inclusive="right").all()
