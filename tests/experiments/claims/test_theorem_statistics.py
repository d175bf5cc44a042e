"""Regret and labels beside their bounds, on records whose growth is known: regret is 2 T^0.5 and 3 T^0.75."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from experiments.claims.evidence import Evidence, TooLittle
from experiments.claims.statistics import STATISTICS
from tests.experiments.claims.made_up import REALIZATIONS, evidence_of

EVENLY = np.full(REALIZATIONS, 1 / REALIZATIONS)
HORIZONS = (16, 81, 256, 625)


def rows(case: str, factor: float, power: float, fitted_from: int = 81) -> pd.DataFrame:
    """Regret `factor * T^power` on average against a bound of 100 sqrt(T), T/4 labels against a bound of T."""
    t, r = (values.ravel() for values in np.meshgrid(HORIZONS, range(REALIZATIONS), indexing="ij"))
    # Realizations differ, in pairs that cancel.
    regret = factor * t**power + np.where(r % 2, 1.0, -1.0)
    return pd.DataFrame(
        {
            "case": case,
            "series": "cams",
            "kind": "learner",
            "budget": 5,
            "realization": r,
            "round": t,
            "loss": 7 + regret,
            "reference": 7.0,
            "queries": t / 4,
            "regret_bound": 100 * np.sqrt(t),
            "regret_bound_drawn": 200 * np.sqrt(t) if case == "steep" else np.nan,
            "queries_bound": t.astype(float),
            "fitted": t >= fitted_from,
        }
    )


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    unbounded = rows("flat", 1000, 1).assign(regret_bound=np.nan)
    found = pd.concat([rows("flat", 2, 0.5), rows("steep", 3, 0.75), unbounded], ignore_index=True)
    # As read from disk; a case that has no bound leaves its name behind.
    return evidence_of(found.astype({"case": pd.CategoricalDtype(["flat", "none", "steep"])}))


def test_the_largest_ratio_is_over_cases_and_horizons(evidence: Evidence) -> None:
    measure = STATISTICS["largest_ratio_to_bound"].measure(evidence, {"quantity": "regret"})
    # 3 * 625^0.75 / (100 * 25) = 3 * 125 / 2500
    assert measure(EVENLY) == pytest.approx(0.15)
    labels = STATISTICS["largest_ratio_to_bound"].measure(evidence, {"quantity": "queries"})
    assert labels(EVENLY) == pytest.approx(0.25)


def test_the_ratio_is_one_of_means(evidence: Evidence) -> None:
    """With all weight on one realization its own regret counts, one error more than the mean."""
    only_the_second = np.eye(REALIZATIONS)[1]
    measure = STATISTICS["largest_ratio_to_bound"].measure(evidence, {"quantity": "regret"})
    assert measure(only_the_second) == pytest.approx((375 + 1) / 2500)


def test_the_exponent_is_that_of_the_steepest_case_over_the_fitted_horizons(evidence: Evidence) -> None:
    assert STATISTICS["regret_exponent"].measure(evidence, {})(EVENLY) == pytest.approx(0.75)
    bent = rows("flat", 2, 0.5)
    bent.loc[bent["round"] == HORIZONS[0], "loss"] += 1e6
    assert STATISTICS["regret_exponent"].measure(evidence_of(bent), {})(EVENLY) == pytest.approx(0.5)


def test_no_horizon_is_long_enough_for_a_fit() -> None:
    short = evidence_of(rows("flat", 2, 0.5, fitted_from=10_000))
    with pytest.raises(TooLittle, match=r"^no horizon of the record is long enough for the fit$"):
        STATISTICS["regret_exponent"].measure(short, {})


def test_what_is_said_of_exponents_and_bounds(evidence: Evidence) -> None:
    assert STATISTICS["regret_exponent"].analysis(evidence, {}) == "Exponents by case: flat 0.50, steep 0.75."
    said = STATISTICS["largest_ratio_to_bound"].analysis(evidence, {"quantity": "regret"})
    assert said == (
        "It is largest for 'steep' at T = 625: 375 against a bound of 2,500. The theorem counts the errors of the best "
        "policy's first choice, its proof sums those of the mixture, and regularised advice keeps the mixture spread "
        "out; with the errors of the best policy's own draws the bound is 5,000."
    )
    undrawn = evidence_of(rows("flat", 2, 0.5))
    said = STATISTICS["largest_ratio_to_bound"].analysis(undrawn, {"quantity": "queries"})
    assert said == "It is largest for 'flat' at T = 16: 4 against a bound of 16."
