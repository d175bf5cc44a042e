"""The usual computation behind a record: prepare the bundle as each case says, replay, write rows.

Other computations are named in experiments/runner/computations.py.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

import cams
from cams.policies import temper
from experiments.runner.plan import Case, Plan

Array = npt.NDArray[np.float64]

# Rows of advice sharpened at a time: a second copy of all would not fit everywhere.
CHUNK_ROWS = 200


def compute(plan: Plan, bundle: cams.Bundle, n_jobs: int, progress: bool | None) -> pd.DataFrame:
    """Replay every case of a plan and return the rows of its record."""
    if plan.horizon > bundle.num_rows:
        raise cams.InputError(
            f"horizon {plan.horizon} is above the {bundle.num_rows} rows of the bundle '{plan.dataset}'"
        )
    return pd.concat([_replay_case(plan, case, bundle, n_jobs, progress) for case in plan.cases], ignore_index=True)


def replay_in_order(
    plan: Plan, bundle: cams.Bundle, orders: npt.NDArray[np.int64], rounds: npt.NDArray[np.int64], n_jobs: int,
    regularize: bool,
) -> cams.Replay:  # fmt: skip
    """Replay a plan's learners on rows in given orders (R, T), unlimited labels, traced at some rounds."""
    return cams.replay(
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
    )


def prepare_bundle(bundle: cams.Bundle, case: Case) -> cams.Bundle:
    """Return the bundle with the policies and the advice temperature of a case."""
    if case.policies == "none":
        return bundle.without_policies()
    if case.policies != "all":
        bundle = bundle.select_policies(kinds=case.policies)
        if bundle.num_policies == 0:
            raise cams.InputError(f"the filter policies={list(case.policies)} leaves no policy")
    return bundle if case.temper == 1.0 else _temper_bundle(bundle, case.temper)


def _temper_bundle(bundle: cams.Bundle, power: float) -> cams.Bundle:
    """Raise advice that was learned to a power; the opposite of the new advice is the opposite, raised to it too."""
    learned = np.flatnonzero(np.array(bundle.policy_kinds) != "random")
    advice = bundle.advice.copy()
    for start in range(0, len(advice), CHUNK_ROWS):
        part = advice[start : start + CHUNK_ROWS]
        part[:, learned] = temper(part[:, learned], power)
    return cams.Bundle(
        predictions=bundle.predictions,
        labels=bundle.labels,
        advice=advice,
        num_classes=bundle.num_classes,
        model_names=bundle.model_names,
        policy_names=bundle.policy_names,
        policy_kinds=bundle.policy_kinds,
        groups=bundle.groups,
    )


def _replay_case(plan: Plan, case: Case, bundle: cams.Bundle, n_jobs: int, progress: bool | None) -> pd.DataFrame:
    prepared = prepare_bundle(bundle, case)
    result = cams.replay(
        prepared,
        [learner.as_replay_entry() for learner in plan.learners],
        horizon=plan.horizon,
        budgets=list(plan.budgets),
        realizations=plan.realizations,
        seed=plan.seed,
        n_jobs=n_jobs,
        regularize=case.regularize,
        scaled=case.scaled,
        trace=np.asarray(plan.trace_rounds) if plan.trace_rounds else None,
        progress=progress,
    )
    frames = [_final_rows(result, plan), _reference_rows(result, prepared, plan)]
    if plan.trace_rounds:
        frames += [_trace_rows(result, plan), _best_classifier_rows(result, plan)]
    table = pd.concat(frames, ignore_index=True)
    return table.assign(case=case.label)


def _final_rows(result: cams.Replay, plan: Plan) -> pd.DataFrame:
    realizations = range(plan.realizations)
    index = product(result.learners, ["learner"], [int(b) for b in result.budgets], realizations, [plan.horizon])
    return _frame(index, result.loss.ravel(), result.queries.ravel())


def _trace_rows(result: cams.Replay, plan: Plan) -> pd.DataFrame:
    """Rows before the horizon (where the final rows are) for the budgets whose course is wanted."""
    rounds = [t for t in plan.trace_rounds if t < plan.horizon]
    traced = [list(result.budgets).index(b) for b in plan.trace_budgets]
    index = product(result.learners, ["learner"], plan.trace_budgets, range(plan.realizations), rounds)
    cut = np.s_[:, traced, :, : len(rounds)]
    return _frame(index, result.loss_trace[cut].ravel(), result.queries_trace[cut].ravel())


def _reference_rows(result: cams.Replay, bundle: cams.Bundle, plan: Plan) -> pd.DataFrame:
    """The final loss of every classifier and of every policy's favourite model."""
    names = list(bundle.model_names) + list(bundle.policy_names)
    kinds = ["classifier"] * bundle.num_models + list(bundle.policy_kinds)
    losses = np.concatenate([result.model_losses, result.policy_losses], axis=1).T
    frame = pd.DataFrame({"series": np.repeat(names, plan.realizations), "kind": np.repeat(kinds, plan.realizations)})
    frame["realization"] = np.tile(np.arange(plan.realizations), len(names))
    return frame.assign(budget=0, round=plan.horizon, loss=losses.ravel(), queries=0)


def _best_classifier_rows(result: cams.Replay, plan: Plan) -> pd.DataFrame:
    best = result.model_losses.argmin(axis=1)
    losses = result.model_loss_trace[np.arange(plan.realizations), :, best]
    index = product(["best_classifier"], ["best_classifier"], [0], range(plan.realizations), plan.trace_rounds)
    return _frame(index, losses.ravel(), np.zeros(losses.size, dtype=np.int64))


def _frame(index: product[tuple[object, ...]], loss: Array, queries: Array) -> pd.DataFrame:
    frame = pd.DataFrame(index, columns=["series", "kind", "budget", "realization", "round"])
    return frame.assign(loss=loss, queries=queries)
