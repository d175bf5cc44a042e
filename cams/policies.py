"""What can be done to advice: sharpening rewards into it, turning it against them, pure noise, and regularisation.

Advice is an array (..., k) whose last axis is a distribution over the k classifiers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

Array = npt.NDArray[Any]

# Far beyond any use; squares and exponents stay finite in single precision.
SHARPEST = 1e9


def sharpen(rewards: Array, sharpness: float) -> Array:
    """Turn predicted rewards (..., k) in [0, 1] into advice: softmax(sharpness * reward)."""
    advice: Array = softmax(sharpness * rewards, axis=-1)
    return advice


def opposite(rewards: Array, sharpness: float) -> Array:
    """Turn rewards (..., k) into malicious advice: softmax(-sharpness * reward), the worst classifier first."""
    return sharpen(rewards, -sharpness)


def complement(advice: Array) -> Array:
    """Return (1 - pi) / (k - 1) of advice (..., k): a second reading of malice, nearly flat where pi is sharp."""
    k = advice.shape[-1]
    # One classifier leaves nothing else to advise.
    return advice.copy() if k == 1 else (1 - advice) / (k - 1)


def random_advice(num_rows: int, num_models: int, seed: int) -> npt.NDArray[np.float32]:
    """Return (N, k) advice drawn uniformly from the simplex, independent of the instance.

    Exponentials by inversion rather than `Generator.dirichlet`: numpy promises a stable stream only for the
    plain uniforms, and a bundle's recipe must rebuild the same advice for ever.
    """
    exponentials = -np.log1p(-np.random.default_rng(seed).random((num_rows, num_models)))
    advice: npt.NDArray[np.float32] = (exponentials / exponentials.sum(axis=1, keepdims=True)).astype(np.float32)
    return advice


def temper(advice: Array, power: float) -> Array:
    """Return advice (..., k) raised to a power and normalised: 0 is flat, 1 unchanged, infinity one-hot."""
    top = advice.max(axis=-1, keepdims=True)
    raised = (advice / top) ** power
    return raised / raised.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]


def regularize(advice: Array) -> Array:
    """Keep every classifier's probability away from 0: (pi + eta) / (1 + k eta), eta = |pi - 1/k|^2."""
    k = advice.shape[-1]
    eta = ((advice - 1 / k) ** 2).sum(axis=-1, keepdims=True)
    return (advice + eta) / (1 + k * eta)  # type: ignore[no-any-return]


def constant_masses(k: int, *, regularized: bool) -> tuple[float, float]:
    """Return what a constant policy e_j gives its own classifier j and each other one."""
    if not regularized:
        return 1.0, 0.0
    eta = 1 - 1 / k  # |e_j - 1/k|^2, so that this is `regularize` in closed form
    return (1 + eta) / k, eta / k


def constant_policies(k: int, *, regularized: bool) -> npt.NDArray[np.float64]:
    """Return the k constant policies (k, k), one for each classifier."""
    on, off = constant_masses(k, regularized=regularized)
    policies: npt.NDArray[np.float64] = np.full((k, k), off) + (on - off) * np.eye(k)
    return policies
