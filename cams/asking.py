"""What trained models and routers say about rows of a table, with a sentence for each that does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pandas as pd

from cams.checks import as_array, distinct, is_listed
from cams.classes import answers_of
from cams.errors import InputError, in_one_line
from cams.naming import text_of
from cams.tables import num_rows

Array = npt.NDArray[Any]


@runtime_checkable
class Advisor(Protocol):
    """What is asked for advice: a `cams.Router`, or anything that advises as one does."""

    name: str
    kind: str

    def check_models(self, names: Sequence[str]) -> None: ...

    def advise(self, X: Any) -> Array: ...


def check_models(models: Mapping[str, Any]) -> None:
    """Refuse what is no mapping from names to trained models."""
    if not isinstance(models, Mapping):
        raise InputError(f"models is a {type(models).__name__}, expected a mapping from names to models")
    for name, model in models.items():
        if isinstance(model, type):
            raise InputError(f"model '{name}' is the class {model.__name__}, expected a trained model of it")
        if not hasattr(model, "predict"):
            raise InputError(f"model '{name}' ({type(model).__name__}) has no predict(X)")


def ask_models(models: Mapping[str, Any], X: Any) -> dict[str, Array]:
    """Return each model's predicted classes (N,) by its name."""
    answers = {name: _one_class_per_row(name, _predictions(name, model, X)) for name, model in models.items()}
    if len(answers) == 1 and hasattr(X, "__len__"):  # the answers of several are compared with each other
        ((name, given),) = answers.items()
        if len(given) != num_rows(X):
            raise InputError(f"model '{name}' predicts {len(given)} classes for {num_rows(X)} rows")
    return answers


def _predictions(name: str, model: Any, X: Any) -> Array:
    # Every library has its own way to complain of models that are not trained, or of rows it cannot read.
    try:
        said = model.predict(X)
    except Exception as error:
        raise InputError(f"model '{name}' cannot predict these rows: {in_one_line(error)}") from error
    return answers_of(f"what model '{name}' predicts", said)


def _one_class_per_row(name: str, answers: Array) -> Array:
    # Some libraries answer with a column.
    flat = answers[:, 0] if answers.ndim == 2 and answers.shape[1] == 1 else answers
    if flat.ndim != 1:
        raise InputError(f"model '{name}' predicts an array of shape {answers.shape}, expected one class per row")
    return flat


def check_routers(routers: Iterable[Advisor], models: Sequence[str]) -> list[Advisor]:
    """Return routers in a list, refusing what is none, and those that were fitted on other models than these."""
    if isinstance(routers, Advisor):
        raise InputError("routers is a single router, expected a list of them")
    if not is_listed(routers):
        raise InputError(f"routers is {routers!r}, expected a list of routers")
    listed = list(routers)
    for i, router in enumerate(listed):
        if not isinstance(router, Advisor):
            expected = "a cams.Router, or a policy with name, kind, check_models(names) and advise(X)"
            raise InputError(f"routers[{i}] is a {type(router).__name__}, expected {expected}")
    distinct("routers", [router.name for router in listed])
    for router in listed:
        router.check_models(models)
    return listed


def _advice(router: Advisor, X: Any, models: list[str]) -> Array:
    try:
        said = router.advise(X)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"router '{router.name}' cannot advise on these rows: {in_one_line(error)}") from error
    # Columns are taken by position, whatever they are called.
    if isinstance(said, pd.DataFrame) and not isinstance(said.columns, pd.RangeIndex):
        found = [text_of(column) for column in said.columns]
        if found != models:
            raise InputError(f"router '{router.name}' advises on {', '.join(found)}, expected {', '.join(models)}")
    return as_array(f"what router '{router.name}' advises", said)


def ask_routers(routers: Sequence[Advisor], X: Any, num_rows: int, models: list[str]) -> Array | None:
    """Return all advice (N, n, k), None where there is nobody to ask."""
    asked = [_advice(router, X, models) for router in routers]
    for router, advice in zip(routers, asked, strict=True):
        if advice.shape != (num_rows, len(models)):
            expected = (num_rows, len(models))
            raise InputError(f"router '{router.name}' gave advice of shape {advice.shape}, expected {expected}")
    return np.stack(asked, axis=1) if asked else None
