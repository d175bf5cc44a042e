"""The online API: your own models, one instance at a time, labels whenever they come.

selector = Selector(models=["cnn", "forest"], policies=["router"], num_classes=10, budget=500, seed=0)
decision = selector.step(predictions, advice)
if decision.query:
    selector.label(decision.ticket, y)   # now, or many rounds later
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.archive import Archive, open_archive, write_archive
from cams.bundle import Bundle
from cams.checks import distinct
from cams.errors import InputError
from cams.learners import Round, learner_entry, make_learner
from cams.randomness import uniform_source

Array = npt.NDArray[Any]

SCHEMA_VERSION = 1

_ROUND_ARRAYS = ("predictions", "advice", "model", "query_probability", "model_probability", "model_weights")


@dataclass(frozen=True)
class Decision:
    """What to do with one instance: trust `model`, output `prediction`, and buy the label if `query`."""

    model: str
    model_index: int
    prediction: int
    query: bool
    query_probability: float
    ticket: int


@dataclass(frozen=True)
class _Pending:
    """A label that was asked for and has not come yet, with what it will cost."""

    round: Round
    cost: float


class Selector:
    """Pick a model for every instance of a stream and say which labels are worth buying.

    models, policies   names, in the order of `predictions` and of the rows of `advice`
    budget             what labels may cost in all; None is no limit
    cost               what one label costs
    learner            a name of `cams.LEARNERS`; further keywords are its settings
    horizon            the length of the stream, for learners that need to know it
    """

    def __init__(
        self,
        *,
        models: Sequence[str],
        policies: Sequence[str] | None = None,
        num_classes: int,
        budget: float | None = None,
        cost: float = 1.0,
        seed: int = 0,
        learner: str = "cams",
        horizon: int | None = None,
        regularize: bool = False,
        scaled: bool = False,
        **settings: Any,
    ) -> None:
        if learner_entry(learner, settings).needs_hindsight:
            raise InputError(f"learner '{learner}' knows the labels beforehand and cannot be run online")
        if budget is not None and not budget >= 0:
            raise InputError(f"budget is {budget}, expected at least 0")
        if not cost > 0:
            raise InputError(f"cost is {cost}, expected more than 0")
        if num_classes < 1 or not models:
            raise InputError("a selector needs at least one model and one class")
        self.models, self.policies = [str(m) for m in models], [str(p) for p in policies or ()]
        distinct("models", self.models)
        distinct("policies", self.policies)
        self.num_classes, self.budget, self.cost, self.horizon = int(num_classes), budget, float(cost), horizon
        self._options = {"learner": learner, "regularize": regularize, "scaled": scaled, "settings": settings}
        self._learner = make_learner(
            learner,
            num_models=len(self.models),
            num_policies=len(self.policies),
            num_classes=self.num_classes,
            horizon=horizon,
            budget=None if budget is None else int(budget / cost),
            regularize=regularize,
            scaled=scaled,
            **settings,
        )
        self._uniforms = uniform_source(seed, 0)
        self._pending: dict[int, _Pending] = {}
        self.spent = 0.0

    @property
    def rounds(self) -> int:
        """How many instances have been seen."""
        return self._learner.t

    @property
    def pending(self) -> list[int]:
        """Tickets whose label has been asked for and has neither come nor been dropped."""
        return list(self._pending)

    @property
    def committed(self) -> float:
        """What answered and pending labels cost together; this never exceeds the budget."""
        return self.spent + sum(pending.cost for pending in self._pending.values())

    def step(
        self, predictions: npt.ArrayLike, advice: npt.ArrayLike | None = None, *, cost: float | None = None
    ) -> Decision:
        """Decide on one instance from the k models' labels (k,) and the n policies' advice (n, k).

        `cost` is what this instance's label would cost, where that differs from the usual.
        """
        price = self.cost if cost is None else float(cost)
        if not price > 0:
            raise InputError(f"cost is {price}, expected more than 0")
        votes, pi = self._checked(predictions, advice)
        # A hair of slack, so that ten labels at 0.1 fit into a budget of 1.
        can_buy = self.budget is None or self.committed + price <= self.budget * (1 + 1e-12)
        decided = self._learner.decide(votes, pi, self._uniforms.random(4), can_buy)
        ticket = self._learner.t
        if decided.query:
            self._pending[ticket] = _Pending(decided, price)
        return Decision(
            model=self.models[decided.model],
            model_index=decided.model,
            prediction=int(votes[decided.model]),
            query=decided.query,
            query_probability=decided.query_probability,
            ticket=ticket,
        )

    def label(self, ticket: int, label: int) -> None:
        """Hand in the label of a queried round; it counts the same whenever it comes."""
        if isinstance(label, bool) or not isinstance(label, int | np.integer) or not 0 <= label < self.num_classes:
            raise InputError(f"label is {label!r}, expected a class in 0..{self.num_classes - 1}")
        pending = self._take(ticket)
        self._learner.learn(pending.round, int(label))
        self.spent += pending.cost

    def drop(self, ticket: int) -> None:
        """Give up on a label that will not come; its cost returns to the budget."""
        self._take(ticket)

    def _take(self, ticket: int) -> _Pending:
        if ticket not in self._pending:
            seen = 1 <= ticket <= self.rounds
            why = "its label was not queried, or has been handed in or dropped" if seen else "there is no such round"
            raise InputError(f"ticket {ticket} is not pending: {why}")
        return self._pending.pop(ticket)

    def _checked(self, predictions: npt.ArrayLike, advice: npt.ArrayLike | None) -> tuple[npt.NDArray[np.int32], Array]:
        votes = np.asarray(predictions)
        n, k = len(self.policies), len(self.models)
        if votes.shape != (k,):
            raise InputError(f"predictions has shape {votes.shape}, expected ({k},), one label per model")
        pi = np.zeros((0, k)) if advice is None else np.asarray(advice)
        if pi.shape != (n, k) and not (n == 0 and pi.size == 0):
            raise InputError(f"advice has shape {pi.shape}, expected ({n}, {k}), one row per policy")
        one = Bundle(
            predictions=votes[None],
            advice=pi.reshape(1, n, k),
            num_classes=self.num_classes,
            policy_names=self.policies,
        )
        return one.predictions[0], one.advice[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything there is to know, without pickle: `load` goes on as if nothing had happened."""
        rounds = [pending.round for pending in self._pending.values()]
        header = {
            "schema_version": SCHEMA_VERSION,
            "models": self.models,
            "policies": self.policies,
            "num_classes": self.num_classes,
            "budget": self.budget,
            "cost": self.cost,
            "horizon": self.horizon,
            "spent": self.spent,
            "random_state": self._uniforms.bit_generator.state,
            **self._options,
        }
        arrays = {"selector": np.asarray(json.dumps(header))}
        arrays |= {f"learner.{name}": value for name, value in self._learner.state().items()}
        arrays["pending.ticket"] = np.asarray(self.pending, dtype=np.int64)
        arrays["pending.cost"] = np.asarray([pending.cost for pending in self._pending.values()], dtype=np.float64)
        if rounds:
            arrays |= {f"pending.{name}": np.stack([getattr(r, name) for r in rounds]) for name in _ROUND_ARRAYS}
        write_archive(path, arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        models: Sequence[str] | None = None,
        policies: Sequence[str] | None = None,
    ) -> Selector:
        """Read what `save` wrote; with `models` or `policies`, refuse a state that was made for others."""
        with open_archive(path) as archive:
            if "selector" not in archive.names():
                raise InputError("this is not a saved selector")
            header = json.loads(str(archive.read("selector")))
            if header["schema_version"] != SCHEMA_VERSION:
                found = header["schema_version"]
                raise InputError(f"this was written with schema version {found}, this is version {SCHEMA_VERSION}")
            _refuse_others("models", header["models"], models)
            _refuse_others("policies", header["policies"], policies)
            selector = cls(
                **{name: header[name] for name in ("models", "policies", "num_classes", "budget", "cost", "horizon")},
                **{name: header[name] for name in ("learner", "regularize", "scaled")},
                **header["settings"],
            )
            selector._learner.restore({name: archive.read(f"learner.{name}") for name in selector._learner.state()})
            selector._uniforms.bit_generator.state = header["random_state"]
            selector.spent = header["spent"]
            selector._pending = _read_pending(archive)
        return selector


def _read_pending(archive: Archive) -> dict[int, _Pending]:
    tickets = archive.read("pending.ticket")
    costs = archive.read("pending.cost")
    if not len(tickets):
        return {}
    stored = {name: archive.read(f"pending.{name}") for name in _ROUND_ARRAYS}
    pending = {}
    for i, (ticket, cost) in enumerate(zip(tickets, costs, strict=True)):
        values = {name: array[i] if array[i].ndim else array[i].item() for name, array in stored.items()}
        pending[int(ticket)] = _Pending(Round(query=True, **values), float(cost))
    return pending


def _refuse_others(what: str, saved: list[str], wanted: Sequence[str] | None) -> None:
    if wanted is not None and saved != [str(name) for name in wanted]:
        raise InputError(f"this was saved for {what} {saved}, not for {[str(name) for name in wanted]}")
