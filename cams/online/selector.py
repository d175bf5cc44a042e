"""The selector: steps and labels, under one lock."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.archive import open_archive, write_archive
from cams.checks import whole_number
from cams.errors import InputError
from cams.online import storage
from cams.online.compiled_choice import hasten
from cams.online.decision import Decision, History
from cams.online.instance import Intake, batch, class_number
from cams.online.ledger import Ledger
from cams.online.options import Options, checked_cost, checked_names
from cams.randomness import uniform_source

Array = npt.NDArray[Any]

# What a selector is made of; any other attribute is somebody else's, and copied as it is.
_PARTS = {"_options", "_learner", "_uniforms", "_ledger", "_history", "_intake", "_draws", "_lock"}


class Selector:
    """Pick a model for every instance of a stream and say which labels are worth buying.

        models, policies   names, in the order of `predictions` and of the rows of `advice`
        num_classes        classes are the numbers 0..num_classes-1; or else
        classes            what classes are called: strings, numbers, anything that can be looked up
        abstain            a prediction that stands for no answer, as None and NaN always do
        budget             what labels may cost in all; None is no limit
        cost               what one label costs
        learner            a name of `cams.LEARNERS`; further keywords are its settings
        horizon            the length of the stream, for learners that need to know it
        history            of how many of the last rounds `history()` tells; memory does not grow beyond them

    A model without an answer abstains: it has no vote and is not named, and if the label is bought it was wrong. What
    policies would give it goes to the others in proportion. Where no model has an answer, neither has the selector.

    Any number of threads may share a selector: each call has it to itself, so that no two steps get one ticket and
    the budget holds. The order in which threads come is theirs, and with it the decisions.
    """

    def __init__(
        self,
        *,
        models: Sequence[str],
        policies: Sequence[str] | None = None,
        num_classes: int | None = None,
        classes: Sequence[Any] | None = None,
        abstain: Any = None,
        budget: float | None = None,
        cost: float = 1.0,
        seed: int = 0,
        learner: str = "cams",
        horizon: int | None = None,
        regularize: bool = False,
        scaled: bool = False,
        history: int = 1000,
        **settings: Any,
    ) -> None:
        options = Options.checked(
            models=models,
            policies=policies,
            num_classes=num_classes,
            classes=classes,
            abstain=abstain,
            budget=budget,
            cost=cost,
            learner=learner,
            horizon=horizon,
            regularize=regularize,
            scaled=scaled,
            history=history,
            settings=settings,
        )
        self._start(options, whole_number("seed", seed, 0))

    def _start(self, options: Options, seed: int) -> None:
        self._options = options
        self._learner = options.make_learner()
        self._uniforms = uniform_source(seed, 0)
        self._ledger = Ledger(options.budget)
        self._history = History(options.history)
        self._intake = Intake(options)
        self._draws = np.zeros(4)
        self._lock = RLock()
        hasten(self._learner, self._intake, self._draws)

    @property
    def models(self) -> list[str]:
        return list(self._options.models)

    @property
    def policies(self) -> list[str]:
        return list(self._options.policies)

    @property
    def num_classes(self) -> int:
        return self._options.num_classes

    @property
    def classes(self) -> list[Any]:
        """What classes are called; 0..num_classes-1 where they have no other names."""
        named = self._options.classes
        return list(range(self.num_classes)) if named is None else list(named)

    @property
    def budget(self) -> float | None:
        return self._options.budget

    @property
    def rounds(self) -> int:
        """How many instances have been seen."""
        return self._learner.t

    @property
    def pending(self) -> list[int]:
        """Tickets whose label has been asked for and has neither come nor been dropped."""
        with self._lock:
            return list(self._ledger.pending)

    @property
    def spent(self) -> float:
        """What the labels that came have cost."""
        return self._ledger.spent

    @property
    def committed(self) -> float:
        """What answered and pending labels cost together; this never exceeds the budget."""
        return self._ledger.committed

    @property
    def weights(self) -> dict[str, float]:
        """The weight of every policy and model that the learner weighs, as the labels so far have set it.

        A model stands for the policy that always names it, and is called `NAME (model)` where a policy has its name.
        """
        with self._lock:
            of_policies, of_models = self._learner.weights()
        names = self.policies if of_policies.size else []
        if of_models.size:
            names = names + names_beside(names, self.models)
        return dict(zip(names, [*of_policies.tolist(), *of_models.tolist()], strict=True))

    @property
    def trusted(self) -> str | None:
        """The policy or model with the most weight, the first of equals; None while all weigh the same."""
        weights = self.weights
        if len(weights) > 1 and min(weights.values()) == max(weights.values()):
            return None
        return max(weights, key=lambda name: weights[name], default=None)

    def history(self) -> pd.DataFrame:
        """Return the last rounds: round, model, prediction, query, query_probability, label (missing if none came)."""
        with self._lock:
            return self._history.to_frame()

    def __repr__(self) -> str:
        budget = "" if self.budget is None else f" of {self.budget:g}"
        return (
            f"Selector({self._options.learner}: {len(self._options.models)} models, "
            f"{len(self._options.policies)} policies, {self.num_classes} classes; {self.rounds} rounds, "
            f"{self.spent:g}{budget} spent, {len(self._ledger.pending)} labels pending)"
        )

    def step(
        self, predictions: npt.ArrayLike, advice: npt.ArrayLike | None = None, *, cost: float | None = None
    ) -> Decision:
        """Decide on one instance from the k models' labels (k,) and the n policies' advice (n, k).

        `cost` is what this instance's label would cost, where that differs from the usual.
        """
        price = self._options.cost if cost is None else checked_cost(cost)
        with self._lock:
            self._intake.take(predictions, advice)
            return self._decide(price)

    def step_many(
        self, predictions: npt.ArrayLike, advice: npt.ArrayLike | None = None, *, cost: float | None = None
    ) -> list[Decision]:
        """Decide on N instances, predictions (N, k) and advice (N, n, k), as N calls of `step` one after another would.

        If any of them is wrong, none is decided. The columns of a data frame are the models' names.
        """
        price = self._options.cost if cost is None else checked_cost(cost)
        rows, pi = batch(predictions, advice, self._options.models)
        with self._lock:
            for i, row in enumerate(rows):
                self._intake.take(row, pi[i], str(i))
            decisions = []
            for row, advised in zip(rows, pi, strict=True):
                self._intake.take(row, advised)
                decisions.append(self._decide(price))
            return decisions

    def _decide(self, price: float) -> Decision:
        """Decide on the instance that was taken in last."""
        votes = self._intake.votes
        self._uniforms.random(out=self._draws)
        # The precision shows only where advice is regularised, which a replay does in that in which it came.
        advice = self._intake.advice_as_given() if self._options.regularize else self._intake.advice
        decided = self._learner.decide(votes, advice, self._draws, self._ledger.can_pay(price))
        ticket = self._learner.t
        if decided.query:
            advice, weights = self._intake.advice_as_given(), decided.model_weights.copy()
            kept = replace(decided, predictions=votes.copy(), advice=advice, model_weights=weights)
            self._ledger.ask(ticket, kept, price)
        decision = Decision(
            self._options.models[decided.model],
            decided.model,
            self._class_name(int(votes[decided.model])),
            decided.query,
            decided.query_probability,
            ticket,
        )
        self._history.add(decision)
        return decision

    def label(self, ticket: int, label: Any) -> None:
        """Hand in the label of a queried round; it counts the same whenever it comes."""
        number = self._class_number(label)
        with self._lock:
            asked = self._ledger.find(ticket, self.rounds).round
            self._learner.learn(asked, number)
            self._ledger.pay(ticket)
            self._history.answer(int(ticket), self._class_name(number))

    def _class_name(self, number: int) -> Any:
        named = self._options.classes
        return number if named is None else named[number]

    def _class_number(self, label: Any) -> int:
        if self._options.classes is not None:
            return self._options.classes.number(label)
        return class_number("label", label, self.num_classes)

    def drop(self, ticket: int) -> None:
        """Give up on a label that will not come; its cost returns to the budget."""
        with self._lock:
            self._ledger.find(ticket, self.rounds)
            self._ledger.drop(ticket)
            self._learner.drop(int(ticket))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything there is to know, without pickle: `load` goes on as if nothing had happened."""
        write_archive(path, self._arrays())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        models: Sequence[str] | None = None,
        policies: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> Selector:
        """Read what `save` wrote; with `models`, `policies` or `classes`, refuse a state that was made for others.

        Classes that are neither strings nor numbers are not in the file, and must be given.
        """
        with open_archive(path) as archive:
            if "selector" not in archive.names():
                raise InputError("this is not a saved selector")
            selector = cls._from_arrays({name: archive.read(name) for name in sorted(archive.names())}, classes)
            _refuse_others("models", selector.models, models)
            _refuse_others("policies", selector.policies, policies)
        return selector

    def _arrays(self) -> dict[str, Array]:
        with self._lock:
            header = {
                "schema_version": storage.SCHEMA_VERSION,
                "options": self._options.to_json(),
                "spent": self._ledger.spent_exactly(),
                "random_state": self._uniforms.bit_generator.state,
            }
            arrays = {"selector": np.asarray(json.dumps(header))}
            arrays |= {f"learner.{name}": value for name, value in self._learner.state().items()}
            arrays |= storage.write_history(self._history, self._class_number)
            return arrays | storage.write_pending(self._ledger.pending)

    @classmethod
    def _from_arrays(cls, arrays: dict[str, Array], classes: Sequence[Any] | None = None) -> Selector:
        header = storage.read_header(str(arrays["selector"]))
        selector = cls(**storage.constructor_options(header["options"], classes))
        storage.restore_random_state(selector._uniforms, header["random_state"])
        storage.read_learner(selector._learner, arrays)
        pending = storage.read_pending(selector._options, selector.rounds, arrays)
        selector._ledger.restore(header["spent"], pending)
        storage.read_history(selector._history, selector.models, selector.classes, selector.rounds, arrays)
        hasten(selector._learner, selector._intake, selector._draws)
        return selector

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle as `save` and `load` do: a lock and work space are not for sharing."""
        named = self._options.classes
        others = {name: value for name, value in vars(self).items() if name not in _PARTS}
        return {"arrays": self._arrays(), "classes": None if named is None else list(named), "others": others}

    def __setstate__(self, state: dict[str, Any]) -> None:
        same = Selector._from_arrays(state["arrays"], state["classes"])
        vars(self).update(vars(same) | state["others"])


def names_beside(policies: list[str], models: list[str]) -> list[str]:
    """Return what models are called among policies: one with a policy's name gets `(model)` until nobody has it."""
    shown: list[str] = []
    for name in models:
        alone = name
        while alone in policies or alone in shown or (alone != name and alone in models):
            alone = f"{alone} (model)"
        shown.append(alone)
    return shown


def _refuse_others(what: str, saved: list[str], wanted: Sequence[str] | None) -> None:
    if wanted is not None and saved != (names := checked_names(what, wanted)):
        raise InputError(f"this was saved for {what} {saved}, not for {names}")
