"""A record answers the questions that figures, tables and claims ask, so that none of them filters its table anew.

B budgets, R realizations, G recorded rounds; budgets and rounds ascend, realizations are 0..R-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.errors import InputError
from experiments.records.columns import BEST_CLASSIFIER, LEARNER

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Record:
    """The table of one run (columns: experiments/records/columns.py) and the facts written with it, to be read only."""

    table: pd.DataFrame
    facts: dict[str, Any]

    @property
    def plan(self) -> dict[str, Any]:
        plan: dict[str, Any] = self.facts["plan"]
        return plan

    def __str__(self) -> str:
        return f"the record of {self.plan['experiment']} on {self.plan['dataset']}"

    @property
    def horizon(self) -> int:
        return int(self.plan["horizon"])

    def learners(self) -> list[str]:
        """Return the labels of the learners, as the experiment lists them."""
        return [learner["label"] for learner in self.plan["learners"]]

    def cases(self) -> list[str]:
        """Return the labels of the cases; one empty label if the bundle is prepared in a single way."""
        return [case["label"] for case in self.plan["cases"]]

    @cached_property
    def _last_round(self) -> pd.DataFrame:
        return self.table[self.table["round"] == self.horizon]

    def final(self, kinds: Sequence[str] | None = None, case: str | None = None) -> pd.DataFrame:
        """Return the rows at the horizon, of some kinds (learner, classifier, normal, ...) and of one case if asked."""
        rows = self._last_round
        if kinds is not None:
            rows = rows[rows["kind"].isin(list(kinds))]
        return rows if case is None else rows[rows["case"] == case]

    def at_full_budget(self, case: str | None = None) -> pd.DataFrame:
        """Return the learners' rows at the horizon with the largest budget."""
        rows = self.final([LEARNER], case)
        return rows[rows["budget"] == rows["budget"].max()]

    @cached_property
    def _runs(self) -> dict[tuple[str, str], pd.DataFrame]:
        """The learners' rows at the horizon, by case and label."""
        groups = self.final([LEARNER]).groupby(["case", "series"], observed=True, sort=False)
        return {(str(case), str(label)): rows for (case, label), rows in groups}

    def runs(self, learner: str, case: str | None = None) -> tuple[Array, Array]:
        """Return labels bought and errors at the horizon, each (B, R), in the first case unless told."""
        rows = self._some(self._runs.get((self._case(case), learner), self.table[:0]), learner)
        (budgets, row), (realizations, column) = (
            np.unique(rows[name], return_inverse=True) for name in ("budget", "realization")
        )
        bought, errors = np.full((2, len(budgets), len(realizations)), np.nan)
        bought[row, column], errors[row, column] = rows["queries"], rows["loss"]
        return bought, errors

    def budgets(self, learner: str) -> list[int]:
        """Return the budgets (B,) of `runs`."""
        found = (rows["budget"].unique() for (_, series), rows in self._runs.items() if series == learner)
        return sorted({int(budget) for budgets in found for budget in budgets})

    def errors(self, learner: str, case: str | None = None) -> Array:
        """Return a learner's errors (R,) at the horizon with its largest budget."""
        return self.runs(learner, case)[1][-1]

    def labels(self, learner: str, case: str | None = None) -> Array:
        """Return the labels (R,) a learner has bought at the horizon with its largest budget."""
        return self.runs(learner, case)[0][-1]

    def references(self, kinds: Sequence[str], case: str | None = None) -> pd.DataFrame:
        """Return the final errors of classifiers or policies of some kinds: a row each, best mean first, R columns."""
        rows = self._some(self.final(kinds, self._case(case)), " or ".join(kinds))
        errors = _pivot(rows, "loss", "series")
        return errors.loc[errors.mean(axis=1).sort_values(kind="stable").index]

    def course(self, learner: str, values: str, budget: int | None = None, case: str | None = None) -> pd.DataFrame:
        """Return a learner's `loss` or `queries` by round, one row per recorded round (G), R columns.

        `budget` is the largest recorded unless told; at a reduced scale the nearest recorded stands for it.
        """
        return _pivot(self._some(self._traced(learner, LEARNER, self._nearest(budget), case), learner), values, "round")

    def best_classifier_course(self, case: str | None = None) -> pd.DataFrame:
        """Return the errors by round (G rows, R columns) of the classifier that is best on the whole realization."""
        return _pivot(self._traced(BEST_CLASSIFIER, BEST_CLASSIFIER, 0, case), "loss", "round")

    def _traced(self, series: str, kind: str, budget: int, case: str | None) -> pd.DataFrame:
        rows = self.table[(self.table["series"] == series) & (self.table["kind"] == kind)]
        rows = rows[(rows["budget"] == budget) & rows["round"].isin(self.plan["trace_rounds"])]
        return rows[rows["case"] == self._case(case)]

    def _nearest(self, budget: int | None) -> int:
        recorded: list[int] = self.plan["trace_budgets"]
        if not recorded:
            raise InputError(f"{self} was made without rounds on the way, which a panel is about")
        return max(recorded) if budget is None else min(recorded, key=lambda b: abs(b - budget))

    def _case(self, case: str | None) -> str:
        return str(self.cases()[0]) if case is None else case

    def _some(self, rows: pd.DataFrame, what: str) -> pd.DataFrame:
        if rows.empty:
            raise InputError(f"{self} has no rows of {what}")
        return rows


def _pivot(rows: pd.DataFrame, values: str, index: str) -> pd.DataFrame:
    """Return values with one row per entry of `index` (ascending) and one column per realization."""
    return rows.pivot(index=index, columns="realization", values=values).sort_index()
