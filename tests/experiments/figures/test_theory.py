"""Panels of measured regret beside its bounds, on a record small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cams.plotting.appearance import look_of
from experiments.figures.kinds import make_panel
from experiments.records.record import Record

NOT = np.nan


def make_record() -> Record:
    """Two cases, three learners of which one has no bound; the last is in the second case alone."""
    rows = [
        (case, series, r, t, t + r, bought, 1.0, theorem, theorem, own, own)
        for case, series, bought, theorem, own in (
            ("even", "cams_adversarial", 3, 50.0, NOT),
            ("even", "cams_plus", 4, NOT, NOT),
            ("adaptive", "cams_adversarial", 5, 60.0, NOT),
            ("adaptive", "cams_plus_drawn", 6, NOT, 70.0),
        )
        for r in range(2)
        for t in (10, 20)
    ]
    bounds = ("regret_bound", "queries_bound", "own_regret_bound", "own_queries_bound")
    names = ("case", "series", "realization", "round", "loss", "queries", "reference", *bounds)
    return Record(pd.DataFrame(rows, columns=list(names)), {"plan": {}})


def test_every_case_of_the_first_learner() -> None:
    panel = make_panel(make_record(), {"kind": "regret_against_horizon"})
    assert [line.name for line in panel.series] == ["even", "even bound", "adaptive", "adaptive bound", "bound"]
    # loss t + r less reference 1, over two realizations
    assert panel.series[0].mean.tolist() == [9.5, 19.5]
    assert panel.series[3].mean.tolist() == [60, 60]


def test_every_learner_of_one_case_with_its_own_bound_in_its_own_colour() -> None:
    panel = make_panel(make_record(), {"kind": "regret_of_learners", "order": 1})
    lines = {line.name: line for line in panel.series}
    assert list(lines) == [
        "cams_adversarial",
        "cams_adversarial bound",
        "cams_plus_drawn",
        "cams_plus_drawn bound",
        "bound",
    ]
    assert lines["cams_plus_drawn bound"].mean.tolist() == [70, 70]
    for name in ("cams_adversarial", "cams_plus_drawn"):
        assert lines[name].look == look_of(name)
        assert lines[f"{name} bound"].look.colour == look_of(name).colour
    labels = make_panel(make_record(), {"kind": "labels_of_learners", "order": 0})
    assert [line.mean.tolist() for line in labels.series if line.name == "cams_plus"] == [[4, 4]]


def test_who_has_no_bound_gets_no_line_for_it() -> None:
    panel = make_panel(make_record(), {"kind": "regret_over_time", "order": 0})
    assert [line.name for line in panel.series] == ["cams_adversarial", "cams_adversarial bound", "cams_plus", "bound"]


def test_a_bound_is_one_legend_entry() -> None:
    panel = make_panel(make_record(), {"kind": "regret_of_learners", "order": 1})
    assert [line.label for line in panel.series if line.label.startswith("Bound")] == ["Bound, same colour"]
