"""How long it takes to make every record again from the bundles, in a scratch folder.

    python -m experiments.bench_paper

Seconds are by the clock, with all cores; replays that experiments of a row share are played once. `make bench` has this
table too.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import cams
from data_prep.pipeline.shell import plain_entry_point
from experiments.all import selected_experiments, selected_plans
from experiments.runner.configuration import experiment_names
from experiments.runner.making import write_records
from experiments.runner.places import Places

BUNDLES = Path("results/bundles")
STRESS = ("adversarial", "malice", "theory_adversarial", "theory_stochastic")
BEYOND = ("cams_plus", "cams_plus_without_policies", "consensus")
COLUMNS = ["experiments", "records", "seconds"]


def paper_table() -> pd.DataFrame:
    """Return the time of the paper's experiments, of those that stress its claims, of our own, and of all."""
    # What is compiled once for all is no part of it, for advice of single and of double precision.
    for precision in (np.float32, np.float64):
        cams.replay(_tiny(precision), ["cams"], horizon=2, budgets=[1], realizations=1, seed=0)
    paper = [name for name in experiment_names() if name not in (*STRESS, *BEYOND)]
    groups = {
        "the paper's own": paper,
        "bad advice, bad orders, and theory": list(STRESS),
        "beyond the paper": list(BEYOND),
    }
    rows = [(name, *_made(experiments)) for name, experiments in groups.items()]
    totals = [sum(values) for values in zip(*(row[1:] for row in rows), strict=True)]
    return pd.DataFrame([*rows, ("all", *totals)], columns=COLUMNS)


def _made(names: list[str]) -> tuple[int, float]:
    """Return how many records of some experiments were made, and in how many seconds."""
    plans = selected_plans(selected_experiments(names, "laptop"), None)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cams-bench-") as scratch:
        places = Places(BUNDLES, Path(scratch))
        here = [plan for plan in plans if not plan.needs_bundle or places.bundle(plan.dataset).exists()]
        for made in write_records(here, places, 0, lambda _: None):
            if made.error:
                raise made.error
    return len(here), time.perf_counter() - start


def _tiny(precision: type[np.floating[Any]]) -> cams.Bundle:
    advice = np.full((2, 1, 2), 0.5, dtype=precision)
    return cams.Bundle(predictions=[[0, 1], [1, 1]], labels=[0, 1], advice=advice, num_classes=2)


@plain_entry_point
def main(arguments: list[str]) -> None:
    if arguments:
        raise cams.InputError(f"`python -m experiments.bench_paper` takes nothing, and was given {' '.join(arguments)}")
    print(paper_table().to_markdown(index=False, floatfmt=".3g"))


if __name__ == "__main__":
    main()
