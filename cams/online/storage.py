"""A selector as arrays and back. Nothing that comes from a file is believed: every value is checked before use."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.advice import SUM_TOLERANCE, working_dtype
from cams.classes import ABSTAINS, Classes
from cams.errors import InputError
from cams.learners import Learner, Round
from cams.online.decision import Decision, History
from cams.online.ledger import DEAREST, Pending
from cams.online.options import Options, writable

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]

SCHEMA_VERSION = 2

# No stream is longer; beyond it t + 1 would no longer be exact in a double.
_LONGEST = 2**53
# Probabilities are sums of rounded numbers.
_ROUNDING = 1e-9

_ROUND_ARRAYS = ("predictions", "advice", "model", "query_probability", "model_probability", "model_weights")


def read_header(text: str) -> dict[str, Any]:
    """Return the part of a saved selector that is not arrays."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("'selector' is not readable JSON") from None
    if not isinstance(header, dict) or "schema_version" not in header:
        raise InputError("'selector' has no schema_version")
    if header["schema_version"] != SCHEMA_VERSION:
        found = header["schema_version"]
        raise InputError(f"this was written with schema version {found}, this is version {SCHEMA_VERSION}")
    expected = {"schema_version", "options", "spent", "random_state"}
    if set(header) != expected:
        odd = sorted(set(header) ^ expected)[0]
        raise InputError(f"'selector' {'lacks' if odd in expected else 'has an unknown entry'} '{odd}'")
    names = Options.__dataclass_fields__.keys()
    if not isinstance(header["options"], dict) or set(header["options"]) != set(names):
        raise InputError(f"'options' is not made of {', '.join(names)}")
    return header


def constructor_options(options: dict[str, Any], classes: Sequence[Any] | None) -> dict[str, Any]:
    """Return saved options as the keywords that make the same selector; `classes` are those the caller knows."""
    settings = options["settings"]
    if not isinstance(settings, dict) or set(settings) & set(options):
        raise InputError("'settings' is not a table of a learner's settings")
    keywords = {name: value for name, value in options.items() if name != "settings"} | settings
    if options["classes"] is not None or classes is not None:
        named = _same_classes(options["classes"], classes)
        if len(named) != options["num_classes"]:
            raise InputError(f"num_classes is {options['num_classes']!r}, but there are {len(named)} classes")
        keywords |= {"classes": named, "num_classes": None}
    return keywords


def _same_classes(saved: Any, known: Sequence[Any] | None) -> list[Any]:
    """Return saved classes, or those that are `known` already if they are the same."""
    if known is not None:
        named = Classes(known)
        if writable(named) != saved:
            raise InputError(f"this was saved for other classes than {', '.join(map(repr, named[:5]))}")
        return list(named)
    if not isinstance(saved, list) or not all(isinstance(value, str | int | float) for value in saved):
        raise InputError("this has classes that no file can hold, pass `classes` as they were")
    return saved


def restore_random_state(generator: np.random.Generator, state: Any) -> None:
    try:
        generator.bit_generator.state = state
        same = generator.bit_generator.state == state
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError):
        same = False
    # numpy cuts 0.5 to 0 and passes over what it does not know.
    if not same:
        raise InputError("'random_state' is not the state of this library's random numbers")


def read_learner(learner: Learner, arrays: Arrays) -> None:
    """Restore a learner that was just made, after comparing each array with what it would replace."""
    state = {}
    for name, fresh in learner.state().items():
        found = _array(arrays, f"learner.{name}")
        _like(f"learner.{name}", found, fresh.shape, fresh.dtype.kind)
        _in_range(f"learner.{name}", found, 0, _LONGEST if fresh.dtype.kind == "i" else np.inf)
        # IWAL keeps the best model for ever, so that there is always one to ask.
        if fresh.dtype.kind == "b" and not found.any():
            raise InputError(f"learner.{name} is false everywhere, expected at least one that is true")
        state[name] = found
    if state["early_labels"] > state["t"]:
        raise InputError(f"learner.early_labels is {state['early_labels']}, more than the rounds so far")
    learner.restore(state)


def write_pending(pending: dict[int, Pending]) -> dict[str, Array]:
    rounds = [asked.round for asked in pending.values()]
    arrays: dict[str, Array] = {
        "pending.ticket": np.asarray(list(pending), dtype=np.int64),
        "pending.cost": np.asarray([asked.cost for asked in pending.values()], dtype=np.float64),
    }
    if rounds:
        arrays |= {f"pending.{name}": np.stack([getattr(r, name) for r in rounds]) for name in _ROUND_ARRAYS}
        single = np.asarray([r.advice.dtype == np.float32 for r in rounds])
        if single.any() and not single.all():  # a stack has one precision
            arrays["pending.single"] = single
    return arrays


def read_pending(options: Options, rounds: int, arrays: Arrays) -> dict[int, Pending]:
    """Return the labels that were asked for and had not come."""
    tickets, costs = _array(arrays, "pending.ticket"), _array(arrays, "pending.cost")
    _like("pending.ticket", tickets, (tickets.size,), "i")
    _in_range("pending.ticket", tickets, 1, rounds)
    if (np.diff(tickets) <= 0).any():
        raise InputError("pending.ticket does not ascend")
    _like("pending.cost", costs, tickets.shape, "f")
    _in_range("pending.cost", costs, np.nextafter(0, 1), DEAREST)
    if not tickets.size:
        return {}
    stored = {name: _array(arrays, f"pending.{name}") for name in _ROUND_ARRAYS}
    _check_rounds(options, len(tickets), stored)
    all_single = np.full(tickets.shape, working_dtype(stored["advice"].dtype) is np.float32)
    single = arrays.get("pending.single", all_single)
    _like("pending.single", single, tickets.shape, "b")
    pending = {}
    for i, (ticket, cost) in enumerate(zip(tickets.tolist(), costs.tolist(), strict=True)):
        values = {name: array[i] if array[i].ndim else array[i].item() for name, array in stored.items()}
        values["advice"] = values["advice"].astype(np.float32 if single[i] else np.float64)
        pending[ticket] = Pending(Round(query=True, **values), cost)
    return pending


def write_history(history: History, class_number: Callable[[Any], int]) -> dict[str, Array]:
    kept, labels = history.decisions, history.labels
    return {
        "history.model": np.asarray([d.model_index for d in kept], dtype=np.int64),
        "history.prediction": np.asarray([class_number(d.prediction) for d in kept], dtype=np.int64),
        "history.query": np.asarray([d.query for d in kept], dtype=np.bool_),
        "history.query_probability": np.asarray([d.query_probability for d in kept], dtype=np.float64),
        "history.label": np.asarray(
            [class_number(labels[d.ticket]) if d.ticket in labels else -1 for d in kept], dtype=np.int64
        ),
    }


def read_history(history: History, models: list[str], classes: list[Any], rounds: int, arrays: Arrays) -> None:
    """Fill a history with the rounds that came last."""
    count = min(rounds, history.decisions.maxlen or 0)
    expected = {
        "model": ("i", 0, len(models) - 1),
        "prediction": ("i", 0, len(classes) - 1),
        "query": ("b", 0, 1),
        "query_probability": ("f", 0, 1),
        "label": ("i", -1, len(classes) - 1),
    }
    columns = []
    for name, (kind, low, high) in expected.items():
        found = _array(arrays, f"history.{name}")
        _like(f"history.{name}", found, (count,), kind)
        _in_range(f"history.{name}", found, low, high)
        columns.append(found.tolist())
    for ticket, row in enumerate(zip(*columns, strict=True), start=rounds - count + 1):
        model, prediction, query, probability, label = row
        history.add(Decision(models[model], model, classes[prediction], query, probability, ticket))
        if label >= 0:
            history.answer(ticket, classes[label])


def _check_rounds(options: Options, count: int, stored: dict[str, Array]) -> None:
    k, n, least = len(options.models), len(options.policies), np.nextafter(0, 1)
    weights = stored["model_weights"]
    expected: dict[str, tuple[tuple[int, ...], str, float, float]] = {
        "predictions": ((count, k), "i", ABSTAINS, options.num_classes - 1),
        "advice": ((count, n, k), "f", 0, 1 + SUM_TOLERANCE),
        "model": ((count,), "i", 0, k - 1),
        "query_probability": ((count,), "f", least, 1),
        "model_probability": ((count,), "f", least, 1 + _ROUNDING),
        "model_weights": ((count, 0 if weights.shape == (count, 0) else k), "f", 0, 1 + _ROUNDING),
    }
    for name, (shape, kind, low, high) in expected.items():
        _like(f"pending.{name}", stored[name], shape, kind)
        _in_range(f"pending.{name}", stored[name], low, high)
    silent = (stored["predictions"] == ABSTAINS).all(axis=1)
    if silent.any():
        raise InputError(f"pending.predictions[{int(silent.argmax())}] has no answer of any model")
    sums = stored["advice"].sum(axis=2, dtype=np.float64)
    if (np.abs(sums - 1) > SUM_TOLERANCE).any():
        i, p = (int(position) for position in np.argwhere(np.abs(sums - 1) > SUM_TOLERANCE)[0])
        raise InputError(f"pending.advice[{i}, {p}] sums to {sums[i, p]:.4g}, expected 1")


def _array(arrays: Arrays, name: str) -> Array:
    if name not in arrays:
        raise InputError(f"there is no array '{name}'")
    return arrays[name]


def _like(name: str, found: Array, shape: tuple[int, ...], kind: str) -> None:
    if found.shape != shape:
        raise InputError(f"{name} has shape {found.shape}, expected {shape}")
    if found.dtype.kind != kind:
        wanted = {"i": "integers", "f": "real numbers", "b": "truth values"}[kind]
        raise InputError(f"{name} has type {found.dtype}, expected {wanted}")


def _in_range(name: str, found: Array, least: float, most: float) -> None:
    """Refuse what is outside least..most, NaN and infinity; negated, so that NaN fails."""
    outside = ~((found >= least) & (found <= most) & np.isfinite(found))
    if outside.any():
        at = tuple(int(i) for i in np.argwhere(outside)[0])
        place = f"[{', '.join(map(str, at))}]" if at else ""
        raise InputError(f"{name}{place} is {found[at]:g}, expected a number from {least:g} to {most:g}")
