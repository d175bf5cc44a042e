"""Streams ordered to hurt: regret over t against the best policy in hindsight, beside Theorem 3.

    python -m experiments.run experiment=adversarial dataset=drift

Fixed orders go through the compiled replay, the adaptive ones through learners in lockstep. Beside the
usual columns a record has `reference`, the least loss of any policy of Pi* up to that round (what regret is against),
and for `cams_adversarial`, the learner that the theorems speak of, `regret_bound` and `queries_bound`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import Parallel, delayed

from cams import bounds
from cams.bundle import Bundle
from cams.errors import InputError
from cams.learners import make_learner
from cams.policies import regularize
from cams.randomness import stream_order, uniforms
from experiments.regret.courses import MakeLearner, followed, misled
from experiments.regret.losses import DECIMALS, best_policy_trace, policy_losses
from experiments.regret.orders import ORDERS
from experiments.runner.cases import replay_in_order
from experiments.runner.plan import Learner, Plan

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ADAPTIVE = "adaptive"
# The learner that Theorems 3 and 4 are about.
BOUNDED = "cams_adversarial"
REGULARIZE = True


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
    """Replay every learner on the same orders; the bounded one also round by round, for its rho."""
    orders = fixed_orders(plan, bundle, name)
    rounds = np.asarray(plan.trace_rounds)
    result = replay_in_order(plan, bundle, orders, rounds, n_jobs, REGULARIZE)
    references = [best_policy_trace(losses, order, rounds) for order in orders]
    frames = []
    for a, learner in enumerate(plan.learners):
        masses = _masses_on(plan, bundle, learner, orders) if learner.name == BOUNDED else None
        for r, reference in enumerate(references):
            counts = (result.loss_trace[a, 0, r], result.queries_trace[a, 0, r])
            frames.append(_rows(plan, bundle, name, learner, r, *counts, reference, masses[r] if masses else None))
    return pd.concat(frames, ignore_index=True)


def _masses_on(plan: Plan, bundle: Bundle, learner: Learner, orders: Integers) -> list[Array]:
    """Return the largest class mass so far, at every round of each order."""
    make = learner_maker(bundle, learner, plan.horizon)
    courses = followed(bundle, make, regularize(bundle.advice), orders, _coins(plan))
    return [course.largest_mass for course in courses]


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
        for r, course in enumerate(courses):
            reference = best_policy_trace(losses, course.order, rounds)
            mass = course.largest_mass if learner.name == BOUNDED else None
            counts = (course.loss[rounds - 1], course.queries[rounds - 1])
            frames.append(_rows(plan, bundle, ADAPTIVE, learner, r, *counts, reference, mass))
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
    realization: int,
    loss: Integers,
    queries: Integers,
    reference: Array,
    largest_mass: Array | None,
) -> pd.DataFrame:
    rounds = np.asarray(plan.trace_rounds)
    limits = np.full((2, len(rounds)), np.nan)
    if largest_mass is not None:
        limits = theorem_limits(bundle, plan.horizon, rounds, largest_mass[rounds - 1], reference)
    return pd.DataFrame(
        {
            "case": order,
            "series": learner.label,
            "kind": "learner",
            "budget": plan.horizon,
            "realization": realization,
            "round": rounds,
            "loss": loss,
            "queries": queries,
            "reference": reference,
            "regret_bound": limits[0],
            "queries_bound": limits[1],
            "fitted": False,
        }
    )


def theorem_limits(bundle: Bundle, horizon: int, rounds: Integers, largest_mass: Array, best_loss: Array) -> Array:
    """Return (2, G): Theorem 3 and Theorem 4 at each round, with the rho that the learner had by then."""
    m, c = bundle.num_policies + bundle.num_models, max(2, bundle.num_classes)
    points = list(zip(rounds, np.clip(1 - largest_mass, 0, 1), best_loss, strict=True))
    regret = [bounds.cams_adversarial_regret(horizon, m, c, rho, t) for t, rho, _ in points]
    queries = [bounds.cams_adversarial_queries(horizon, m, c, rho, best, t) for t, rho, best in points]
    return np.array([regret, queries])
