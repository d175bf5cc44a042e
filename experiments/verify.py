"""The proof: make every record again from the bundles, draw every figure, judge every claim, and compare.

    python -m experiments.verify
    python -m experiments.verify 'datasets=[vertebral]' 'experiments=[main,rcl]'

Works in a scratch folder and changes nothing under results/. Records are compared value by value, figures byte by byte,
verdicts number by number; the first difference of each is named. Exit code 1 if there is any. Seconds are those of all
workers together; replays that several experiments share are played once, and count for the first of them.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from hydra import compose
from omegaconf import DictConfig, OmegaConf

import cams
from data_prep.pipeline.schema import check
from data_prep.pipeline.shell import entry_point
from experiments.all import check_datasets, selected_experiments, selected_plans
from experiments.claims.ledger import make_ledger, stored_ledger, write_ledger
from experiments.figures.everything import draw_all
from experiments.records.difference import record_difference, value_difference
from experiments.runner.freshness import notes_on_records
from experiments.runner.jobs import say_now
from experiments.runner.making import write_records
from experiments.runner.places import Places
from experiments.runner.plan import Plan
from experiments.runner.shape import VERIFY

SAME = "same"
DIFFERENT = 1


class Row(NamedTuple):
    """One line of the table."""

    what: str
    dataset: str
    seconds: float
    difference: str

    def __str__(self) -> str:
        return f"{self.what:28s} {self.dataset:12s} {self.seconds:8.1f}  {self.difference or SAME}"


def verify(cfg: DictConfig, scratch: Path) -> list[Row]:
    """Make everything again under `scratch`, print a line for each result, and return the lines."""
    experiments = selected_experiments(cfg.experiments, "laptop")
    check_datasets(cfg.datasets, experiments)
    kept, made = (Places(Path(cfg.paths.bundles), folder) for folder in (Path(cfg.paths.results), scratch))
    plans = selected_plans(experiments, cfg.datasets)
    say_now(f"{'experiment':28s} {'data set':12s} {'seconds':>8s}  result")
    rows = []
    for row in _everything(cfg, experiments, plans, kept, made):
        say_now(str(row))
        rows.append(row)
    return rows


def _everything(
    cfg: DictConfig, experiments: dict[str, DictConfig], plans: list[Plan], kept: Places, made: Places
) -> Iterator[Row]:
    yield from _records(plans, kept, made, cfg.n_jobs)
    yield from _figures(experiments, plans, cfg, kept, made)
    if cfg.experiments is None and cfg.datasets is None:
        yield _claims(kept.results, made.results)


def _records(plans: list[Plan], kept: Places, made: Places, n_jobs: int) -> Iterator[Row]:
    """Make the records; without a bundle that cannot be, unless there is nothing to be verified."""
    wanted = []
    for plan in plans:
        if not plan.needs_bundle or kept.bundle(plan.dataset).exists():
            wanted.append(plan)
        elif kept.record(plan).exists():
            yield Row(plan.experiment, plan.dataset, 0.0, f"there is no bundle {kept.bundle(plan.dataset)}")
    for plan, seconds, error in write_records(wanted, made, n_jobs, _silently):
        difference = str(error) if error else record_difference(kept.record(plan), made.record(plan))
        yield Row(plan.experiment, plan.dataset, seconds, difference)


def _figures(
    experiments: dict[str, DictConfig], plans: list[Plan], cfg: DictConfig, kept: Places, made: Places
) -> Iterator[Row]:
    """Draw from the new records and compare every file with the one that was kept."""
    start = time.perf_counter()
    draw_all(experiments, plans, made, _silently, cfg.n_jobs)
    seconds = time.perf_counter() - start
    drawn = sorted(path.relative_to(made.results) for path in made.results.glob("figures/*/*.*"))
    # Of some data sets or experiments alone a composed figure comes out smaller.
    if cfg.datasets is not None:
        drawn = [path for path in drawn if path.stem in cfg.datasets]
    if cfg.experiments is not None:
        drawn = [path for path in drawn if not experiments[path.parent.name].experiment.compose]
    for folder, paths in groupby(drawn, key=lambda path: path.parent.name):
        different = [path for path in paths if not _same_bytes(kept.results / path, made.results / path)]
        difference = f"{different[0]} is drawn otherwise" if different else ""
        yield Row(f"figures of {folder}", "", seconds, difference)
        seconds = 0.0


def _same_bytes(first: Path, second: Path) -> bool:
    return first.is_file() and first.read_bytes() == second.read_bytes()


def _claims(kept: Path, made: Path) -> Row:
    """Judge the new records, beside the kept ones of other training seeds, and compare the ledgers."""
    start = time.perf_counter()
    if (kept / "seeds").exists():
        shutil.copytree(kept / "seeds", made / "seeds", ignore=shutil.ignore_patterns("bundles"))
    config: dict[str, Any] = OmegaConf.to_container(compose("claims"), resolve=True)  # type: ignore[assignment]
    seed = int(config["seed"])
    write_ledger(make_ledger(config, made, seed, notes_on_records(made, seed)), made)
    difference = value_difference(_ledger(kept), _ledger(made))
    return Row("claims", "", time.perf_counter() - start, difference)


def _ledger(results: Path) -> dict[str, Any]:
    """Read a ledger without what it says of its own making: figures that others draw are not in the scratch folder."""
    return {key: value for key, value in stored_ledger(results).items() if key != "made_from"}


def _silently(sentence: str) -> None:
    """The table says it all."""


@entry_point("verify")
def main(cfg: DictConfig) -> None:
    check(cfg, VERIFY, "")
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cams-verify-") as scratch:
        # Notes on records look for the bundles beside them.
        os.symlink(Path(cfg.paths.bundles).resolve(), Path(scratch) / "bundles")
        rows = verify(cfg, Path(scratch))
    if not rows:
        raise cams.InputError(f"there is nothing to verify: no bundle in {cfg.paths.bundles} fits what was asked for")
    different = sum(bool(row.difference) for row in rows)
    say_now(f"{len(rows) - different} same, {different} different, after {time.perf_counter() - start:.0f} s")
    if different:
        sys.exit(DIFFERENT)


if __name__ == "__main__":
    main()
