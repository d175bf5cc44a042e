"""What the hand-worked rounds share: one small problem, and a learner put at any round of it."""

from typing import Any

import numpy as np
import pytest

import cams

TWO = np.array([0, 1], dtype=np.int32)  # two models that disagree
AGREE = np.array([1, 1], dtype=np.int32)
ADVICE = np.array([[0.8, 0.2]])  # one policy, so Pi* has m = 3: it, e_0, e_1
BOTH = np.array([[0.9, 0.1], [0.2, 0.8]])  # two policies


def make(name: str, *, k: int = 2, n: int = 1, c: int = 2, **settings: Any) -> Any:
    return cams.make_learner(name, num_models=k, num_policies=n, num_classes=c, **settings)


def draws(coin: float = 0.0, tie: float = 0.0, policy: float = 0.0, model: float = 0.0) -> np.ndarray:
    return np.array([coin, tie, policy, model])


def at(learner: Any, t: int, **memory: Any) -> Any:
    """Put a learner at the end of round t - 1, with the memory given."""
    learner.t = t - 1
    for name, value in memory.items():
        setattr(learner, name, np.asarray(value, dtype=float))
    return learner


def losses(learner: Any) -> np.ndarray:
    """The (m,) losses L of the policies."""
    return learner.L


def approx(*values: float) -> Any:
    return pytest.approx(values if len(values) > 1 else values[0], abs=2e-6)
