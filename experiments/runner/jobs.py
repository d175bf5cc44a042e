"""One job: make sure that the record of a plan exists, and say what was done."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cams
from cams.engine.compiled import is_compiled
from cams.realizations import COMPILING
from experiments.records.bundle_facts import describe_bundle
from experiments.records.store import is_current, record_path, write_record
from experiments.records.timings import write_timing
from experiments.runner.computations import computation
from experiments.runner.plan import Plan


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


def ensure_record(
    plan: Plan, places: Places, n_jobs: int = 0, say: Callable[[str], None] = print, *, fresh: bool = False
) -> bool:
    """Compute the record of a plan unless it is there and current; return whether it was computed.

    `fresh` computes it also then, if the bundle is here.
    """
    path, digest = places.record(plan), bundle_digest(plan, places)
    if is_current(path, plan, digest) and not (fresh and digest is not None):
        source = "up to date" if digest is not None else "taken from its record, the bundle is not here"
        say(f"{plan.experiment} {plan.dataset}: {source} ({path})")
        return False
    if digest is None:
        raise _no_bundle(plan, places)
    say(f"{plan.experiment} {plan.dataset}: {_size(plan)} ...")
    if not is_compiled():
        say(COMPILING)
    start = time.perf_counter()
    bundle = load_bundle(places.bundle(plan.dataset), digest) if plan.needs_bundle else None
    workers = n_jobs or os.cpu_count() or 1
    table = computation(plan.compute)(plan, bundle, workers, None)
    facts = describe_bundle(bundle, digest) if bundle else {"digest": digest}
    write_record(path, table, plan, facts)
    seconds = time.perf_counter() - start
    write_timing(path, seconds, workers)
    say(f"{plan.experiment} {plan.dataset}: replayed in {seconds:.1f} s ({path})")
    return True


def _no_bundle(plan: Plan, places: Places) -> cams.InputError:
    if places.own_bundle:
        return cams.InputError(f"there is no bundle {places.own_bundle}")
    path = places.bundle(plan.dataset)
    return cams.InputError(f"data set '{plan.dataset}' has no bundle {path}; `make {plan.dataset}` builds it")


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
