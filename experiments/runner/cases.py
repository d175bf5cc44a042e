"""The usual computation behind a record: prepare the bundle as each case says, replay, write rows.

Other computations are named in experiments/runner/computations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.bundle import Bundle
from cams.errors import InputError
from cams.outcome import Replay
from cams.randomness import stream_order
from data_prep.pipeline.tasks import width_elsewhere
from experiments.records.columns import BEST_CLASSIFIER, CLASSIFIER, LEARNER, ORACLE_DRAWN
from experiments.regret.losses import policy_losses
from experiments.runner.blocks import BLOCKS_PER_WORKER, replay_in_blocks
from experiments.runner.plan import Case, Plan
from experiments.runner.preparation import prepare_bundle
from experiments.runner.queue import work_off
from experiments.runner.sharing import Part, Together, with_same_streams

Array = npt.NDArray[np.float64]
# Rows by plan (its identity) and the label of a case.
Rows = dict[tuple[int, str], pd.DataFrame]


def compute(plan: Plan, bundle: Bundle, n_jobs: int, progress: bool | None) -> pd.DataFrame:
    """Replay every case of a plan and return the rows of its record."""
    return compute_together([plan], bundle, n_jobs, progress)[0]


def compute_together(plans: Sequence[Plan], bundle: Bundle, n_jobs: int, progress: bool | None) -> list[pd.DataFrame]:
    """Replay plans about one bundle, what they share only once, and return the rows of each one's record."""
    rows: Rows = {}
    for finished in work_off(stream_works(plans, lambda: bundle, n_jobs), n_jobs, progress):
        if finished.error:
            raise finished.error
        rows |= finished.result
    return [assembled(plan, rows) for plan in plans]


def stream_works(plans: Sequence[Plan], bundle: Callable[[], Bundle], workers: int) -> list[StreamWork]:
    """Return what must be replayed for plans about one bundle, what they share only once."""
    parts = [Part(plan, case) for plan in plans for case in plan.cases]
    return [StreamWork(same, bundle, workers) for same in with_same_streams(parts)]


def assembled(plan: Plan, rows: Rows) -> pd.DataFrame:
    """Return the rows of a plan's record from those of its cases."""
    return pd.concat([rows[id(plan), case.label] for case in plan.cases], ignore_index=True)


class StreamWork:
    """The cases of any plans about one bundle that have the same streams, as a work for the queue."""

    def __init__(self, parts: Sequence[Part], bundle: Callable[[], Bundle], workers: int) -> None:
        self.parts, self.bundle, self.workers = parts, bundle, workers
        plan = parts[0].plan
        self.plans = list({id(part.plan): part.plan for part in parts}.values())
        self.size = plan.horizon * plan.realizations * sum(len(part.plan.learners) for part in parts)
        self.together: Together | None = None

    def open(self) -> list[Callable[[], None]]:
        bundle, (plan, case) = self.bundle(), self.parts[0]
        if plan.horizon > bundle.num_rows:
            raise InputError(
                f"horizon {plan.horizon} is above the {bundle.num_rows} rows of the bundle '{plan.dataset}'"
            )
        self.together = Together(self.parts, prepare_bundle(bundle, case, plan.seed))
        # Workers elsewhere divide a replay themselves.
        return self.together.pieces(1 if width_elsewhere() else BLOCKS_PER_WORKER * self.workers)

    def close(self) -> Rows:
        """Return the rows of every part, by plan and case."""
        assert self.together is not None  # it was opened
        bundle, results = self.together.bundle, self.together.results()
        self.together = None
        return {(id(part.plan), part.case.label): _rows(part, bundle, result) for part, result in results}


def replay_in_order(
    plan: Plan, bundle: Bundle, orders: npt.NDArray[np.int64], rounds: npt.NDArray[np.int64], n_jobs: int,
    regularize: bool,
) -> Replay:  # fmt: skip
    """Replay a plan's learners on rows in given orders (R, T), unlimited labels, traced at some rounds."""
    return replay_in_blocks(
        bundle,
        [learner.as_replay_entry() for learner in plan.learners],
        horizon=plan.horizon,
        budgets=[plan.horizon],
        realizations=plan.realizations,
        seed=plan.seed,
        n_jobs=n_jobs,
        regularize=regularize,
        trace=rounds,
        order=orders,
        # The queue shows how far everything is.
        progress=False,
    )


def _rows(part: Part, prepared: Bundle, result: Replay) -> pd.DataFrame:
    plan, case = part
    frames = [_final_rows(result, plan), _reference_rows(result, prepared, plan)]
    if plan.trace_rounds:
        frames += [_trace_rows(result, plan), _best_classifier_rows(result, plan)]
    if plan.options.get("oracle_drawn"):
        frames.append(_oracle_drawn_rows(prepared, plan, case))
    return pd.concat(frames, ignore_index=True).assign(case=case.label)


def _final_rows(result: Replay, plan: Plan) -> pd.DataFrame:
    realizations = range(plan.realizations)
    index = product(result.learners, [LEARNER], [int(b) for b in result.budgets], realizations, [plan.horizon])
    return _frame(index, result.loss.ravel(), result.queries.ravel())


def _trace_rows(result: Replay, plan: Plan) -> pd.DataFrame:
    """Rows before the horizon (where the final rows are) for the budgets whose course is wanted."""
    rounds = [t for t in plan.trace_rounds if t < plan.horizon]
    traced = [list(result.budgets).index(b) for b in plan.trace_budgets]
    index = product(result.learners, [LEARNER], plan.trace_budgets, range(plan.realizations), rounds)
    cut = np.s_[:, traced, :, : len(rounds)]
    return _frame(index, result.loss_trace[cut].ravel(), result.queries_trace[cut].ravel())


def _reference_rows(result: Replay, bundle: Bundle, plan: Plan) -> pd.DataFrame:
    """The final loss of every classifier and of every policy's favourite model."""
    names = list(bundle.model_names) + list(bundle.policy_names)
    kinds = [CLASSIFIER] * bundle.num_models + list(bundle.policy_kinds)
    losses = np.concatenate([result.model_losses, result.policy_losses], axis=1).T
    frame = pd.DataFrame({"series": np.repeat(names, plan.realizations), "kind": np.repeat(kinds, plan.realizations)})
    frame["realization"] = np.tile(np.arange(plan.realizations), len(names))
    return frame.assign(budget=0, round=plan.horizon, loss=losses.ravel(), queries=0)


def _best_classifier_rows(result: Replay, plan: Plan) -> pd.DataFrame:
    best = result.model_losses.argmin(axis=1)
    losses = result.model_loss_trace[np.arange(plan.realizations), :, best]
    index = product([BEST_CLASSIFIER], [BEST_CLASSIFIER], [0], range(plan.realizations), plan.trace_rounds)
    return _frame(index, losses.ravel(), np.zeros(losses.size, dtype=np.int64))


def _oracle_drawn_rows(bundle: Bundle, plan: Plan, case: Case) -> pd.DataFrame:
    """The policy of Pi* with the least expected loss on each realization, charged that loss: no argmax, no draw."""
    expected = policy_losses(bundle, case.regularize)
    orders = (stream_order(plan.seed, r, bundle.num_rows, plan.horizon) for r in range(plan.realizations))
    least = np.array([expected[order].sum(axis=0).min() for order in orders])
    index = product([ORACLE_DRAWN], [ORACLE_DRAWN], [0], range(plan.realizations), [plan.horizon])
    return _frame(index, least, np.zeros(plan.realizations, dtype=np.int64))


def _frame(index: product[tuple[object, ...]], loss: npt.NDArray[Any], queries: npt.NDArray[Any]) -> pd.DataFrame:
    frame = pd.DataFrame(index, columns=["series", "kind", "budget", "realization", "round"])
    return frame.assign(loss=loss, queries=queries)
