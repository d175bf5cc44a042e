"""How fast the replay engine is, as ratios within one run.

    python -m experiments.bench [out=results/bench]

On a made-up bundle of CIFAR10's shape it compares each learner's compiled replay with the readable one-round learner,
and with merely reading the advice in the same order, which no learner that looks at all advice can beat. The online
selector's steps are compared with the engine's rounds. Last comes the whole paper: every record made again.
Times are of one thread's own processor time, the best of several runs, so that a busy machine disturbs them least.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from numba import njit
from tqdm import tqdm

import cams
from cams.engine.kernel import new_game, play_rounds
from cams.engine.state import Stream
from cams.errors import InputError
from cams.randomness import stream_order, uniforms
from data_prep.pipeline.shell import plain_entry_point
from experiments.bench_paper import paper_table

YARDSTICKS = """\
times faster than one-round: than the same learner of `cams.learners`, one round after another
times the reading bound: of merely adding up the advice in the same order, once
"""
LEARNER_COLUMNS = ["learner", "microseconds per round", "times faster than one-round", "times the reading bound"]
SELECTOR_COLUMNS = ["learner", "k", "n", "labels awaited", "microseconds per step", "times the engine's round"]
# Learner, k, n and labels awaited meanwhile.
SELECTOR_CASES = [
    ("cams", 10, 10, 0),
    ("cams", 10, 10, 12000),
    ("cams", 80, 85, 0),
    *((learner, k, n, 0) for learner in ("cams_plus", "cqbc", "ciwal") for k, n in ((10, 10), (80, 85))),
]
# What the paper's main figure compares.
MAIN_LEARNERS = ["cams", "oracle", "cqbc", "ciwal", "mp", "rs", "qbc", "iwal"]
BUDGET = 1200
ONE_ROUND_STEPS = 300
# Learners whose query probability knows the budget: each budget is a path of its own, so a curve has no shortcut.
PATH_PER_BUDGET = ("rs", "cams_random_query")
CONTEXT_FREE = ("mp", "qbc", "iwal", "rs")


@njit(cache=True, fastmath=True, nogil=True)
def read_advice(rows: npt.NDArray[np.int64], advice: npt.NDArray[np.float32]) -> np.float32:
    """Sum the advice in stream order: the least that can be done with it."""
    total = np.float32(0)
    for row in rows:
        for i in range(advice.shape[1]):
            for j in range(advice.shape[2]):
                total += advice[row, i, j]
    return total


def made_up_bundle(num_rows: int, k: int, n: int, c: int) -> cams.Bundle:
    """Return a bundle of models that are right half of the time and advice that knows nothing."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, c, num_rows)
    votes = np.where(rng.random((num_rows, k)) < 0.5, labels[:, None], rng.integers(0, c, (num_rows, k)))
    advice = rng.random((num_rows, n, k), dtype=np.float32) ** 3 if n else None
    if advice is not None:
        advice /= advice.sum(axis=2, keepdims=True)
    return cams.Bundle(predictions=votes, labels=labels, advice=advice, num_classes=c)


def seconds(run: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.thread_time) -> float:
    """Return the least time of several runs after one to warm up."""
    run()
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def ratio(
    dear: Callable[[], object],
    cheap: Callable[[], object],
    repeats: int = 7,
    clock: Callable[[], float] = time.thread_time,
) -> float:
    """Return how many times as long one run takes as another, each the best of several in turns."""
    pairs = [(seconds(dear, 1, clock), seconds(cheap, 1, clock)) for _ in range(repeats)]
    return min(long for long, _ in pairs) / min(short for _, short in pairs)


def replayed(
    bundle: cams.Bundle, learners: list[str], budgets: list[int], horizon: int, realizations: int = 1, n_jobs: int = 1
) -> Callable[[], object]:
    return lambda: cams.replay(
        bundle, learners, horizon=horizon, budgets=budgets, realizations=realizations, seed=0, n_jobs=n_jobs
    )


def reading(bundle: cams.Bundle, times: int, threads: int) -> Callable[[], object]:
    """Return what sums up the advice several times over, shared by some threads: what this machine's memory allows."""
    rows = stream_order(0, 0, bundle.num_rows, bundle.num_rows)

    def run() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda _: read_advice(rows, bundle.advice), range(times)))

    return run


def in_this_thread(bundle: cams.Bundle, learner: str, budgets: list[int], horizon: int) -> Callable[[], object]:
    """Return the compiled replay of one realization without thread pool, hindsight or bookkeeping."""
    n = bundle.num_policies
    made = cams.make_learner(
        learner,
        num_models=bundle.num_models,
        num_policies=n,
        num_classes=bundle.num_classes,
        horizon=horizon,
        budget=budgets[-1],
    )
    rows, draws = stream_order(0, 0, bundle.num_rows, horizon), uniforms(0, 0, horizon)
    pool = bundle.whole()
    stream = Stream(rows, pool.predictions, pool.labels, pool.advice, draws, bundle.num_classes, 1.0, 0.0)
    kernel: Any = made.kernel()
    losses, queries = np.zeros((2, len(budgets), 1), np.int64)

    def run() -> None:
        game = new_game(kernel, stream, len(budgets))
        play_rounds(game, np.asarray(budgets), np.array([horizon]), losses, queries, 0, horizon)

    return run


def one_round_seconds(bundle: cams.Bundle, learner: str, horizon: int) -> float:
    """Return the time per round of the readable learner."""
    rows, draws = stream_order(0, 0, bundle.num_rows, horizon), uniforms(0, 0, horizon)
    settings: dict[str, Any] = {"policy": 0} if cams.LEARNERS[learner].needs_hindsight else {}

    def run() -> None:
        made = cams.make_learner(
            learner,
            num_models=bundle.num_models,
            num_policies=bundle.num_policies,
            num_classes=bundle.num_classes,
            horizon=horizon,
            budget=BUDGET,
            **settings,
        )
        deque(cams.play(made, bundle, rows[:ONE_ROUND_STEPS], draws), maxlen=0)

    return seconds(run, repeats=3) / ONE_ROUND_STEPS


def learner_table(bundle: cams.Bundle) -> pd.DataFrame:
    """Return every learner's time per round, and its two ratios."""
    horizon = bundle.num_rows
    rows_in_order = stream_order(0, 0, horizon, horizon)
    rows = []
    for learner in tqdm(cams.LEARNERS, desc="learners", leave=False, disable=None):
        run = in_this_thread(bundle, learner, [BUDGET], horizon)
        compiled, slow = seconds(run) / horizon, one_round_seconds(bundle, learner, horizon)
        # In turns, so that both meet the same weather.
        bound = ratio(run, lambda: read_advice(rows_in_order, bundle.advice))
        rows.append((learner, compiled * 1e6, slow / compiled, bound))
    return pd.DataFrame(rows, columns=LEARNER_COLUMNS)


def scaling_table(bundle: cams.Bundle) -> pd.DataFrame:
    """Return how cost grows: with budgets, T, advice and realizations, and with a second thread."""
    horizon, half = bundle.num_rows, bundle.num_rows // 2
    curve = [int(b) for b in np.linspace(0, BUDGET, 25)]
    cams_alone = in_this_thread(bundle, "cams", [BUDGET], horizon)
    narrow = made_up_bundle(bundle.num_rows, bundle.num_models // 2, bundle.num_policies, bundle.num_classes)
    names = [name for name in cams.LEARNERS if name not in PATH_PER_BUDGET]
    rows = [
        (
            f"{name}: 25 budgets / 1 budget",
            ratio(in_this_thread(bundle, name, curve, horizon), in_this_thread(bundle, name, [BUDGET], horizon)),
        )
        for name in tqdm(names, desc="curves", leave=False, disable=None)
    ]
    one, two = (replayed(bundle, ["cams"], [BUDGET], horizon, 8, n_jobs=jobs) for jobs in (1, 2))
    read_once = reading(bundle, 1, 1)
    rows += [
        (
            f"{len(learners)} learners, one realization through cams.replay / merely reading its advice once",
            # Of the whole process: a replay has threads of its own.
            ratio(replayed(bundle, learners, [BUDGET], horizon), read_once, clock=time.process_time),
        )
        for learners in tqdm((["cams"], MAIN_LEARNERS), desc="together", leave=False, disable=None)
    ]
    rows += [
        ("cams: T / (T/2)", ratio(cams_alone, in_this_thread(bundle, "cams", [BUDGET], half))),
        ("cams: k / (k/2)", ratio(cams_alone, in_this_thread(narrow, "cams", [BUDGET], horizon))),
        (
            "cams: 8 realizations / 1 (wall)",
            ratio(one, replayed(bundle, ["cams"], [BUDGET], horizon, 1), clock=time.perf_counter),
        ),
        ("cams: 1 thread / 2 threads (wall)", ratio(one, two, clock=time.perf_counter)),
        (
            "merely reading the advice: 1 thread / 2 threads (wall)",
            ratio(reading(bundle, 8, 1), reading(bundle, 8, 2), clock=time.perf_counter),
        ),
    ]
    small = made_up_bundle(3000, 9, 0, 6)
    rows += [
        (f"{name}: microseconds per round at T=3000, k=9, n=0, c=6", 1e6 / 3000 * seconds(run))
        for name in CONTEXT_FREE
        for run in [in_this_thread(small, name, [3000], 3000)]
    ]
    return pd.DataFrame(rows, columns=["what", "value"])


def steps(selector: cams.Selector, bundle: cams.Bundle) -> Callable[[], object]:
    """Return what steps a selector through a bundle."""

    def run() -> None:
        for votes, advice in zip(bundle.predictions, bundle.advice, strict=True):
            selector.step(votes, advice)

    return run


def selector_table() -> pd.DataFrame:
    """Return the online selector's time per step beside the compiled engine's, also while many labels are awaited."""
    rows = []
    for learner, k, n, awaited in tqdm(SELECTOR_CASES, desc="selector", leave=False, disable=None):
        bundle = made_up_bundle(2000, k, n, 10)
        # With so high a floor it asks for every label until as many as can be paid for are awaited.
        settings: dict[str, Any] = {"floor": 1e6} if awaited else {}
        selector = cams.Selector(
            models=bundle.model_names,
            policies=bundle.policy_names,
            num_classes=10,
            budget=awaited,
            learner=learner,
            **settings,
        )
        step = steps(selector, bundle)
        while len(selector.pending) < awaited:
            step()
        compiled = seconds(in_this_thread(bundle, learner, [BUDGET], bundle.num_rows))
        slow = seconds(step)
        rows.append((learner, k, n, awaited, 1e6 * slow / bundle.num_rows, slow / compiled))
    return pd.DataFrame(rows, columns=SELECTOR_COLUMNS)


def show(name: str, table: pd.DataFrame, out: Path | None) -> None:
    """Print a table, and write it as CSV and Markdown to a folder if there is one."""
    text = table.to_markdown(index=False, floatfmt=".3g")
    print(text, end="\n\n")
    if out is not None:
        table.to_csv(out / f"{name}.csv", index=False, float_format="%.3g")
        (out / f"{name}.md").write_text(text + "\n")


def folder_asked_for(arguments: list[str]) -> Path | None:
    """Return the folder to write to, made ready before anything is measured."""
    if not arguments:
        return None
    name = arguments[0].removeprefix("out=")
    if len(arguments) > 1 or name in ("", arguments[0]):
        given = " ".join(arguments)
        raise InputError(f"`python -m experiments.bench` takes out=FOLDER and nothing else, and was given {given}")
    try:
        Path(name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {name}: {error.strerror}") from None
    return Path(name)


@plain_entry_point
def main(arguments: list[str]) -> None:
    out = folder_asked_for(arguments)
    bundle = made_up_bundle(10000, 80, 85, 10)
    print(YARDSTICKS)
    show("learners", learner_table(bundle), out)
    show("scaling", scaling_table(bundle), out)
    show("selector", selector_table(), out)
    show("paper", paper_table(), out)


if __name__ == "__main__":
    main()
