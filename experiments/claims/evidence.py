"""A record as the arrays that the claims are tested on: B budgets, R realizations, weights over realizations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

import cams
from experiments.records.columns import BAD_KINDS, CLASSIFIER, ORACLE_DRAWN, POLICY_KINDS, TRAINED_KINDS
from experiments.records.record import Record
from experiments.statistics.label_cost import Curve, mean_curve

Array = npt.NDArray[np.float64]
DIGITS = 9
# A statistic as a function of weights over realizations (R,): 1/R each gives the estimate, resampled ones its noise.
Measure = Callable[[Array], float]


class Estimate(NamedTuple):
    value: float
    low: float
    high: float


class TooLittle(Exception):
    """A record is whole but too short to say anything, as at a reduced scale."""


class Evidence:
    """One record of one experiment on one data set."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.horizon = record.horizon
        self.budget = int(record.plan["options"].get("budget", max(record.plan["budgets"])))
        self.realizations = int(record.plan["realizations"])
        # A bootstrap asks for the same arrays a thousand times, and several checks for the same curves.
        self._runs: dict[str, tuple[Array, Array]] = {}
        self._curves: dict[tuple[str, bytes], Curve] = {}

    def learners(self) -> list[str]:
        return self.record.learners()

    def runs(self, learner: str) -> tuple[Array, Array]:
        """Return labels bought and errors at the horizon, each (B, R), for budgets up to the paper's B."""
        if learner not in self._runs:
            kept = np.array(self.record.budgets(learner)) <= self.budget
            if not kept.any():
                raise self._lacks(learner)
            queries, loss = self.record.runs(learner)
            self._runs[learner] = queries[kept], loss[kept]
        return self._runs[learner]

    def curve(self, learner: str, weights: Array) -> Curve:
        key = learner, weights.tobytes()
        if key not in self._curves:
            self._curves[key] = mean_curve(*self.runs(learner), weights)
        return self._curves[key]

    def labels(self, learner: str) -> Array:
        """Return labels bought (R,) at the full budget."""
        return self.runs(learner)[0][-1]

    def errors(self, name: str) -> Array:
        """Return errors (R,) at the horizon: of a learner at its full budget, or of a named reference.

        best_classifier, best_policy and best_bad_policy (malicious or random) are the single ones with the least mean
        loss; best_classifier_in_hindsight is chosen anew on each realization, and so is oracle_drawn, the policy with
        the least expected loss.
        """
        groups = {
            "best_classifier": (CLASSIFIER,),
            "best_classifier_in_hindsight": (CLASSIFIER,),
            "best_policy": POLICY_KINDS,
            "best_bad_policy": BAD_KINDS,
            ORACLE_DRAWN: (ORACLE_DRAWN,),
        }
        if name not in groups:
            return self.runs(name)[1][-1]
        losses = self._references(groups[name])
        if len(losses) == 0:
            raise self._lacks(name)
        return losses.min(axis=0) if name.endswith("in_hindsight") else losses[0]

    def starts_even(self, learner: str) -> bool:
        """Tell whether a learner weighs all alike before any label, as one with a prior does not."""
        (settings,) = (one["settings"] for one in self.record.plan["learners"] if one["label"] == learner)
        return not settings.get("prior")

    def errors_without_labels(self, learner: str) -> Array:
        """Return errors (R,) at the horizon of a learner that may buy no label."""
        queries, loss = self.runs(learner)
        if queries[0].any():
            raise TooLittle(f"the record of {self.record.plan['experiment']} has no budget 0")
        return loss[0]

    def classifier_errors(self) -> Array:
        """Return the mean errors (k,) of every classifier."""
        return self._references((CLASSIFIER,)).mean(axis=1)

    def policy_errors(self, *, bad: bool) -> Array:
        """Return the mean errors of every malicious or random policy's favourite, or of every other's."""
        return self._references(BAD_KINDS if bad else TRAINED_KINDS).mean(axis=1)

    def _references(self, kinds: Sequence[str]) -> Array:
        """Return final errors (series, R), best mean first; none if the record has none."""
        if self.record.final(kinds).empty:
            return np.empty((0, self.realizations))
        return self.record.references(kinds).to_numpy(np.float64)

    def _lacks(self, name: str) -> cams.InputError:
        experiment, dataset = self.record.plan["experiment"], self.record.plan["dataset"]
        return cams.InputError(
            f"the record of {experiment} on {dataset} has no '{name}'; `python -m experiments.run "
            f"experiment={experiment} dataset={dataset} fresh=true` makes it anew"
        )

    def bounded(self) -> pd.DataFrame:
        """Return the rows that carry a theorem's bound, with the columns regret, regret_bound, queries_bound."""
        rows = self.record.table[self.record.table["regret_bound"].notna()]
        return rows.assign(regret=rows["loss"] - rows["reference"])


def estimate(measure: Measure, realizations: int, level: float, resamples: int, seed: int) -> Estimate:
    """Return the value of a measure with its percentile bootstrap interval over realizations.

    Quantiles are taken without interpolation: a statistic may be infinite on some resamples. All are rounded, so that
    the order in which this machine's linear algebra adds does not show, as it would in the last digit of a half.
    """
    value = measure(np.full(realizations, 1 / realizations))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(realizations, np.full(realizations, 1 / realizations), size=resamples)
    values = np.array([measure(weights) for weights in drawn / realizations])
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], method="inverted_cdf")
    return Estimate(*(round(float(number), DIGITS) for number in (value, low, high)))
