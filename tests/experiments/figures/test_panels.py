"""From records to the numbers of panels, on records small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import cams
from experiments.figures.kinds import make_panel
from experiments.figures.panels import (
    labels_to_recover,
    loss_against_case,
    loss_against_cost,
    queries_over_time,
    relative_loss_over_time,
)
from experiments.records.columns import COLUMNS
from experiments.records.record import Record

HORIZON = 10


def make_record(rows: list[tuple[object, ...]], **plan: object) -> Record:
    facts = {
        "horizon": HORIZON,
        "trace_budgets": [4],
        "trace_rounds": [5, 10],
        "cases": [{"label": ""}],
        "experiment": "malice",
    } | plan
    facts.setdefault("learners", [{"label": "cams"}])
    return Record(pd.DataFrame(rows, columns=list(COLUMNS)), {"plan": facts})


def final(series: str, budget: int, losses: list[int], queries: list[int], kind: str = "learner", case: str = ""):
    return [
        (case, series, kind, budget, r, HORIZON, loss, bought)
        for r, (loss, bought) in enumerate(zip(losses, queries, strict=True))
    ]


def test_loss_against_cost() -> None:
    rows = final("cams", 2, [6, 8], [2, 2]) + final("cams", 4, [3, 5], [3, 4])
    rows += final("good", 0, [4, 4], [0, 0], "classifier") + final("bad", 0, [9, 9], [0, 0], "classifier")
    panel = make_panel(make_record(rows), {"kind": "loss_against_cost", "references": ["classifiers"]})
    (line,) = panel.series
    assert line.label == "CAMS"
    assert line.x.tolist() == [2, 3.5]
    assert line.mean.tolist() == [7, 4]
    assert [(level.name, level.mean) for level in panel.references] == [("good", 4), ("bad", 9)]
    assert len({level.label for level in panel.references}) == 2
    frame = panel.to_frame()
    assert frame["series"].tolist() == ["cams", "cams", "good", "bad"]
    assert frame["x"].isna().tolist() == [False, False, True, True]


def test_losses_far_apart_are_shown_as_ratios() -> None:
    near = final("cams", 2, [6, 8], [2, 2]) + final("mp", 2, [8, 8], [2, 2])
    far = final("cams", 2, [1, 1], [2, 2]) + final("mp", 2, [8, 8], [2, 2])
    learners = [{"label": "cams"}, {"label": "mp"}]
    assert loss_against_cost(make_record(near, learners=learners), {}).scales == ("from_zero", "linear")
    assert loss_against_cost(make_record(far, learners=learners), {}).scales == ("from_zero", "log")


def test_only_some_learners_are_drawn() -> None:
    rows = final("cams", 2, [6, 8], [2, 2]) + final("mp", 2, [8, 8], [2, 2])
    record = make_record(rows, learners=[{"label": "cams"}, {"label": "mp"}])
    assert [line.name for line in loss_against_cost(record, {"learners": ["mp"]}).series] == ["mp"]


def test_over_time() -> None:
    rows = final("cams", 4, [3, 5], [3, 4])
    rows += [("", "cams", "learner", 4, r, 5, loss, 2) for r, loss in enumerate([1, 4])]
    rows += [("", "best_classifier", "best_classifier", 0, r, t, t // 5, 0) for r in (0, 1) for t in (5, 10)]
    record = make_record(rows)
    bought = queries_over_time(record, {})
    assert bought.series[0].x.tolist() == [5, 10]
    assert bought.series[0].mean.tolist() == [2, 3.5]
    relative = relative_loss_over_time(record, {})
    assert relative.series[0].mean.tolist() == [1.5, 2]
    assert relative.references[0].mean == 0


def test_cases_side_by_side() -> None:
    rows = final("cams", 4, [3, 5], [3, 4], case="flat") + final("cams", 4, [1, 1], [3, 4], case="sharp")
    record = make_record(rows, cases=[{"label": "flat"}, {"label": "sharp"}])
    panel = loss_against_case(record, {"x_label": "Power"})
    assert panel.tick_labels == ("flat", "sharp")
    assert panel.series[0].mean.tolist() == [4, 1]
    lines = loss_against_cost(record, {}).series
    assert [line.label for line in lines] == ["CAMS, flat", "CAMS, sharp"]
    assert lines[0].look.line != lines[1].look.line
    assert lines[0].look.colour == lines[1].look.colour


def test_band_is_over_realizations() -> None:
    rows = final("cams", 2, [2, 4, 6, 8], [1, 1, 1, 1])
    line = loss_against_cost(make_record(rows), {}).series[0]
    assert np.isclose(line.high - line.mean, 2.353363 * 1.290994).all()


def test_unknown_kind() -> None:
    with pytest.raises(cams.InputError, match="there is no kind of panel 'pie'"):
        make_panel(make_record(final("cams", 2, [1], [1])), {"kind": "pie"})


def test_cases_of_one_kind_and_what_was_recorded_beside_the_learners() -> None:
    names = ["opposite 0 %", "opposite 20 %", "complement 0 %"]
    rows = [row for loss, case in enumerate(names) for row in final("cams", 4, [loss, loss], [3, 4], case=case)]
    rows += [row for case in names for row in final("oracle_drawn", 0, [7, 9], [0, 0], "oracle_drawn", case)]
    record = make_record(rows, cases=[{"label": name} for name in names])
    panel = loss_against_case(record, {"cases": "opposite", "series": ["oracle_drawn"]})
    assert panel.tick_labels == ("0 %", "20 %")
    assert [line.mean.tolist() for line in panel.series] == [[0, 1], [8, 8]]
    assert panel.series[1].label == "Oracle, drawn"
    with pytest.raises(cams.InputError, match="no case of malice begins with 'oposite'"):
        loss_against_case(record, {"cases": "oposite"})


def test_labels_to_recover_are_those_to_come_within_five_percent_of_cams() -> None:
    rows = final("cams", 0, [200, 200], [0, 0]) + final("cams", 4, [100, 100], [4, 4])
    rows += final("mp", 0, [155, 155], [0, 0]) + final("mp", 4, [55, 55], [4, 4])
    rows += final("rs", 0, [300, 300], [0, 0]) + final("rs", 4, [250, 250], [4, 4])
    record = make_record(rows, learners=[{"label": "cams"}, {"label": "mp"}, {"label": "rs"}])
    panel = labels_to_recover(record, {})
    np.testing.assert_allclose([line.mean[0] for line in panel.series], [3.8, 2.0, np.nan])
    unlabelled = loss_against_case(record, {"budget": 0})
    assert [line.mean.tolist() for line in unlabelled.series] == [[200], [155], [300]]
    assert unlabelled.y_label == "Errors with no label"
