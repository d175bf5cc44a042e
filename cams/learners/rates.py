"""Rate rules: by which clock the learning rate of exponential weights falls, eta = rate * sqrt(ln m / clock)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar


class RateRule(ABC):
    """A clock, with memory of its own (`state_names`) where it needs any."""

    by_evidence: ClassVar[bool]
    state_names: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def clock(self, t: int) -> float:
        """Return what the rate falls with at round t."""

    def learn(self, query_probability: float) -> None:  # noqa: B027 (a clock that looks at rounds alone learns nothing)
        """Take in that a label has come whose round asked for it with this probability."""


class Rounds(RateRule):
    """The paper's: the clock is t, whether or not a round taught anything."""

    by_evidence = False

    def clock(self, t: int) -> float:
        return float(t)


class Evidence(RateRule):
    """The clock is V_t, the sum of 1/z_s^2 over the labels that have come, and at least 1.

    No weight changes on a round without a label. One label adds at most 1/z to a loss and 1/z^2 to V, so what it adds
    to a log-weight is at most sqrt(ln m); the smaller rate also brings all older differences a little closer together.
    """

    by_evidence = True
    state_names = ("V",)

    def __init__(self) -> None:
        self.V = 0.0

    def clock(self, t: int) -> float:
        return max(1.0, self.V)

    def learn(self, query_probability: float) -> None:
        self.V += 1 / query_probability**2


RATE_RULES: dict[str, type[RateRule]] = {"rounds": Rounds, "evidence": Evidence}
