"""Every way in which a record may come about, by the word that an experiment file uses for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from cams.errors import lookup
from data_prep.pipeline.code import code_digest
from experiments.records.bundle_facts import describe_bundle
from experiments.regret import adversarial, theory
from experiments.runner import cases

# compute(plan, bundle, n_jobs, progress) -> rows of the record; without a bundle it makes its own streams.
Computation = Callable[..., pd.DataFrame]

COMPUTATIONS: dict[str, Computation] = {
    "replay": cases.compute,
    "adversarial": adversarial.compute,
    "theory_stochastic": theory.compute_stochastic,
    "theory_adversarial": theory.compute_adversarial,
}
# These make streams of their own; all others read a bundle.
SYNTHETIC = ("theory_stochastic", "theory_adversarial")
# Of these keys of an experiment only the usual computation looks at another value.
FIXED: dict[str, Any] = {"policies": "all", "regularize": True, "scaled": False, "cases": []}


def computation(word: str) -> Computation:
    """Return the function that an experiment names under `compute`."""
    return lookup(COMPUTATIONS, word, "computation")


def computation_code(word: str) -> str:
    """Return the hash of all code that decides what a record of this computation contains."""
    return code_digest(computation(word).__module__, describe_bundle.__module__)
