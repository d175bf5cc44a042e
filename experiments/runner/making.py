"""Making records: the works of all plans go through one queue, and each record is written as soon as it is complete."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import pandas as pd
from tqdm import tqdm

import cams
from cams.engine.compiled import is_compiled
from cams.files import require_writable
from cams.realizations import COMPILING
from data_prep.pipeline.tasks import width_elsewhere
from experiments.records.bundle_facts import describe_bundle
from experiments.records.store import write_record
from experiments.runner.cases import Rows, StreamWork, assembled, stream_works
from experiments.runner.computations import computation
from experiments.runner.places import Places, bundle_digest, origin_of
from experiments.runner.plan import DEFAULT_COMPUTE, Plan
from experiments.runner.queue import work_off

# Of this computation several plans can be computed together.
SHARED = DEFAULT_COMPUTE


class Made(NamedTuple):
    """A record that was written, and the seconds that workers spent on it; or why it could not be made.

    What several records share counts for the first of them.
    """

    plan: Plan
    seconds: float
    error: Exception | None = None


def write_records(plans: Sequence[Plan], places: Places, n_jobs: int, say: Callable[[str], None]) -> Iterator[Made]:
    """Compute the records of all plans in one queue, write each as soon as it is complete, and yield it."""
    for plan in plans:
        require_writable(places.record(plan).parent)
    if plans:
        say(f"replaying for {len(plans)} record{'s' * (len(plans) > 1)} ...")
        if not is_compiled():
            say(COMPILING)
    for made, table, facts in _computed(plans, places, n_jobs or os.cpu_count() or 1):
        name, path = f"{made.plan.experiment} {made.plan.dataset}", places.record(made.plan)
        if made.error is None:
            write_record(path, table, origin_of(made.plan, places), facts)
        with tqdm.external_write_mode():
            say(f"{name}: failed, {made.error}" if made.error else f"{name}: replayed {_size(made.plan)} ({path})")
        yield made


def _computed(
    plans: Sequence[Plan], places: Places, workers: int
) -> Iterator[tuple[Made, pd.DataFrame, dict[str, Any]]]:
    """Yield every plan when the last of its works is done, with the rows of its record and the facts on its bundle."""
    shelf = Shelf(places)
    works = _works(plans, shelf, workers)
    left = Counter(id(plan) for work in works for plan in work.plans)
    seconds, errors = dict.fromkeys(left, 0.0), dict[int, Exception]()
    rows: Rows = {}
    # A cluster divides replays among its own workers.
    for work, spent, result, error in work_off(works, 1 if width_elsewhere() else workers, progress=None):
        seconds[id(work.plans[0])] += spent
        rows |= result or {}
        for plan in work.plans:
            left[id(plan)] -= 1
            if error is not None:
                errors.setdefault(id(plan), error)
            if left[id(plan)] == 0:
                made = Made(plan, seconds[id(plan)], errors.get(id(plan)))
                yield made, pd.DataFrame() if made.error else assembled(plan, rows), shelf.facts(plan)
                for case in plan.cases:
                    rows.pop((id(plan), case.label), None)


def _works(plans: Sequence[Plan], shelf: Shelf, workers: int) -> list[StreamWork | WholeWork]:
    """Return what is to be computed, one data set after the other; what cannot be divided well comes first."""
    works: list[StreamWork | WholeWork] = []
    for _, same in groupby(sorted(plans, key=lambda plan: plan.needs_bundle), key=lambda plan: plan.dataset):
        group = list(same)
        works += [WholeWork(plan, shelf, workers) for plan in group if plan.compute != SHARED]
        shared = [plan for plan in group if plan.compute == SHARED]
        works += stream_works(shared, partial(shelf.bundle, group[0]), workers)
    return works


class WholeWork:
    """A plan whose computation divides itself, as a work for the queue."""

    def __init__(self, plan: Plan, shelf: Shelf, workers: int) -> None:
        self.plans, self.shelf, self.workers = [plan], shelf, workers
        self.size = plan.horizon * plan.realizations * len(plan.learners)
        self.rows = pd.DataFrame()

    def open(self) -> list[Callable[[], None]]:
        return [self._compute]

    def _compute(self) -> None:
        plan = self.plans[0]
        bundle = self.shelf.bundle(plan) if plan.needs_bundle else None
        self.rows = computation(plan.compute)(plan, bundle, self.workers, False)

    def close(self) -> Rows:
        return {(id(self.plans[0]), self.plans[0].cases[0].label): self.rows}


class Shelf:
    """The bundle that is at work, and what records keep about each: workers ask for it, one loads it."""

    def __init__(self, places: Places) -> None:
        self.places, self.lock = places, threading.Lock()
        self.last: tuple[str, cams.Bundle] | None = None
        self.known: dict[str, dict[str, Any]] = {}

    def bundle(self, plan: Plan) -> cams.Bundle:
        """Return the bundle of a plan; only the last one asked for is kept, for those of a data set come together."""
        with self.lock:
            digest = str(bundle_digest(plan, self.places))
            if self.last is None or self.last[0] != digest:
                # Let go of the other before this one is there.
                self.last = None
                self.last = digest, cams.Bundle.load(self.places.bundle(plan.dataset))
                self.known[digest] = describe_bundle(self.last[1], digest)
            return self.last[1]

    def facts(self, plan: Plan) -> dict[str, Any]:
        digest = str(bundle_digest(plan, self.places))
        return self.known.get(digest, {"digest": digest})


def _size(plan: Plan) -> str:
    cases = f"{len(plan.cases)} cases x " if len(plan.cases) > 1 else ""
    return (
        f"{cases}{len(plan.learners)} learners x {len(plan.budgets)} budgets x "
        f"{plan.realizations} realizations of {plan.horizon:,} rounds"
    )
