"""The bounds of `cams.bounds` with the numbers of a pool and of what a learner did on it.

`regret_bound` and `queries_bound` of a record are the paper's, about the paper's learners; `own_regret_bound` and
`own_queries_bound` are those of docs/cams-plus.md, about learners with the evidence rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from cams import bounds
from cams.bundle import Bundle
from cams.engine import spec
from cams.learners import Learner
from cams.learners.cams import Cams
from cams.policies import regularize
from experiments.regret.adaptive import Course
from experiments.regret.losses import favourite_losses, policy_losses, smallest_advice

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

REGULARIZE = True


class Limits(NamedTuple):
    """Bounds of regret and of labels at each of G rounds (G,)."""

    regret: Array
    queries: Array


def no_limits(count: int) -> Limits:
    return Limits(np.full(count, np.nan), np.full(count, np.nan))


def theorem_limits(bundle: Bundle, horizon: int, rounds: Integers, largest_mass: Array, best_loss: Array) -> Limits:
    """Return Theorems 3 and 4 at each round, with the rho that the learner had by then."""
    m, c = bundle.num_policies + bundle.num_models, max(2, bundle.num_classes)
    points = list(zip(rounds, np.clip(1 - largest_mass, 0, 1), best_loss, strict=True))
    regret = [bounds.cams_adversarial_regret(horizon, m, c, rho, t) for t, rho, _ in points]
    queries = [bounds.cams_adversarial_queries(horizon, m, c, rho, best, t) for t, rho, best in points]
    return Limits(np.array(regret), np.array(queries))


def names_by_evidence(learner: Learner) -> TypeGuard[Cams]:
    """Say whether a learner is one of ours as shipped, CAMS with the evidence rate: it names the mixture's argmax."""
    return _by_evidence(learner, spec.RECOMMEND_MIXTURE)


def draws_by_evidence(learner: Learner) -> TypeGuard[Cams]:
    """Say whether a learner is one that the regret bound speaks of: it draws its policy, and then its model."""
    return _by_evidence(learner, spec.RECOMMEND_SAMPLE_POLICY)


def _by_evidence(learner: Learner, recommend: int) -> bool:
    kernel = learner.kernel() if isinstance(learner, Cams) else None
    return (
        kernel is not None
        and kernel.by_evidence
        and kernel.query == spec.QUERY_ENTROPY
        and kernel.weigh == spec.WEIGH_EXTENDED
        and kernel.recommend == recommend
    )


def prior_drift(learner: Cams, votes: npt.NDArray[np.int32], queries: Integers) -> Array:
    """Return (T,) the sum so far of 2 K_t / R_t for a stream's votes (T, k) and labels bought up to each round (T,).

    A round counts if models disagree on it and a label has come before: until then there is nothing to weigh anew.
    """
    disagree = (votes != votes[:, :1]).any(axis=1)
    before = np.concatenate([[0], queries[:-1]])
    strength = learner.prior.strength / (1 + before / learner.prior.fade)
    drift: Array = np.where(disagree & (before > 0), 2 * strength / np.maximum(1, disagree.cumsum()), 0.0).cumsum()
    return drift


def evidence_limits(
    learner: Cams, rounds: Integers, evidence: Array, drift: Array, best_loss: Array, *, reacts: bool
) -> Limits:
    """Return our bounds at each round for the realizations (R, G) of a learner that draws.

    The regret of the estimates is bounded for all coins, the regret itself in expectation: by the mean over
    realizations. An adversary that `reacts` may make another policy best by what the coins were, which costs extra.
    """
    m, k, c = learner.m, learner.prior.strength, max(2, learner.problem.num_classes)
    of_estimates = np.vectorize(lambda v, moved: bounds.evidence_regret(m, v, prior=k, drift=moved))
    regret = of_estimates(evidence, drift).mean(axis=0)
    if reacts:
        regret += [bounds.evidence_regret_in_hindsight(m, v) for v in evidence.mean(axis=0)]
    points = zip(rounds, regret, best_loss.mean(axis=0), strict=True)
    return Limits(regret, np.array([bounds.evidence_queries(t, c, bound, best) for t, bound, best in points]))


def own_limits(
    bundle: Bundle, learner: Learner, rounds: Integers, courses: Sequence[Course], best_loss: Array, *, reacts: bool
) -> Limits:
    """Return our bounds for the courses of a learner, one per realization, if they are about this learner."""
    if not draws_by_evidence(learner):
        return no_limits(len(rounds))
    evidence = np.stack([course.evidence[rounds - 1] for course in courses])
    drifts = (prior_drift(learner, bundle.predictions[course.order], course.queries) for course in courses)
    drift = np.stack([drift[rounds - 1] for drift in drifts])
    return evidence_limits(learner, rounds, evidence, drift, best_loss, reacts=reacts)


def stochastic_limits(pool: Bundle, rounds: Integers, failure: float) -> dict[str, Any]:
    """Return Theorems 1 and 2 for a pool at each horizon, with the proofs' terms and as printed.

    Delta, gamma, mu* and p_min are read off the pool itself, whose rows are equally likely.
    """
    best_rate, gap = _best_and_gap(favourite_losses(pool))
    m, c = pool.num_policies + pool.num_models, pool.num_classes
    p_min = smallest_advice(pool, REGULARIZE)
    margin = best_policy_margin(pool)
    regret = bounds.cams_stochastic_regret(m, gap, margin, bounds.advice_range(p_min, c), failure)
    printed = bounds.cams_stochastic_regret(m, gap, margin, bounds.advice_range_printed(p_min, c), failure)
    # What Theorem 2's proof sums is the loss of the mixture, not of its most probable model: with regularised advice
    # even the best policy's own draw errs more often than its first choice.
    drawn_rate, _ = _best_and_gap(policy_losses(pool, REGULARIZE))
    return {
        "regret_bound": regret,
        "regret_bound_printed": printed,
        "queries_bound_drawn": [bounds.cams_stochastic_queries(t, regret, drawn_rate, c) for t in rounds],
        "queries_bound": [bounds.cams_stochastic_queries(t, regret, best_rate, c) for t in rounds],
        "queries_bound_printed": [bounds.cams_stochastic_queries_printed(t, printed, best_rate, c) for t in rounds],
        # Theorem 1's bound is also the round after which its proof has CAMS follow the best policy.
        "fitted": rounds >= regret,
    }


def own_stochastic_limits(pool: Bundle, learner: Cams, rounds: Integers) -> dict[str, Any]:
    """Return our bounds for a learner that names the argmax, with the most that E[V] and R can be."""
    drawn_rate, gap = _best_and_gap(policy_losses(pool, REGULARIZE))
    margin, k = best_policy_margin(pool), learner.prior.strength
    regret, queries = [], []
    for t in rounds.tolist():
        drawn = bounds.evidence_regret(learner.m, bounds.expected_evidence(t), prior=k, disagreements=t)
        regret.append(bounds.evidence_stochastic_regret(drawn, gap, margin, prior=k, disagreements=t))
        queries.append(bounds.evidence_queries(t, pool.num_classes, drawn, t * drawn_rate))
    # Neither can exceed T, whatever a bound says.
    own = {"own_regret_bound": np.minimum(regret, rounds), "own_queries_bound": np.minimum(queries, rounds)}
    return {**own, "fitted": False}


def _best_and_gap(losses: Array) -> tuple[float, float]:
    """Return the mean loss of the best policy of losses (N, m), and by how much the next exceeds it."""
    rates = np.sort(losses.mean(axis=0))
    return float(rates[0]), float(rates[1] - rates[0])


def best_policy_margin(pool: Bundle) -> float:
    """Return gamma: the least lead of policy 0's first choice over its second, at any row."""
    advice = regularize(pool.advice[:, 0].astype(np.float64))
    top = np.sort(advice, axis=1)
    return float((top[:, -1] - top[:, -2]).min())
