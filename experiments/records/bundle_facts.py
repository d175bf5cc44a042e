"""What a record keeps about its bundle, so that tables can be made where only the record is at hand.

Besides sizes and accuracies these are the quantities that enter the bounds: gaps between the best and the
second best, how often two models differ in being right, the least probability any policy gives to a model.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.errors import InputError
from cams.policies import constant_masses, regularize
from experiments.regret.losses import policy_losses

Array = npt.NDArray[Any]

# Rows of advice regularised at a time: CIFAR10's whole advice would need several gigabytes.
CHUNK_ROWS = 500
# A lead below this is a tie in half precision.
TIE = 1e-9


def describe_bundle(bundle: Bundle, digest: str) -> dict[str, Any]:
    """Return sizes, accuracies on the pool and the inputs of the bounds, as plain numbers."""
    if bundle.labels is None:
        raise InputError("the bundle has no labels, and a replay needs them")
    wrong = bundle.predictions != bundle.labels[:, None]
    favourite = bundle.advice.argmax(axis=2)
    policy_wrong = np.take_along_axis(wrong, favourite, axis=1)
    return {
        "digest": digest,
        "rows": bundle.num_rows,
        "classes": bundle.num_classes,
        "classifiers": bundle.num_models,
        "policies": bundle.num_policies,
        "policy_kinds": dict(sorted(Counter(bundle.policy_kinds).items())),
        "classifier_accuracy": [float(1 - wrong.mean(axis=0).max()), float(1 - wrong.mean(axis=0).min())],
        "best_policy_accuracy": float(1 - policy_wrong.mean(axis=0).min()) if bundle.num_policies else None,
        "bounds": _bound_inputs(bundle, wrong, policy_wrong),
    }


def _bound_inputs(bundle: Bundle, wrong: Array, policy_wrong: Array) -> dict[str, Any]:
    """Measure on the whole pool what the bounds assume known; policies are taken regularised, as they ask."""
    rates = wrong.mean(axis=0)
    best = int(rates.argmin())
    others = [j for j in range(bundle.num_models) if j != best]
    extended = np.concatenate([policy_wrong.mean(axis=0), rates])
    ordered = np.sort(extended)
    smallest, margin = _advice_limits(bundle, int(extended.argmin()))
    return {
        "model_gaps": [float(rates[j] - rates[best]) for j in others],
        "model_disagreements": [float((wrong[:, j] != wrong[:, best]).mean()) for j in others],
        "best_model_rate": float(rates[best]),
        "policy_gap": float(ordered[1] - ordered[0]) if len(ordered) > 1 else 0.0,
        "best_policy_rate": float(ordered[0]),
        "best_expected_rate": float(policy_losses(bundle, regularize=True).mean(axis=0).min()),
        "smallest_advice": smallest,
        "margin": margin,
    }


def _advice_limits(bundle: Bundle, best_policy: int) -> tuple[float, float]:
    """Return the least regularised probability of all, and the least lead of the best policy's first model.

    Theorem 1 assumes no ties. Stored advice ties where several models are as good as certain to be right, on CovType on
    two rows in three, and there they nearly always say the same; these rows are set aside.
    """
    on, off = constant_masses(bundle.num_models, regularized=True)
    smallest, margin = off, on - off
    if best_policy < bundle.num_policies:
        margin = np.inf
    for start in range(0, bundle.num_rows, CHUNK_ROWS):
        advice = regularize(bundle.advice[start : start + CHUNK_ROWS].astype(np.float64))
        smallest = min(smallest, float(advice.min(initial=np.inf)))
        if best_policy < bundle.num_policies:
            top = np.sort(advice[:, best_policy], axis=1)
            lead = top[:, -1] - top[:, -2]
            margin = min(margin, float(lead[lead > TIE].min(initial=np.inf)))
    return smallest, margin
