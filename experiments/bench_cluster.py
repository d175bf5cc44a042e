"""What a cluster costs: the same replay by threads of this machine and by Dask workers on it.

    python -m experiments.bench_cluster results/bundles/drift.npz
    python -m experiments.bench_cluster results/bundles/drift.npz --repeats 5 --out results/bench/cluster.csv

Efficiency is the time of one thread over the time times the number of workers: 1 where nothing is lost. Each time is
the best of several, after a first replay for which the engine may have to be compiled.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import cams
from cams.files import write_text
from data_prep.pipeline.cluster import connected
from data_prep.pipeline.shell import plain_entry_point
from experiments.runner.blocks import replay_in_blocks

WORKERS = (1, 2)


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Return the least seconds that `work` took, a first time apart."""
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:])


def measure(bundle: cams.Bundle, realizations: int, repeats: int) -> pd.DataFrame:
    """Return a row per way of running: seconds, microseconds a round, efficiency, and what Dask adds to threads."""
    horizon = bundle.num_rows
    learners = ["cams", "mp", "cqbc"]

    def work(n_jobs: int) -> Callable[[], object]:
        return lambda: replay_in_blocks(
            bundle,
            learners,
            horizon=horizon,
            budgets=[horizon // 10],
            realizations=realizations,
            seed=0,
            n_jobs=n_jobs,
        )

    rows = [{"workers": n, "way": "threads", "seconds": best_of(repeats, work(n))} for n in WORKERS]
    for n in WORKERS:
        with connected(f"local:{n}"):
            rows.append({"workers": n, "way": "dask", "seconds": best_of(repeats, work(1))})
    table = pd.DataFrame(rows)
    one = table["seconds"][0]
    threads = table["workers"].map(dict(zip(WORKERS, table["seconds"], strict=False)))
    table["microseconds_a_round"] = table["seconds"] / (len(learners) * realizations * horizon) * 1e6
    table["efficiency"] = one / table["seconds"] / table["workers"]
    table["overhead_percent"] = 100 * (table["seconds"] / threads - 1)
    return table.round(3)


@plain_entry_point
def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.bench_cluster")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--realizations", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    table = measure(cams.Bundle.load(options.bundle), options.realizations, options.repeats)
    print(table.to_string(index=False))
    if options.out:
        write_text(options.out, table.to_csv(index=False))


if __name__ == "__main__":
    main()
