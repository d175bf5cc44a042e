"""Streams ordered to hurt: regret over t against the best policy in hindsight, beside Theorem 3 and our own.

    python -m experiments.run experiment=adversarial dataset=drift

Fixed orders go through the compiled replay, the adaptive ones through learners in lockstep. Beside the
usual columns a record has `reference`, the least loss of any policy of Pi* up to that round (what regret is against),
for `cams_adversarial`, the learner that the theorems speak of, `regret_bound` and `queries_bound`, and for learners
that draw and weigh by evidence `own_regret_bound` and `own_queries_bound`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import Parallel, delayed

from cams.bundle import Bundle
from cams.errors import InputError
from cams.learners import make_learner
from cams.policies import regularize
from cams.randomness import stream_order, uniforms
from experiments.regret.adaptive import Course
from experiments.regret.courses import MakeLearner, followed, misled
from experiments.regret.limits import (
    REGULARIZE,
    Limits,
    draws_by_evidence,
    no_limits,
    own_limits,
    theorem_limits,
)
from experiments.regret.losses import DECIMALS, best_policy_trace, policy_losses
from experiments.regret.orders import ORDERS
from experiments.runner.cases import replay_in_order
from experiments.runner.plan import Learner, Plan

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ADAPTIVE = "adaptive"
# The learner that Theorems 3 and 4 are about.
BOUNDED = "cams_adversarial"


def compute(plan: Plan, bundle: Bundle, n_jobs: int, progress: Any) -> pd.DataFrame:
    """Return the rows of one data set's record, one order after another."""
    if plan.horizon > bundle.num_rows:
        raise InputError(f"horizon {plan.horizon} is above the {bundle.num_rows} rows of the bundle")
    losses = policy_losses(bundle, REGULARIZE)
    names = plan.options["orders"].get(plan.dataset, plan.options["orders"]["default"])
    frames = [
        _adaptive(plan, bundle, losses, n_jobs) if name == ADAPTIVE else _fixed(plan, bundle, losses, name, n_jobs)
        for name in names
    ]
    return pd.concat(frames, ignore_index=True).round(DECIMALS)


def _fixed(plan: Plan, bundle: Bundle, losses: Array, name: str, n_jobs: int) -> pd.DataFrame:
    """Replay every learner on the same orders; those that a bound is about also round by round, for what enters it."""
    orders = fixed_orders(plan, bundle, name)
    rounds = np.asarray(plan.trace_rounds)
    result = replay_in_order(plan, bundle, orders, rounds, n_jobs, REGULARIZE)
    references = np.stack([best_policy_trace(losses, order, rounds) for order in orders])
    advice, coins = regularize(bundle.advice), _coins(plan)
    frames = []
    for a, learner in enumerate(plan.learners):
        make = learner_maker(bundle, learner, plan.horizon)
        bounded = learner.name == BOUNDED or draws_by_evidence(make())
        courses = followed(bundle, make, advice, orders, coins) if bounded else []
        counts = (result.loss_trace[a, 0], result.queries_trace[a, 0])
        frames.append(_rows(plan, bundle, name, learner, counts, references, courses))
    return pd.concat(frames, ignore_index=True)


def _coins(plan: Plan) -> Array:
    return np.stack([uniforms(plan.seed, r, plan.horizon) for r in range(plan.realizations)])


def fixed_orders(plan: Plan, bundle: Bundle, name: str) -> Integers:
    """Return (R, T): the rows of each realization, put in the named order."""
    if name not in ORDERS:
        raise InputError(f"unknown order '{name}', expected one of {', '.join([*ORDERS, ADAPTIVE])}")
    arrange = ORDERS[name](bundle, plan.options["blocks"])
    orders = []
    for r in range(plan.realizations):
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(r, sum(name.encode()))))
        orders.append(arrange(stream_order(plan.seed, r, bundle.num_rows, plan.horizon), rng))
    return np.stack(orders)


def _adaptive(plan: Plan, bundle: Bundle, losses: Array, n_jobs: int) -> pd.DataFrame:
    """Every learner against an adversary of its own: each sees another order, and another best policy."""
    rounds = np.asarray(plan.trace_rounds)
    rows = np.stack([stream_order(plan.seed, r, bundle.num_rows, bundle.num_rows) for r in range(plan.realizations)])
    advice, coins, choices = regularize(bundle.advice), _coins(plan), plan.options["choices"]
    jobs = [
        delayed(misled)(bundle, learner_maker(bundle, learner, plan.horizon), advice, rows, coins, choices)
        for learner in plan.learners
    ]
    frames = []
    for learner, courses in zip(plan.learners, Parallel(n_jobs=n_jobs, prefer="threads")(jobs), strict=True):
        references = np.stack([best_policy_trace(losses, course.order, rounds) for course in courses])
        loss = np.stack([course.loss[rounds - 1] for course in courses])
        queries = np.stack([course.queries[rounds - 1] for course in courses])
        frames.append(_rows(plan, bundle, ADAPTIVE, learner, (loss, queries), references, courses))
    return pd.concat(frames, ignore_index=True)


def learner_maker(bundle: Bundle, learner: Learner, horizon: int) -> MakeLearner:
    """Return what makes a learner to be played round by round, with regularised policies and no limit on labels."""
    return partial(
        make_learner,
        learner.name,
        num_models=bundle.num_models,
        num_policies=bundle.num_policies,
        num_classes=bundle.num_classes,
        horizon=horizon,
        budget=horizon,
        regularize=REGULARIZE,
        **learner.settings,
    )


def _rows(
    plan: Plan,
    bundle: Bundle,
    order: str,
    learner: Learner,
    counts: tuple[Integers, Integers],
    references: Array,
    courses: Sequence[Course],
) -> pd.DataFrame:
    """Return the rows of all realizations of one learner: counts and references are (R, G)."""
    rounds = np.asarray(plan.trace_rounds)
    theorems, ours = _limits(plan, bundle, order, learner, references, courses)
    frames = []
    for r, (loss, queries) in enumerate(zip(*counts, strict=True)):
        frame = pd.DataFrame(
            {
                "round": rounds,
                "loss": loss,
                "queries": queries,
                "reference": references[r],
                "regret_bound": theorems[r].regret,
                "queries_bound": theorems[r].queries,
                "own_regret_bound": ours.regret,
                "own_queries_bound": ours.queries,
            }
        )
        frames.append(frame.assign(realization=r))
    table = pd.concat(frames, ignore_index=True)
    return table.assign(case=order, series=learner.label, kind="learner", budget=plan.horizon, fitted=False)


def _limits(
    plan: Plan, bundle: Bundle, order: str, learner: Learner, references: Array, courses: Sequence[Course]
) -> tuple[list[Limits], Limits]:
    """Return Theorems 3 and 4 for each realization, and ours for all, where they are about this learner."""
    rounds = np.asarray(plan.trace_rounds)
    made = learner_maker(bundle, learner, plan.horizon)()
    ours = own_limits(bundle, made, rounds, courses, references, reacts=order == ADAPTIVE)
    if learner.name != BOUNDED:
        return [no_limits(len(rounds))] * plan.realizations, ours
    pairs = zip(courses, references, strict=True)
    return [
        theorem_limits(bundle, plan.horizon, rounds, course.largest_mass[rounds - 1], reference)
        for course, reference in pairs
    ], ours
