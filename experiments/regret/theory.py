"""Theorems 1 to 4 and our own against measurement, on synthetic streams with known gaps.

    python -m experiments.run experiment=theory_stochastic
    python -m experiments.run experiment=theory_adversarial

Beside the usual columns a record has `reference` (the loss of the policy that regret is against), `regret_bound` and
`queries_bound` (the theorems with the proofs' terms), the same as printed in the paper where that differs,
`own_regret_bound` and `own_queries_bound` (docs/cams-plus.md) for learners of our own, and `fitted`: whether a row
takes part in the fit of the exponent of regret in the horizon.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.bundle import Bundle
from cams.policies import regularize
from cams.randomness import uniforms
from data_prep.pipeline.tasks import in_parallel
from experiments.regret.adaptive import Course
from experiments.regret.adversarial import BOUNDED, learner_maker
from experiments.regret.courses import doubted
from experiments.regret.limits import (
    REGULARIZE,
    names_by_evidence,
    no_limits,
    own_limits,
    own_stochastic_limits,
    stochastic_limits,
    theorem_limits,
)
from experiments.regret.losses import DECIMALS, best_policy_trace, favourite_losses, policy_losses
from experiments.regret.streams import drawn_with_replacement, gap_pool, rotating_pool
from experiments.runner.cases import replay_in_order
from experiments.runner.plan import Learner, Plan

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Purposes of random numbers, apart from those of cams.randomness.
STREAM = 101
# The case of rotating streams on which the adversary looks at the learner.
REACTING = "adaptive"


def compute_stochastic(plan: Plan, bundle: None, n_jobs: int, progress: Any) -> pd.DataFrame:
    """I.i.d. streams, one case per pool; no rate here knows T, so one stream shows every horizon.

    The first learner is played on every pool, the others on those that are `compared`.
    """
    first = dataclasses.replace(plan, learners=plan.learners[:1])
    frames = [
        _gap_case(plan if case in plan.options["compared"] else first, case, pool, n_jobs)
        for case, pool in plan.options["pools"].items()
    ]
    return pd.concat(frames, ignore_index=True)


def horizons_up_to(plan: Plan) -> list[int]:
    """Return the horizons to look at; at a reduced scale the stream ends before most of them."""
    return [horizon for horizon in plan.options["horizons"] if horizon <= plan.horizon]


def _gap_case(plan: Plan, case: str, settings: dict[str, Any], n_jobs: int) -> pd.DataFrame:
    options = plan.options
    shape = {key: value for key, value in settings.items() if key != "regularize"}
    pool = gap_pool(options["models"], options["classes"], options["policies"], **shape)
    regularize = settings.get("regularize", REGULARIZE)
    rounds = np.asarray(horizons_up_to(plan))
    orders = np.stack(
        [drawn_with_replacement(pool.num_rows, plan.horizon, plan.seed, r, STREAM) for r in range(plan.realizations)]
    )
    result = replay_in_order(plan, pool, orders, rounds, n_jobs, regularize)
    best = favourite_losses(pool)[:, :1]
    frames = []
    for a, learner in enumerate(plan.learners):
        limits = _limits_of(plan, pool, learner, rounds) if regularize else {"fitted": False}
        for r, order in enumerate(orders):
            frame = pd.DataFrame(
                {
                    "round": rounds,
                    "loss": result.loss_trace[a, 0, r],
                    "queries": result.queries_trace[a, 0, r],
                    "reference": best_policy_trace(best, order, rounds),
                    "own_regret_bound": np.nan,
                    "own_queries_bound": np.nan,
                    **limits,
                }
            )
            frames.append(frame.assign(case=case, series=learner.label, realization=r))
    return pd.concat(frames, ignore_index=True).assign(kind="learner", budget=plan.horizon)


def _limits_of(plan: Plan, pool: Bundle, learner: Learner, rounds: Integers) -> dict[str, Any]:
    made = learner_maker(pool, learner, plan.horizon)()
    if names_by_evidence(made):
        return own_stochastic_limits(pool, made, rounds)
    return stochastic_limits(pool, rounds, plan.options["failure"])


def compute_adversarial(plan: Plan, bundle: None, n_jobs: int, progress: Any) -> pd.DataFrame:
    """Learners that draw their model on rotating streams, drawn evenly or made by an adversary.

    Adversarial CAMS has a stream of every length, for its rate knows T; of the others one stream shows every horizon.
    Losses are expected ones, before a learner draws its model: the theorems are about these, and
    the draw would only add noise.
    """
    pool = rotating_pool(plan.options["models"], plan.options["classes"])
    # The longest first, so that no worker is left with one when the others are done.
    horizons = sorted({length for learner in plan.learners for length in _lengths(plan, learner)}, reverse=True)
    played = in_parallel(_play, [(plan, pool, horizon) for horizon in horizons], n_jobs)
    courses = {key: course for one in played for key, course in one.items()}
    losses = policy_losses(pool, REGULARIZE)
    frames = [
        _adversarial_rows(plan, pool, losses, case, learner, length, courses)
        for learner in plan.learners
        for case in plan.options["cases"]
        for length in _lengths(plan, learner)
    ]
    return pd.concat(frames, ignore_index=True).round(DECIMALS)


def _lengths(plan: Plan, learner: Learner) -> list[int]:
    """Return the lengths of the streams that a learner is to be played on."""
    return horizons_up_to(plan) if learner.name == BOUNDED else horizons_up_to(plan)[-1:]


# What was played: the label of a learner, the case, the length of the stream, the realization.
Key = tuple[str, str, int, int]


def _play(plan: Plan, pool: Bundle, horizon: int) -> dict[Key, Course]:
    """Play all streams of one length side by side."""
    realizations, cases = range(plan.realizations), plan.options["cases"]
    rows = [drawn_with_replacement(pool.num_rows, horizon, plan.seed, r, STREAM) for r in realizations]
    coins = [uniforms(plan.seed, r, horizon) for r in realizations]
    makers = {
        learner.label: learner_maker(pool, learner, horizon)
        for learner in plan.learners
        if horizon in _lengths(plan, learner)
    }
    keys = [(label, case, horizon, r) for label in makers for case in cases for r in realizations]
    courses = doubted(
        pool,
        [makers[label] for label, *_ in keys],
        regularize(pool.advice),
        np.stack([rows[r] for *_, r in keys]),
        np.stack([coins[r] for *_, r in keys]),
        [case == REACTING for _, case, *_ in keys],
    )
    return dict(zip(keys, courses, strict=True))


def _adversarial_rows(
    plan: Plan, pool: Bundle, losses: Array, case: str, learner: Learner, length: int, courses: dict[Key, Course]
) -> pd.DataFrame:
    """Return the rows of all realizations of one learner, case and length."""
    own = [courses[learner.label, case, length, r] for r in range(plan.realizations)]
    ends = np.array([length]) if learner.name == BOUNDED else np.array(horizons_up_to(plan))
    references = np.stack([best_policy_trace(losses, course.order, ends) for course in own])
    made = learner_maker(pool, learner, length)()
    ours = own_limits(pool, made, ends, own, references, reacts=case == REACTING)
    frames = []
    for r, course in enumerate(own):
        theorems = no_limits(len(ends))
        if learner.name == BOUNDED:
            theorems = theorem_limits(pool, length, ends, course.largest_mass[ends - 1], references[r])
        frame = pd.DataFrame(
            {
                "round": ends,
                "budget": ends,
                "loss": course.expected_loss[ends - 1],
                "queries": course.queries[ends - 1],
                "reference": references[r],
                "regret_bound": theorems.regret,
                "queries_bound": theorems.queries,
                "own_regret_bound": ours.regret,
                "own_queries_bound": ours.queries,
            }
        )
        frames.append(frame.assign(realization=r))
    return pd.concat(frames, ignore_index=True).assign(case=case, series=learner.label, kind="learner", fitted=True)
