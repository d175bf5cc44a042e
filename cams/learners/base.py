"""What every learner is: one round at a time, decide, and learn when a label was bought."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from cams.checks import number
from cams.classes import ABSTAINS
from cams.engine.spec import FAINT, KernelSpec
from cams.errors import InputError
from cams.randomness import COIN

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """What a learner knows before the stream starts.

    `horizon` (T) and `budget` (b) may be None online; rules that need them say so. `regularize` keeps the
    policies' probabilities away from 0; `scaled` spreads the budget over a stream of known length.
    """

    num_models: int
    num_policies: int
    num_classes: int
    horizon: int | None = None
    budget: int | None = None
    regularize: bool = False
    scaled: bool = False


@dataclass(frozen=True)
class Choice:
    """A learner's own part of a round: which model, how likely that model was, and z_t before any scaling."""

    model: int
    query_probability: float
    model_probability: float = 1.0
    model_weights: Floats | None = None


@dataclass(frozen=True)
class Round:
    """What was decided on one round, and all that is needed to learn from its label, now or later."""

    predictions: npt.NDArray[np.int32]
    advice: Array
    model: int
    query: bool
    query_probability: float
    model_probability: float
    model_weights: Floats


class Rule(Protocol):
    """A part of a learner with memory in the attributes that `state_names` lists."""

    @property
    def state_names(self) -> tuple[str, ...]: ...


class Learner(ABC):
    """One way to pick a model for each instance and to decide which labels to buy.

    The contract, which every learner in `cams.LEARNERS` is tested against:

    - `decide` is called once per round, in stream order. It takes the k predictions (k,), the advice (n, k) and
      four uniforms (coin, tie, policy, model), never the label, and returns a `Round`.
    - A model may abstain (`cams.classes.ABSTAINS`), though never all do. It is never named and has no say in the query,
      and for `learn` it was wrong: -1 is no label.
    - `learn` is called only for rounds whose `query` is True, at once or any number of rounds later.
    - All memory is in the attributes named by `state_names`, so that a learner saved at any round goes on exactly
      as if it had never been saved.
    - No randomness but the uniforms.

    A subclass writes `choose` and `learn`. `kernel` may name a compiled twin; without one a replay
    runs the learner itself, round by round. A class that changes a method of a learner with a twin has none, unless it
    names one.
    """

    # Whether b enters the query probability, so that each budget has a path of its own.
    budget_shapes_queries: bool = False
    # Whether scaled queries apply to this learner.
    scalable: ClassVar[bool] = True
    # Whether it follows the best policy in hindsight (setting `policy`), which only a replay can name.
    needs_hindsight: ClassVar[bool] = False
    state_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Take the twin from a class that changes a rule of its parent's and names none: it would play the parent's."""
        super().__init_subclass__(**keywords)
        # The class whose twin this is, and what changes it: the class itself, and others' methods mixed in before it.
        twin = next(i for i, base in enumerate(cls.__mro__) if "kernel" in vars(base))
        mixed = {name: own for base in cls.__mro__[:twin] for name, own in vars(base).items()}
        rules = [name for name, own in mixed.items() if callable(own) and not name.startswith("__")]
        if any(hasattr(cls.__mro__[twin], name) for name in rules):
            cls.kernel = Learner.kernel  # type: ignore[method-assign]

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.t = 0
        self.early_labels = 0

    def decide(
        self, predictions: npt.NDArray[np.int32], advice: Array, uniforms: Floats, can_buy: bool = True
    ) -> Round:
        """Name a model for this round's instance and say whether to buy its label."""
        self.t += 1
        choice = self.choose(predictions, advice, uniforms)
        z = min(1.0, choice.query_probability * self._scale(can_buy))
        query = bool(can_buy and uniforms[COIN] < z)
        if query and self.t <= self._early_rounds():
            self.early_labels += 1
        weights = np.empty(0) if choice.model_weights is None else choice.model_weights
        return Round(predictions, advice, choice.model, query, z, choice.model_probability, weights)

    @abstractmethod
    def choose(self, predictions: npt.NDArray[np.int32], advice: Array, uniforms: Floats) -> Choice:
        """Return the model of this round and the probability with which its label is wanted."""

    @abstractmethod
    def learn(self, round_: Round, label: int) -> None:
        """Take in the label of a round that was bought."""

    def drop(self, t: int) -> None:
        """Forget that the label of round t was bought: it never came."""
        if t <= self._early_rounds():
            self.early_labels = max(0, self.early_labels - 1)

    def weights(self) -> tuple[Floats, Floats]:
        """Return the weights of the policies (n,) and of the models (k,) as labels so far have set them.

        Together they sum to 1. Either is empty where the learner weighs no such thing.
        """
        return np.empty(0), np.empty(0)

    def kernel(self) -> KernelSpec | None:
        """Return the numbers that make the compiled engine behave like this learner, if it can."""
        return None

    def state(self) -> dict[str, Array]:
        """Return copies of all memory, by name."""
        return {name: np.array(getattr(owner, name)) for owner, name in self._memory()}

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from what `state` returned."""
        for owner, name in self._memory():
            current = getattr(owner, name)
            value = state[name].astype(np.asarray(current).dtype)
            setattr(owner, name, value if isinstance(current, np.ndarray) else value.item())

    def rules(self) -> Sequence[Rule]:
        """Return the rules this learner is made of, whose memory is part of its own."""
        return ()

    def _memory(self) -> list[tuple[object, str]]:
        own: list[tuple[object, str]] = [(self, name) for name in ("t", "early_labels", *self.state_names)]
        return own + [(rule, name) for rule in self.rules() for name in rule.state_names]

    def _early_rounds(self) -> int:
        """The first tenth of a stream of known length, in which scaled queries only count."""
        if not (self.problem.scaled and self.scalable):
            return 0
        return require(self.problem.horizon, "horizon", "scaled queries") // 10

    def _scale(self, can_buy: bool) -> float:
        """The factor s on the query probability after the early rounds; 1 where queries are not scaled."""
        early = self._early_rounds()
        # A stream too short to have a first tenth has nothing to measure the factor on.
        if early == 0 or self.t <= early:
            return 1.0
        # Cheap labels may be as many as the budget has at the usual price, and leave money for one more.
        left = max(int(can_buy), require(self.problem.budget, "budget", "scaled queries") - self.early_labels)
        bought = max(1, self.early_labels)
        return left / (require(self.problem.horizon, "horizon", "") - early) * early / bought


def checked_rate(rate: float) -> float:
    """Return the factor on a learning rate; far beyond any use its squares would overflow."""
    return number("rate", rate, 0, 1e6)


def require(value: int | None, name: str, who: str) -> int:
    """Return a value the caller had to give."""
    if value is None:
        raise InputError(f"{who} needs a {name}")
    return value


def among_answers(pi: Floats, predictions: npt.NDArray[np.int32]) -> Floats:
    """Take from each row of advice (m, k) what it gives to models that abstain, and give it to the rest in proportion.

    A row that trusts abstainers alone (but for 1e-30) has nothing left to say: it trusts all others evenly.
    """
    answers = predictions != ABSTAINS
    if answers.all():
        return pi
    kept = pi * answers
    totals = kept.sum(axis=1, keepdims=True)
    among: Floats = np.where(totals > FAINT, kept / np.where(totals > FAINT, totals, 1), answers / answers.sum())
    return among


def pick_tied(scores: Floats, uniform: float) -> int:
    """Return the argmax of scores; those within 1e-12 (relative) of the maximum tie, and the uniform picks one."""
    top = scores.max()
    tied = np.flatnonzero(scores >= top - 1e-12 * abs(top))
    return int(tied[int(uniform * len(tied))])


def sample(probabilities: Floats, uniform: float) -> int:
    """Return an index drawn from (unnormalised) probabilities by inversion."""
    cumulative = np.cumsum(probabilities)
    drawn = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
    return min(drawn, len(probabilities) - 1)


def exponential_weights(losses: Floats, eta: float, penalty: Floats | float = 0.0) -> Floats:
    """Return q_i proportional to exp(-eta L_i - penalty_i); the smallest are subtracted first, so nothing overflows."""
    exponents = eta * (losses - losses.min()) + penalty
    q = np.exp(exponents.min() - exponents)
    weights: Floats = q / q.sum()
    return weights
