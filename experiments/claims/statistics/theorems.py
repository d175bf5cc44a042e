"""Measured regret and labels beside the theorems' bounds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.claims.evidence import Array, Evidence, Measure, TooLittle
from experiments.claims.statistics.base import Check, Statistic, evenly


def largest_ratio_to_bound(evidence: Evidence, check: Check) -> Measure:
    """Measured regret (or labels) over its bound, where this is largest over cases and horizons."""
    rows = evidence.bounded()

    def table(values: str) -> Array:
        found = rows.pivot_table(values=values, index=["case", "round"], columns="realization", observed=True)
        return found.to_numpy(dtype=np.float64)

    measured, bound = table(check["quantity"]), table(f"{check['quantity']}_bound")
    return lambda weights: float(((measured @ weights) / (bound @ weights)).max())


def exponents(evidence: Evidence) -> dict[str, Measure]:
    """Return for each case the slope of log mean regret against log T, over the horizons marked for the fit."""
    rows = evidence.bounded()
    return {
        str(case): _slope(group.pivot(index="round", columns="realization", values="regret").sort_index())
        for case, group in rows[rows["fitted"]].groupby("case", observed=True)
    }


def _slope(regret: pd.DataFrame) -> Measure:
    log_t, values = np.log(regret.index.to_numpy(dtype=np.float64)), regret.to_numpy(dtype=np.float64)
    return lambda weights: float(np.polyfit(log_t, np.log(values @ weights), 1)[0])


def regret_exponent(evidence: Evidence, check: Check) -> Measure:
    """The largest of these slopes over cases."""
    slopes = exponents(evidence)
    if not slopes:
        raise TooLittle("no horizon of the record is long enough for the fit")
    return lambda weights: max(slope(weights) for slope in slopes.values())


def analyse_bound(evidence: Evidence, check: Check) -> str:
    quantity = check["quantity"]
    rows = evidence.bounded().assign(case=lambda table: table["case"].astype(str))
    bounds = [str(column) for column in rows if str(column).startswith(f"{quantity}_bound")]
    means = rows.groupby(["case", "round"])[[quantity, *bounds]].mean()
    ratio = (means[quantity] / means[f"{quantity}_bound"]).to_numpy(dtype=np.float64)
    case, horizon = means.index[int(np.nanargmax(ratio))]
    row = means.loc[(case, horizon)]
    sentence = (
        f"It is largest for '{case}' at T = {horizon:,}: {row[quantity]:,.0f} against a bound of "
        f"{row[f'{quantity}_bound']:,.0f}."
    )
    if f"{quantity}_bound_drawn" in row and np.isfinite(row[f"{quantity}_bound_drawn"]):
        sentence += (
            " The theorem counts the errors of the best policy's first choice, its proof sums those of the mixture, and"
            f" regularised advice keeps the mixture spread out; with the errors of the best policy's own draws the"
            f" bound is {row[f'{quantity}_bound_drawn']:,.0f}."
        )
    return sentence


def analyse_exponent(evidence: Evidence, check: Check) -> str:
    fitted = {case: slope(evenly(evidence)) for case, slope in exponents(evidence).items()}
    slopes = ", ".join(f"{case} {slope:.2f}" for case, slope in fitted.items())
    return f"Exponents by case: {slopes}."


STATISTICS: dict[str, Statistic] = {
    "largest_ratio_to_bound": Statistic(
        largest_ratio_to_bound, "ratio", "largest measured {quantity} over its bound", analyse_bound
    ),
    "regret_exponent": Statistic(regret_exponent, "ratio", "exponent of regret in the horizon", analyse_exponent),
}
