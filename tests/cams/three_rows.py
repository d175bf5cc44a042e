"""The smallest bundle that has everything, and a replay of it, to be changed in one place."""

from typing import Any

import numpy as np

import cams

VOTES = np.array([[0, 1], [2, 1], [1, 1]])
LABELS = np.array([0, 1, 2])
ADVICE = np.array([[[0.5, 0.5]], [[0.25, 0.75]], [[1.0, 0.0]]])


def bundle(**changes: Any) -> cams.Bundle:
    return cams.Bundle(**{"predictions": VOTES, "labels": LABELS, "advice": ADVICE, **changes})


def replay(**changes: Any) -> cams.Replay:
    usual = {"learners": ["rs"], "horizon": 3, "budgets": [1], "realizations": 2, "seed": 0}
    return cams.replay(**{"bundle": bundle(), **usual, **changes})
