"""Every statistic that a check of conf/claims.yaml may name, by the word it uses."""

from __future__ import annotations

from experiments.claims.statistics import equal_cost, final_errors, label_counts, theorems
from experiments.claims.statistics.base import Check, Statistic, title

STATISTICS: dict[str, Statistic] = {
    **equal_cost.STATISTICS,
    **label_counts.STATISTICS,
    **final_errors.STATISTICS,
    **theorems.STATISTICS,
}

__all__ = ["STATISTICS", "Check", "Statistic", "title"]
