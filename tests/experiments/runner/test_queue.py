"""The queue: every work is done once whatever the workers, a failure stays its own, and few works are open at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import cams
from experiments.records.store import read_record
from experiments.runner import cases
from experiments.runner.making import write_records
from experiments.runner.places import Places
from experiments.runner.plan import Case, Learner, Plan
from experiments.runner.queue import MOST_OPEN, work_off


class Sum:
    """Add up numbers, one piece for each; keep count of the works that are open."""

    open_now, most_open = 0, 0
    lock = threading.Lock()

    def __init__(self, numbers: list[int], size: int = 1) -> None:
        self.numbers, self.size = numbers, size
        self.done: list[int] = []

    def open(self) -> list[Callable[[], None]]:
        with Sum.lock:
            Sum.open_now += 1
            Sum.most_open = max(Sum.most_open, Sum.open_now)
        return [lambda number=number: self.add(number) for number in self.numbers]  # type: ignore[misc]

    def add(self, number: int) -> None:
        time.sleep(0.001)
        if number < 0:
            raise ValueError(f"{number} is negative")
        self.done.append(number)

    def close(self) -> int:
        with Sum.lock:
            Sum.open_now -= 1
        return sum(self.done)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_work_is_done_once_by_any_number_of_workers(workers: int) -> None:
    Sum.open_now = Sum.most_open = 0
    works = [Sum(list(range(count))) for count in (7, 0, 1, 12, 3, 5)]
    finished = list(work_off(works, workers))
    assert {id(one.work): one.result for one in finished} == {id(work): sum(work.numbers) for work in works}
    assert all(sorted(work.done) == work.numbers for work in works)
    assert Sum.most_open <= MOST_OPEN
    assert all(one.seconds > 0 for one in finished if one.work.numbers)


def test_works_are_opened_in_their_order_and_the_oldest_goes_on_first() -> None:
    works = [Sum([1, 2]), Sum([3, 4]), Sum([5])]
    assert [one.result for one in work_off(works, 1)] == [3, 7, 5]


def test_a_failing_work_is_named_and_the_others_are_done() -> None:
    works = [Sum([1, 2]), Sum([1, -1, 2]), Sum([4])]
    finished = {id(one.work): one for one in work_off(works, 2)}
    assert [finished[id(work)].result for work in works] == [3, None, 4]
    assert str(finished[id(works[1])].error) == "-1 is negative"


def test_who_stops_asking_stops_the_workers() -> None:
    works = [Sum([1])] + [Sum([2] * 50) for _ in range(20)]
    queue = work_off(works, 2)
    assert next(queue).result == 1
    queue.close()
    before = -1
    while before != (before := sum(len(work.done) for work in works)):
        time.sleep(0.05)
    assert before < 500


PLAN = Plan(
    experiment="one",
    dataset="small",
    seed=0,
    horizon=60,
    realizations=5,
    budgets=(0, 20),
    trace_rounds=(),
    trace_budgets=(),
    learners=(Learner("cams", "cams", {}), Learner("rs", "rs", {})),
    cases=(Case("plain"), Case("flat", temper=0.25)),
)


def plans() -> list[Plan]:
    """Three experiments on two data sets, and one that asks for more rows than there are."""
    return [
        PLAN,
        replace(PLAN, experiment="other", cases=(Case("flat", temper=0.25),)),
        replace(PLAN, experiment="too long", horizon=10**6),
        replace(PLAN, dataset="same"),
    ]


@pytest.fixture
def bundles(tmp_path: Path, bundle: cams.Bundle) -> Path:
    (tmp_path / "bundles").mkdir()
    for name in ("small", "same"):
        bundle.save(tmp_path / "bundles" / f"{name}.npz")
    return tmp_path / "bundles"


def test_records_do_not_depend_on_workers_and_one_that_fails_takes_no_other_along(
    tmp_path: Path, bundles: Path
) -> None:
    tables: list[list[pd.DataFrame]] = []
    for workers in (1, 3):
        places, said = Places(bundles, tmp_path / str(workers)), list[str]()
        made = list(write_records(plans(), places, workers, said.append))
        errors = {one.plan.experiment: str(one.error) for one in made if one.error}
        assert list(errors) == ["too long"]
        assert errors["too long"].startswith("horizon 1000000 is above")
        assert any(sentence.startswith("too long small: failed, horizon") for sentence in said)
        good = [plan for plan in plans() if plan.experiment != "too long"]
        tables.append([read_record(places.record(plan)).table for plan in good])
    for one, three in zip(*tables, strict=True):
        pd.testing.assert_frame_equal(one, three)


def test_an_interruption_loses_no_record_that_was_finished(tmp_path: Path, bundles: Path) -> None:
    places = Places(bundles, tmp_path)
    wanted = [plan for plan in plans() if plan.experiment != "too long"]
    first = next(write_records(wanted, places, 2, lambda _: None)).plan
    read_record(places.record(first))
    # Nothing half-written lies about, and what is missing can be made afterwards.
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in (".parquet", ".npz")]
    rest = [plan for plan in wanted if plan is not first]
    assert {id(made.plan) for made in write_records(rest, places, 2, lambda _: None)} == {id(plan) for plan in rest}


def test_what_no_policy_contradicts_is_shared(bundle: cams.Bundle) -> None:
    honest = replace(PLAN, cases=tuple(Case(word, malicious=0.0, contrary=word) for word in ("opposite", "complement")))
    assert len(cases.stream_works([honest], lambda: bundle, 1)) == 1
    opposite, complement = (rows for _, rows in cases.compute(honest, bundle, 1, False).groupby("case"))
    assert opposite["loss"].tolist() == complement["loss"].tolist()


def test_work_without_rounds_is_not_waited_for() -> None:
    class Empty:
        size = 0

        def open(self) -> list[object]:
            return []

        def close(self) -> str:
            return "closed"

    (done,) = work_off([Empty()], 2)  # type: ignore[list-item]
    assert (done.result, done.error) == ("closed", None)
