"""One job: make sure that the record of a plan exists, and say what was done."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cams
from experiments.plan import Plan
from experiments.records import is_current, record_path, write_record
from experiments.replays import describe_bundle


@dataclass(frozen=True)
class Places:
    """Where bundles are read and results written."""

    bundles: Path
    results: Path

    def bundle(self, dataset: str) -> Path:
        return self.bundles / f"{dataset}.npz"

    def record(self, plan: Plan) -> Path:
        return record_path(self.results, plan.experiment, plan.dataset, plan.seed)


def ensure_record(plan: Plan, places: Places, n_jobs: int = 0, say: Callable[[str], None] = print) -> bool:
    """Compute the record of a plan unless it is there and current; return whether it was computed."""
    path, bundle_path = places.record(plan), places.bundle(plan.dataset)
    have_bundle = bundle_path.exists()
    digest = file_digest(bundle_path) if have_bundle else None
    if is_current(path, plan, digest):
        source = "up to date" if have_bundle else "taken from its record, the bundle is not here"
        say(f"{plan.experiment} {plan.dataset}: {source} ({path})")
        return False
    if not have_bundle:
        raise cams.InputError(f"data set '{plan.dataset}' has no bundle {bundle_path}; `make {plan.dataset}` builds it")
    say(f"{plan.experiment} {plan.dataset}: {_size(plan)} ...")
    start = time.perf_counter()
    bundle = load_bundle(bundle_path, digest)
    table = _compute_function(plan.compute)(plan, bundle, n_jobs or os.cpu_count() or 1, None)
    write_record(path, table, plan, describe_bundle(bundle, digest or ""))
    say(f"{plan.experiment} {plan.dataset}: replayed in {time.perf_counter() - start:.1f} s ({path})")
    return True


def _size(plan: Plan) -> str:
    cases = f"{len(plan.cases)} cases x " if len(plan.cases) > 1 else ""
    return (
        f"replaying {cases}{len(plan.learners)} learners x {len(plan.budgets)} budgets x "
        f"{plan.realizations} realizations of {plan.horizon:,} rounds"
    )


def _compute_function(path: str) -> Callable[..., object]:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


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
    print(sentence, file=sys.stderr, flush=True)
