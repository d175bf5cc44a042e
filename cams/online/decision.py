"""What a selector decides, and the last of its decisions."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with one instance: trust `model`, output `prediction`, and buy the label if `query`."""

    model: str
    model_index: int
    prediction: Any
    query: bool
    query_probability: float
    ticket: int


class History:
    """The last `limit` decisions, and such labels of theirs as came."""

    def __init__(self, limit: int) -> None:
        self.decisions: deque[Decision] = deque(maxlen=limit)
        self.labels: dict[int, Any] = {}

    def add(self, decision: Decision) -> None:
        if self.labels and len(self.decisions) == self.decisions.maxlen:
            self.labels.pop(self.decisions[0].ticket, None)
        self.decisions.append(decision)

    def answer(self, ticket: int, label: Any) -> None:
        """Note a label, unless its round has been forgotten."""
        if self.decisions and ticket >= self.decisions[0].ticket:
            self.labels[ticket] = label

    def to_frame(self) -> pd.DataFrame:
        """Return a row per round: round, model, prediction, query, query_probability, label (missing if none came)."""
        kept = list(self.decisions)
        # Typed before the gaps come in: beside a missing value pandas would round large whole numbers to doubles.
        labels = pd.Series(self.labels, dtype=object).convert_dtypes().reindex([d.ticket for d in kept])
        return pd.DataFrame(
            {
                "round": pd.Series([d.ticket for d in kept], dtype="int64"),
                "model": pd.Series([d.model for d in kept], dtype=object),
                "prediction": [d.prediction for d in kept],
                "query": pd.Series([d.query for d in kept], dtype=bool),
                "query_probability": pd.Series([d.query_probability for d in kept], dtype="float64"),
                "label": labels.array,
            }
        )
