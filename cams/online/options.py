"""What a selector is told when it is made, checked at once and kept as plain Python values that any file can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cams.checks import is_listed, number, whole_number
from cams.classes import Classes
from cams.errors import InputError
from cams.learners import Learner, learner_entry, make_learner
from cams.naming import text_of, words
from cams.online.ledger import DEAREST, affordable

# Some rules keep a number per class.
MOST_CLASSES = 10**7
LONGEST_HISTORY = 10**7

Plain = str | int | float | bool | None


@dataclass(frozen=True)
class Options:
    """Everything but the seed, which only the state of the random numbers needs."""

    models: list[str]
    policies: list[str]
    num_classes: int
    classes: Classes | None
    abstain: Plain
    budget: float | None
    cost: float
    learner: str
    horizon: int | None
    regularize: bool
    scaled: bool
    history: int
    settings: dict[str, Plain]

    @classmethod
    def checked(
        cls,
        *,
        models: Any,
        policies: Any,
        num_classes: Any,
        classes: Any,
        abstain: Any,
        budget: Any,
        cost: Any,
        learner: Any,
        horizon: Any,
        regularize: Any,
        scaled: Any,
        history: Any,
        settings: Mapping[str, Any],
    ) -> Options:
        """Return the options as plain values, or refuse the first that is wrong."""
        if (num_classes is None) == (classes is None):
            raise InputError("a selector takes either num_classes or classes")
        named = None if classes is None else Classes(classes)
        options = cls(
            models=checked_names("models", models),
            policies=[] if policies is None else checked_names("policies", policies),
            num_classes=whole_number("num_classes", num_classes if named is None else len(named), 1, MOST_CLASSES),
            classes=named,
            abstain=_plain("abstain", abstain, Plain, "a number or a word"),
            budget=None if budget is None else checked_budget(budget),
            cost=checked_cost(cost),
            learner=_plain("learner", learner, str, "the name of a learner"),
            horizon=None if horizon is None else whole_number("horizon", horizon, 1),
            regularize=_plain("regularize", regularize, bool, "True or False"),
            scaled=_plain("scaled", scaled, bool, "True or False"),
            history=whole_number("history", history, 0, LONGEST_HISTORY),
            settings={name: _plain(name, value, Plain, "a number or a word") for name, value in settings.items()},
        )
        if learner_entry(options.learner, options.settings).needs_hindsight:
            raise InputError(f"learner '{learner}' knows the labels beforehand and cannot be run online")
        if options.abstain is not None and options.abstain in (range(options.num_classes) if named is None else named):
            raise InputError(f"abstain is {options.abstain!r}, which is a class")
        if not options.models:
            raise InputError("models is empty, expected at least one name")
        if options.scaled and (options.horizon is None or options.budget is None):
            raise InputError(f"scaled queries need a {'horizon' if options.horizon is None else 'budget'}")
        return options

    def make_learner(self) -> Learner:
        return make_learner(
            self.learner,
            num_models=len(self.models),
            num_policies=len(self.policies),
            num_classes=self.num_classes,
            horizon=self.horizon,
            budget=None if self.budget is None else affordable(self.budget, self.cost),
            regularize=self.regularize,
            scaled=self.scaled,
            **self.settings,
        )

    def to_json(self) -> dict[str, Any]:
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"classes": None if self.classes is None else writable(self.classes)}


def writable(classes: Iterable[Any]) -> list[Any]:
    """Return classes as a file can hold them; of those it cannot, only how they look."""
    return [value if isinstance(value, str | int | float) else {"looks like": repr(value)} for value in classes]


def checked_budget(budget: Any) -> float:
    if isinstance(budget, float | np.floating) and np.isinf(budget):
        raise InputError(f"budget is {budget}, expected a number of at least 0, or None for no limit")
    return number("budget", budget, 0, DEAREST)


def checked_cost(cost: Any) -> float:
    price = number("cost", cost, 0, DEAREST)
    if price == 0:
        raise InputError("cost is 0, expected more than 0")
    return price


def checked_names(what: str, names: Any) -> list[str]:
    # A set has no order, and advice comes in one.
    if isinstance(names, str | bytes | set | frozenset) or not is_listed(names):
        raise InputError(f"{what} is {names!r}, expected a list of names")
    return words(what, names)


def _plain(name: str, value: Any, kind: Any, expected: str) -> Any:
    """Return a value of Python's own for one of numpy's, so that saving never meets a type it does not know."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, kind):
        raise InputError(f"{name} is {value!r}, expected {expected}")
    return text_of(plain) if isinstance(plain, str) else plain
