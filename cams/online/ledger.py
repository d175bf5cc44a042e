"""Labels asked for and paid for. Money is counted exactly: no order of labels and drops changes a total."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from cams.errors import InputError
from cams.learners import Round

# Every double is a whole number of these, and whole numbers add up without rounding.
_PARTS = 1 << 1074
# Beyond any price; totals stay far from the largest double.
DEAREST = 1e100


@dataclass(frozen=True)
class Pending:
    """A label that was asked for and has not come yet, with what it will cost."""

    round: Round
    cost: float


class Ledger:
    """What has been spent, and what labels that have not come yet will cost."""

    def __init__(self, budget: float | None) -> None:
        self._limit = None if budget is None else _limit(budget)
        self._spent = 0
        self._committed = 0
        self.pending: dict[int, Pending] = {}

    @property
    def spent(self) -> float:
        return self._spent / _PARTS

    @property
    def committed(self) -> float:
        return self._committed / _PARTS

    def can_pay(self, cost: float) -> bool:
        return self._limit is None or self._committed + _exactly(cost) <= self._limit

    def ask(self, ticket: int, round_: Round, cost: float) -> None:
        """Set the cost of a label aside until it comes or is dropped."""
        self._committed += _exactly(cost)
        self.pending[ticket] = Pending(round_, cost)

    def pay(self, ticket: int) -> None:
        """Spend what was set aside for a label that came."""
        self._spent += _exactly(self.pending.pop(ticket).cost)

    def drop(self, ticket: int) -> None:
        """Give back what was set aside for a label that will not come."""
        self._committed -= _exactly(self.pending.pop(ticket).cost)

    def find(self, ticket: int, rounds: int) -> Pending:
        """Return what a ticket stands for, or say why it stands for nothing."""
        if isinstance(ticket, bool) or not isinstance(ticket, int | np.integer):
            raise InputError(f"ticket is {ticket!r}, expected the whole number that step gave")
        if ticket not in self.pending:
            seen = 1 <= ticket <= rounds
            why = "its label was not queried, or has been handed in or dropped" if seen else "there is no such round"
            raise InputError(f"ticket {ticket} is not pending: {why}")
        return self.pending[int(ticket)]

    def spent_exactly(self) -> tuple[int, int]:
        """Return what has been spent as a numerator and a denominator, for a file."""
        return Fraction(self._spent, _PARTS).as_integer_ratio()

    def restore(self, spent: Any, pending: dict[int, Pending]) -> None:
        """Go on from what `spent_exactly` returned and the labels that are pending."""
        if not (isinstance(spent, list) and len(spent) == 2 and all(type(part) is int for part in spent)):
            raise InputError(f"spent is {spent!r}, expected a numerator and a denominator")
        numerator, denominator = spent
        if numerator < 0 or denominator < 1 or _PARTS % denominator:
            raise InputError(f"spent is {numerator}/{denominator}, expected a sum of costs")
        self._spent = numerator * (_PARTS // denominator)
        self._committed = self._spent + sum(_exactly(asked.cost) for asked in pending.values())
        if self._committed > self._most():
            # As a decimal, which no edited file can make too large to be shown.
            costs = Decimal(self._committed) / _PARTS
            raise InputError(f"spent and pending costs are {costs:.6g}, more than the budget")
        self.pending = pending

    def _most(self) -> int:
        return _exactly(DEAREST) << 64 if self._limit is None else self._limit


def affordable(budget: float, cost: float) -> int:
    """Return how many labels of one cost a budget pays for."""
    return min(_limit(budget) // _exactly(cost), 1 << 62)


def _limit(budget: float) -> int:
    """A hair more than the budget, so that ten labels at 0.1 fit into a budget of 1."""
    exact = _exactly(budget)
    return exact + exact // 10**12


def _exactly(cost: float) -> int:
    numerator, denominator = cost.as_integer_ratio()
    return numerator * (_PARTS // denominator)
