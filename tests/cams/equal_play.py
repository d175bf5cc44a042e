"""Compiled replays held to the readable learners: which learners, and how the two are compared, round by round."""

from typing import Any

import numpy as np

import cams
from cams.randomness import stream_order, uniforms

SEED = 7
NEEDS_POLICIES = ("cams_conventional", "exp4")


def every_learner(bundle: cams.Bundle) -> list[Any]:
    """Every learner that can play this bundle, and those whose settings change their path."""
    names: list[Any] = [name for name in cams.LEARNERS if bundle.num_policies or name not in NEEDS_POLICIES]
    varied = [
        {"name": "cams_adversarial", "label": "rho", "rho": "label"},
        {"name": "cams", "label": "fast", "rate": 3.0, "floor": 0.2},
        {"name": "cams_nonactive", "label": "still", "rate": 0.0},
        {"name": "iwal", "label": "eager iwal", "delta": 0.5, "slack": 0.05},
        {"name": "cams_variance", "label": "cams iwal", "query": "survivors"},
        {"name": "cams_variance", "label": "cams qbc", "query": "vote_entropy"},
        {"name": "ciwal", "label": "eager ciwal", "delta": 0.5, "slack": 0.05, "rate": 2.0},
    ]
    return names + varied


def with_rates_and_priors(bundle: cams.Bundle) -> list[Any]:
    """Every learner with exponential weights, under each rate rule, with and without a prior of either kind of vote."""
    changes = {
        "evidence": {"rate_rule": "evidence"},
        "prior": {"prior": 4.0, "fade": 3.0, "votes": "plain"},
        "both": {"rate_rule": "evidence", "prior": 9.0, "fade": 5.0},
    }
    return [
        {"name": name, "label": f"{name}, {change}", **settings}
        for name, entry in cams.LEARNERS.items()
        if "rate_rule" in entry.constants and (bundle.num_policies or name not in NEEDS_POLICIES)
        for change, settings in changes.items()
    ]


def assert_equal(
    bundle: cams.Bundle,
    play_plainly: Any,
    *,
    horizon: int,
    budgets: list[int],
    realizations: int = 1,
    learners: list[Any] | None = None,
    **how: Any,
) -> None:
    learners = every_learner(bundle) if learners is None else learners
    result = cams.replay(
        bundle,
        learners,
        horizon=horizon,
        budgets=budgets,
        realizations=realizations,
        seed=SEED,
        trace=np.arange(1, horizon + 1),
        **how,
    )
    for a, learner in enumerate(learners):
        settings = dict(learner) if isinstance(learner, dict) else {"name": learner}
        name, label = settings.pop("name"), settings.pop("label", None)
        for r in range(realizations):
            rows = stream_order(SEED, r, bundle.num_rows, horizon)
            draws = uniforms(SEED, r, horizon)
            for b, budget in enumerate(budgets):
                played = play_plainly(bundle, name, budget=budget, rows=rows, draws=draws, **settings, **how)
                where = f"{label or name}, budget {budget}, realization {r}"
                np.testing.assert_array_equal(result.queries_trace[a, b, r], np.cumsum(played.queries), where)
                np.testing.assert_array_equal(result.loss_trace[a, b, r], np.cumsum(played.mistakes), where)
                assert result.loss[a, b, r] == sum(played.mistakes), where
                assert result.queries[a, b, r] == sum(played.queries), where
