"""Regret and what it is measured against: the losses of every policy of Pi*, policies first, constants after.

Shapes: N rows of a bundle, k models, m = n + k extended policies, T rounds, G recorded rounds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.errors import InputError
from cams.policies import constant_policies
from cams.policies import regularize as regularized

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Rows at a time: the advice of a large pool is not to be copied whole.
CHUNK = 512
# Recorded to so many places: beyond the tenth no two processors need agree.
DECIMALS = 6


def labels_of(bundle: Bundle) -> npt.NDArray[np.int32]:
    """Return the labels, which a bundle for the online learners alone may lack."""
    if bundle.labels is None:
        raise InputError("the bundle has no labels, and regret needs them")
    return bundle.labels


def model_losses(bundle: Bundle) -> Array:
    """Return (N, k) the 0-1 loss of every classifier at every row."""
    return (bundle.predictions != labels_of(bundle)[:, None]).astype(np.float64)


def policy_losses(bundle: Bundle, regularize: bool) -> Array:
    """Return (N, m) the expected loss <pi_i(x), l> of every extended policy at every row."""
    losses = model_losses(bundle)
    of_policies = np.empty((bundle.num_rows, bundle.num_policies))
    for start in range(0, bundle.num_rows, CHUNK):
        rows = slice(start, start + CHUNK)
        advice = bundle.advice[rows].astype(np.float64)
        advice = regularized(advice) if regularize else advice
        of_policies[rows] = np.einsum("nij,nj->ni", advice, losses[rows])
    return np.hstack([of_policies, losses @ constant_policies(bundle.num_models, regularized=regularize).T])


def favourite_losses(bundle: Bundle) -> Array:
    """Return (N, m) the loss of every extended policy's most probable model (the first where several tie)."""
    losses = model_losses(bundle)
    of_policies = np.take_along_axis(losses, bundle.advice.argmax(axis=2), axis=1)
    return np.hstack([of_policies, losses])


def smallest_advice(bundle: Bundle, regularize: bool) -> float:
    """Return p_min, the least probability that any extended policy gives any classifier at any row."""
    smallest = float(constant_policies(bundle.num_models, regularized=regularize).min())
    for start in range(0, bundle.num_rows, CHUNK):
        advice = bundle.advice[start : start + CHUNK].astype(np.float64)
        if advice.size:
            smallest = min(smallest, float((regularized(advice) if regularize else advice).min()))
    return smallest


def best_policy_trace(losses: Array, order: Integers, rounds: Integers) -> Array:
    """Return (G,) the least cumulative loss of any policy up to each round, for losses (N, m) and order (T,)."""
    return np.cumsum(losses[order], axis=0)[rounds - 1].min(axis=1)
