"""Theorems 1 to 4 against measurement, on synthetic streams with known gaps.

    python -m experiments.run experiment=theory_stochastic
    python -m experiments.run experiment=theory_adversarial

Beside the usual columns a record has `reference` (the loss of the policy that regret is against), `regret_bound` and
`queries_bound` (the theorems with the proofs' terms), the same as printed in the paper where that differs, and
`fitted`: whether a row takes part in the fit of the exponent of regret in the horizon.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams import bounds
from cams.bundle import Bundle
from cams.policies import regularize
from cams.randomness import uniforms
from data_prep.pipeline.tasks import in_parallel
from experiments.regret.adaptive import Course
from experiments.regret.adversarial import learner_maker, theorem_limits
from experiments.regret.courses import doubted, followed
from experiments.regret.losses import DECIMALS, best_policy_trace, favourite_losses, policy_losses, smallest_advice
from experiments.regret.streams import drawn_with_replacement, gap_pool, rotating_pool
from experiments.runner.cases import replay_in_order
from experiments.runner.plan import Plan

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

REGULARIZE = True
# Purposes of random numbers, apart from those of cams.randomness.
STREAM = 101


def compute_stochastic(plan: Plan, bundle: None, n_jobs: int, progress: Any) -> pd.DataFrame:
    """CAMS on i.i.d. streams, one case per pool; its rate does not know T, so one stream shows every horizon."""
    frames = [_gap_case(plan, case, pool, n_jobs) for case, pool in plan.options["pools"].items()]
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
    limits = stochastic_limits(pool, rounds, options["failure"]) if regularize else {"fitted": False}
    frames = []
    for a, learner in enumerate(plan.learners):
        for r, order in enumerate(orders):
            frame = pd.DataFrame(
                {
                    "round": rounds,
                    "loss": result.loss_trace[a, 0, r],
                    "queries": result.queries_trace[a, 0, r],
                    "reference": best_policy_trace(best, order, rounds),
                    **limits,
                }
            )
            frames.append(frame.assign(case=case, series=learner.label, realization=r))
    return pd.concat(frames, ignore_index=True).assign(kind="learner", budget=plan.horizon)


def stochastic_limits(pool: Bundle, rounds: Integers, failure: float) -> dict[str, Any]:
    """Return Theorems 1 and 2 for a pool at each horizon, with the proofs' terms and as printed.

    Delta, gamma, mu* and p_min are read off the pool itself, whose rows are equally likely.
    """
    rates = np.sort(favourite_losses(pool).mean(axis=0))
    best_rate, gap = float(rates[0]), float(rates[1] - rates[0])
    m, c = pool.num_policies + pool.num_models, pool.num_classes
    p_min = smallest_advice(pool, REGULARIZE)
    margin = best_policy_margin(pool)
    regret = bounds.cams_stochastic_regret(m, gap, margin, bounds.advice_range(p_min, c), failure)
    printed = bounds.cams_stochastic_regret(m, gap, margin, bounds.advice_range_printed(p_min, c), failure)
    # What Theorem 2's proof sums is the loss of the mixture, not of its most probable model: with regularised advice
    # even the best policy's own draw errs more often than its first choice.
    drawn_rate = float(policy_losses(pool, REGULARIZE)[:, 0].mean())
    return {
        "regret_bound": regret,
        "regret_bound_printed": printed,
        "queries_bound_drawn": [bounds.cams_stochastic_queries(t, regret, drawn_rate, c) for t in rounds],
        "queries_bound": [bounds.cams_stochastic_queries(t, regret, best_rate, c) for t in rounds],
        "queries_bound_printed": [bounds.cams_stochastic_queries_printed(t, printed, best_rate, c) for t in rounds],
        # Theorem 1's bound is also the round after which its proof has CAMS follow the best policy.
        "fitted": rounds >= regret,
    }


def best_policy_margin(pool: Bundle) -> float:
    """Return gamma: the least lead of policy 0's first choice over its second, at any row."""
    advice = regularize(pool.advice[:, 0].astype(np.float64))
    top = np.sort(advice, axis=1)
    return float((top[:, -1] - top[:, -2]).min())


def compute_adversarial(plan: Plan, bundle: None, n_jobs: int, progress: Any) -> pd.DataFrame:
    """Adversarial CAMS on streams of every length (its rate knows T), drawn evenly or made by an adversary.

    Losses are expected ones, before the learner draws its model: the theorems are about these, and
    the draw would only add noise.
    """
    pool = rotating_pool(plan.options["models"], plan.options["classes"])
    losses = policy_losses(pool, REGULARIZE)
    # The longest first, so that no worker is left with one when the others are done.
    jobs = [(case, horizon) for horizon in reversed(horizons_up_to(plan)) for case in plan.options["cases"]]
    played = in_parallel(_play, [(plan, pool, *job) for job in jobs], n_jobs)
    courses = dict(zip(jobs, played, strict=True))
    rows = [
        _adversarial_row(plan, pool, losses, (case, horizon, r), course)
        for case in plan.options["cases"]
        for horizon in horizons_up_to(plan)
        for r, course in enumerate(courses[case, horizon])
    ]
    return pd.DataFrame(rows).round(DECIMALS)


def _play(plan: Plan, pool: Bundle, case: str, horizon: int) -> list[Course]:
    """Play all realizations of one length."""
    realizations = range(plan.realizations)
    rows = np.stack([drawn_with_replacement(pool.num_rows, horizon, plan.seed, r, STREAM) for r in realizations])
    coins = np.stack([uniforms(plan.seed, r, horizon) for r in realizations])
    play = followed if case == "even draws" else doubted
    make = learner_maker(pool, plan.learners[0], horizon)
    return play(pool, make, regularize(pool.advice), rows, coins)


def _adversarial_row(
    plan: Plan, pool: Bundle, losses: Array, job: tuple[str, int, int], course: Course
) -> dict[str, Any]:
    case, horizon, realization = job
    end = np.array([horizon])
    reference = best_policy_trace(losses, course.order, end)
    regret_bound, queries_bound = theorem_limits(pool, horizon, end, course.largest_mass[-1:], reference)[:, 0]
    return {
        "case": case,
        "series": plan.learners[0].label,
        "kind": "learner",
        "budget": horizon,
        "realization": realization,
        "round": horizon,
        "loss": course.expected_loss[-1],
        "queries": course.queries[-1],
        "reference": reference[0],
        "regret_bound": regret_bound,
        "queries_bound": queries_bound,
        "fitted": True,
    }
