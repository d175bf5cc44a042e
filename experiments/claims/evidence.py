"""A record as the arrays that the claims are tested on: B budgets, R realizations, weights over realizations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.records.store import Record
from experiments.statistics.label_cost import Curve, mean_curve

Array = npt.NDArray[np.float64]
# A statistic as a function of weights over realizations (R,): 1/R each gives the estimate, resampled ones its noise.
Measure = Callable[[Array], float]

BAD_KINDS = ("malicious", "random")
POLICY_KINDS = ("normal", "biased", *BAD_KINDS)


class Estimate(NamedTuple):
    value: float
    low: float
    high: float


class TooLittle(Exception):
    """A record is whole but too short to say anything, as at a reduced scale."""


class Evidence:
    """One record of one experiment on one data set."""

    def __init__(self, record: Record) -> None:
        self.table = record.table
        self.plan = record.facts["plan"]
        self.horizon = int(self.plan["horizon"])
        self.budget = int(self.plan["options"].get("budget", max(self.plan["budgets"])))
        self.realizations = int(self.plan["realizations"])
        # A bootstrap asks for the same arrays a thousand times.
        self._runs: dict[str, tuple[Array, Array]] = {}

    @cached_property
    def _final(self) -> pd.DataFrame:
        return self.table[self.table["round"] == self.horizon]

    def learners(self) -> list[str]:
        return [learner["label"] for learner in self.plan["learners"]]

    def runs(self, learner: str) -> tuple[Array, Array]:
        """Return labels bought and errors at the horizon, each (B, R), for budgets up to the paper's B."""
        if learner not in self._runs:
            self._runs[learner] = self._read_runs(learner)
        return self._runs[learner]

    def _read_runs(self, learner: str) -> tuple[Array, Array]:
        final = self._final
        rows = final[(final["series"] == learner) & (final["kind"] == "learner")]
        rows = rows[rows["budget"] <= self.budget]
        if rows.empty:
            raise KeyError(f"no rows of '{learner}' in the record of {self.plan['experiment']}")
        tables = (rows.pivot(index="budget", columns="realization", values=v) for v in ("queries", "loss"))
        queries, loss = (table.sort_index().to_numpy(dtype=np.float64) for table in tables)
        return queries, loss

    def curve(self, learner: str, weights: Array) -> Curve:
        return mean_curve(*self.runs(learner), weights)

    def labels(self, learner: str) -> Array:
        """Return labels bought (R,) at the full budget."""
        return self.runs(learner)[0][-1]

    def errors(self, name: str) -> Array:
        """Return errors (R,) at the horizon: of a learner at its full budget, or of a named reference.

        best_classifier, best_policy and best_bad_policy (malicious or random) are the single ones with the
        least mean loss; best_classifier_in_hindsight is chosen anew on each realization.
        """
        groups = {
            "best_classifier": ("classifier",),
            "best_classifier_in_hindsight": ("classifier",),
            "best_policy": POLICY_KINDS,
            "best_bad_policy": BAD_KINDS,
        }
        if name not in groups:
            return self.runs(name)[1][-1]
        final = self._final[self._final["kind"].isin(groups[name])]
        if final.empty:
            raise KeyError(f"the record of {self.plan['experiment']} has no {name.replace('_', ' ')}")
        losses = final.pivot(index="series", columns="realization", values="loss").to_numpy(dtype=np.float64)
        return losses.min(axis=0) if name.endswith("in_hindsight") else losses[losses.mean(axis=1).argmin()]

    def bounded(self) -> pd.DataFrame:
        """Return the rows that carry a theorem's bound, with the columns regret, regret_bound, queries_bound."""
        rows = self.table[self.table["regret_bound"].notna()]
        return rows.assign(regret=rows["loss"] - rows["reference"])


def estimate(measure: Measure, realizations: int, level: float, resamples: int, seed: int) -> Estimate:
    """Return the value of a measure with its percentile bootstrap interval over realizations.

    Quantiles are taken without interpolation: a statistic may be infinite on some resamples.
    """
    value = measure(np.full(realizations, 1 / realizations))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(realizations, np.full(realizations, 1 / realizations), size=resamples)
    values = np.array([measure(weights) for weights in drawn / realizations])
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], method="inverted_cdf")
    return Estimate(float(value), float(low), float(high))
