"""One job: make sure that the record of a plan exists, and say what was done."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

import cams
from cams.engine.compiled import is_compiled
from cams.files import require_writable
from cams.realizations import COMPILING
from experiments.records.bundle_facts import describe_bundle
from experiments.records.store import Origin, State, record_path, state_of, write_record
from experiments.runner.cases import compute_together
from experiments.runner.computations import computation, computation_code
from experiments.runner.plan import DEFAULT_COMPUTE, Plan

# Of this computation several plans can be computed together.
SHARED = DEFAULT_COMPUTE


class NoBundle(cams.InputError):
    """There is neither a bundle nor a record: the data set was never built here."""


@dataclass(frozen=True)
class Places:
    """Where bundles are read and results written; `own_bundle` is read in place of all others."""

    bundles: Path
    results: Path
    own_bundle: Path | None = None

    def bundle(self, dataset: str) -> Path:
        return self.own_bundle or self.bundles / f"{dataset}.npz"

    def record(self, plan: Plan) -> Path:
        return record_path(self.results, plan.experiment, plan.dataset, plan.seed)


def origin_of(plan: Plan, places: Places) -> Origin:
    """Return what the record of a plan would be made from now: its values, the bundle here, the code here."""
    return Origin(plan.as_dict(), bundle_digest(plan, places), computation_code(plan.compute))


def record_state(plan: Plan, places: Places) -> State:
    """Tell whether the record of a plan is current, stale (and why), damaged or missing."""
    return state_of(places.record(plan), origin_of(plan, places))


def ensure_record(
    plan: Plan, places: Places, n_jobs: int = 0, say: Callable[[str], None] = print, *, fresh: bool = False
) -> bool:
    """Compute the record of a plan unless it is there and current; return whether it was computed.

    `fresh` computes it also then. Where the bundle is not here, a record of the same plan is the best there is.
    """
    if not needs_computing(plan, places, say, fresh=fresh):
        return False
    for _ in write_records([plan], places, n_jobs, say):
        pass
    return True


def needs_computing(plan: Plan, places: Places, say: Callable[[str], None], *, fresh: bool) -> bool:
    """Tell whether a record must be computed, and say why or why not; refuse one that neither is nor can be made."""
    path, origin = places.record(plan), origin_of(plan, places)
    state, name = state_of(path, origin), f"{plan.experiment} {plan.dataset}"
    if origin.bundle is None:
        if not state.is_current and state.why != ("code",):
            raise _no_bundle(plan, places, state)
        say(f"{name}: taken from its {'' if state.is_current else f'{state} '}record, the bundle is not here ({path})")
        return False
    if state.is_current and not fresh:
        say(f"{name}: up to date ({path})")
        return False
    if state.word != "missing":
        say(f"{name}: its record is {state}")
    return True


def write_records(plans: Sequence[Plan], places: Places, n_jobs: int, say: Callable[[str], None]) -> Iterator[Plan]:
    """Compute the records of plans about one data set together, write each, and yield its plan."""
    for plan in plans:
        require_writable(places.record(plan).parent)
        say(f"{plan.experiment} {plan.dataset}: {_size(plan)} ...")
    if plans and not is_compiled():
        say(COMPILING)
    start = time.perf_counter()
    for plan, table, facts in compute_records(plans, places, n_jobs or os.cpu_count() or 1):
        path = places.record(plan)
        write_record(path, table, origin_of(plan, places), facts)
        say(f"{plan.experiment} {plan.dataset}: replayed after {time.perf_counter() - start:.1f} s ({path})")
        yield plan


def compute_records(
    plans: Sequence[Plan], places: Places, workers: int
) -> Iterator[tuple[Plan, pd.DataFrame, dict[str, Any]]]:
    """Yield each plan of one data set with the rows of its record and what it keeps about its bundle."""
    shared = [plan for plan in plans if plan.compute == SHARED]
    if shared:
        bundle, facts = _bundle_and_facts(shared[0], places)
        for plan, table in zip(shared, compute_together(shared, bundle, workers, None), strict=True):
            yield plan, table, facts
    for plan in plans:
        if plan.compute != SHARED:
            bundle, facts = _bundle_and_facts(plan, places)
            yield plan, computation(plan.compute)(plan, bundle, workers, None), facts


def _bundle_and_facts(plan: Plan, places: Places) -> tuple[Any, dict[str, Any]]:
    digest = str(bundle_digest(plan, places))
    if not plan.needs_bundle:
        return None, {"digest": digest}
    bundle = load_bundle(places.bundle(plan.dataset), digest)
    return bundle, describe_bundle(bundle, digest)


def _no_bundle(plan: Plan, places: Places, state: State) -> cams.InputError:
    path, build = places.bundle(plan.dataset), f"`make {plan.dataset}` builds it"
    if places.own_bundle:
        return cams.InputError(f"there is no bundle {path}")
    if state.word == "missing":
        return NoBundle(f"data set '{plan.dataset}' has no bundle {path}; {build}")
    return cams.InputError(f"the record {places.record(plan)} is {state} and its bundle {path} is not here; {build}")


def bundle_digest(plan: Plan, places: Places) -> str | None:
    """Return the hash of the plan's bundle, None if it is not here, and a fixed word if none is needed."""
    if not plan.needs_bundle:
        return "none"
    path = places.bundle(plan.dataset)
    return file_digest(path) if path.exists() else None


def _size(plan: Plan) -> str:
    cases = f"{len(plan.cases)} cases x " if len(plan.cases) > 1 else ""
    return (
        f"replaying {cases}{len(plan.learners)} learners x {len(plan.budgets)} budgets x "
        f"{plan.realizations} realizations of {plan.horizon:,} rounds"
    )


@lru_cache(maxsize=1)
def load_bundle(path: Path, digest: str | None) -> cams.Bundle:
    """Load a bundle, keeping the last one: experiments on one data set follow each other."""
    return cams.Bundle.load(path)


@lru_cache(maxsize=16)
def _digest(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


def say_now(sentence: str) -> None:
    """Print at once, also into a pipe: someone may be watching a log."""
    print(sentence, flush=True)
