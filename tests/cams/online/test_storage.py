"""A saved selector that somebody or something has touched: one sentence that names the file and the thing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cams import InputError, Selector
from cams.archive import read_archive, write_archive
from tests.fuzzing import examples

Arrays = dict[str, np.ndarray]


def state(learner: str = "iwal") -> Arrays:
    """Return a selector's arrays after some rounds, with labels pending."""
    rng = np.random.default_rng(0)
    selector = Selector(models=["a", "b", "c"], policies=["p"], num_classes=3, budget=9, learner=learner)
    for _ in range(12):
        decision = selector.step(rng.integers(0, 3, 3), rng.dirichlet(np.ones(3), 1))
        if decision.query and decision.ticket % 2:
            selector.label(decision.ticket, 0)
    assert selector.pending
    return selector._arrays()


def edit(name: str, change: Callable[[Any], Any]) -> Callable[[Arrays], None]:
    def apply(arrays: Arrays) -> None:
        arrays[name] = np.asarray(change(arrays[name].copy()))

    return apply


def header(change: Callable[[dict], Any]) -> Callable[[Arrays], None]:
    def apply(arrays: Arrays) -> None:
        parsed = json.loads(str(arrays["selector"]))
        changed = change(parsed)
        arrays["selector"] = np.asarray(json.dumps(parsed if changed is None else changed))

    return apply


def put(name: str, position: Any, value: Any) -> Callable[[Arrays], None]:
    def change(array: np.ndarray) -> np.ndarray:
        array[position] = value
        return array

    return edit(name, change)


# The smallest double that is not 0.
LEAST = "4.94066e-324"
OPTIONS = (
    "'options' is not made of models, policies, num_classes, classes, abstain, budget, cost, learner, horizon, "
    "regularize, scaled, history, settings"
)
OF_OTHERS = "this has classes that no file can hold, pass `classes` as they were"
JUNK_STATE = "'random_state' is not the state of this library's random numbers"
NO_TABLE = "'settings' is not a table of a learner's settings"

TAMPERED = [
    (header(lambda h: h.update(spent=[-100, 1])), "spent is -100/1, expected a sum of costs"),
    (header(lambda h: h.update(spent=[100, 1])), "spent and pending costs are 103, more than the budget"),
    (header(lambda h: h.update(spent=[10**400, 1])), "spent and pending costs are 1.00000e+400, more than the budget"),
    (header(lambda h: h.update(spent=3.5)), "spent is 3.5, expected a numerator and a denominator"),
    (header(lambda h: h.update(spent=[1, 3])), "spent is 1/3, expected a sum of costs"),
    (header(lambda h: h.update(random_state={"state": 3})), JUNK_STATE),
    (header(lambda h: h.update(random_state=7)), JUNK_STATE),
    (header(lambda h: h["random_state"].update(has_uint32=0.5)), JUNK_STATE),
    (header(lambda h: h["random_state"].update(colour="red")), JUNK_STATE),
    (header(lambda h: h.pop("spent") and None), "'selector' lacks 'spent'"),
    (header(lambda h: h.update(colour="red")), "'selector' has an unknown entry 'colour'"),
    (header(lambda h: h.update(schema_version=1)), "this was written with schema version 1, this is version 2"),
    (header(lambda h: h.pop("schema_version") and None), "'selector' has no schema_version"),
    (header(lambda h: [1, 2]), "'selector' has no schema_version"),
    (header(lambda h: "schema_version"), "'selector' has no schema_version"),
    (header(lambda h: h.update(options=[])), OPTIONS),
    (header(lambda h: h["options"].pop("cost") and None), OPTIONS),
    (header(lambda h: h["options"].update(colour="red")), OPTIONS),
    (header(lambda h: h["options"].update(horizon=-5)), "horizon is -5, expected a whole number of at least 1"),
    (header(lambda h: h["options"].update(models="abc")), "models is 'abc', expected a list of names"),
    (header(lambda h: h["options"].update(settings={"budget": 3})), NO_TABLE),
    (header(lambda h: h["options"].update(settings=[])), NO_TABLE),
    (header(lambda h: h["options"].update(settings={"delta": "x"})), "learner 'iwal': delta is 'x', expected a number"),
    (edit("selector", lambda _: "{junk"), "'selector' is not readable JSON"),
    (edit("selector", lambda _: "[" * 100_000), "'selector' is not readable JSON"),
    (put("pending.cost", 0, np.nan), f"pending.cost[0] is nan, expected a number from {LEAST} to 1e+100"),
    (put("pending.cost", 0, -1), f"pending.cost[0] is -1, expected a number from {LEAST} to 1e+100"),
    (put("pending.cost", 1, 0), f"pending.cost[1] is 0, expected a number from {LEAST} to 1e+100"),
    (edit("pending.cost", lambda a: a.astype(int)), "pending.cost has type int64, expected real numbers"),
    (edit("pending.cost", lambda a: a[1:]), "pending.cost has shape (2,), expected (3,)"),
    (put("pending.predictions", (0, 1), 77), "pending.predictions[0, 1] is 77, expected a number from -1 to 2"),
    (put("pending.predictions", (2, 0), 3), "pending.predictions[2, 0] is 3, expected a number from -1 to 2"),
    (put("pending.predictions", (2, 0), -2), "pending.predictions[2, 0] is -2, expected a number from -1 to 2"),
    (put("pending.predictions", 1, -1), "pending.predictions[1] has no answer of any model"),
    (put("pending.ticket", 0, 0), "pending.ticket[0] is 0, expected a number from 1 to 12"),
    (put("pending.ticket", -1, 99), "pending.ticket[2] is 99, expected a number from 1 to 12"),
    (put("pending.ticket", 1, 2), "pending.ticket does not ascend"),
    (edit("pending.ticket", lambda a: a.astype(float)), "pending.ticket has type float64, expected integers"),
    (put("pending.advice", (0, 0, 0), 0.9), "pending.advice[0, 0] sums to 1.741, expected 1"),
    (put("pending.advice", (1, 0), 0.25), "pending.advice[1, 0] sums to 0.75, expected 1"),
    (put("pending.advice", (0, 0, 0), 1.5), "pending.advice[0, 0, 0] is 1.5, expected a number from 0 to 1.01"),
    (put("pending.advice", (0, 0, 0), np.inf), "pending.advice[0, 0, 0] is inf, expected a number from 0 to 1.01"),
    (edit("pending.advice", lambda a: a[:, :, 1:]), "pending.advice has shape (3, 1, 2), expected (3, 1, 3)"),
    (put("pending.model", 0, 3), "pending.model[0] is 3, expected a number from 0 to 2"),
    (put("pending.query_probability", 0, 0), f"pending.query_probability[0] is 0, expected a number from {LEAST} to 1"),
    (
        put("pending.query_probability", 0, 1.5),
        f"pending.query_probability[0] is 1.5, expected a number from {LEAST} to 1",
    ),
    (
        put("pending.model_probability", 2, 1.5),
        f"pending.model_probability[2] is 1.5, expected a number from {LEAST} to 1",
    ),
    (
        edit("pending.model_weights", lambda a: np.zeros((len(a), 2))),
        "pending.model_weights has shape (3, 2), expected (3, 3)",
    ),
    (
        edit("pending.model_weights", lambda a: np.diag([1, 1.5, 1])),
        "pending.model_weights[1, 1] is 1.5, expected a number from 0 to 1",
    ),
    (edit("learner.errors", lambda a: a[1:]), "learner.errors has shape (2,), expected (3,)"),
    (put("learner.errors", 0, np.nan), "learner.errors[0] is nan, expected a number from 0 to inf"),
    (edit("learner.errors", lambda a: a.astype(str)), "learner.errors has type <U32, expected real numbers"),
    (edit("learner.alive", np.zeros_like), "learner.alive is false everywhere, expected at least one that is true"),
    (edit("learner.alive", lambda a: a.astype(int)), "learner.alive has type int64, expected truth values"),
    (edit("learner.t", lambda _: -1), "learner.t is -1, expected a number from 0 to 9.0072e+15"),
    (edit("learner.t", lambda _: 2**60), "learner.t is 1.15292e+18, expected a number from 0 to 9.0072e+15"),
    (edit("learner.t", lambda _: 3), "pending.ticket[1] is 8, expected a number from 1 to 3"),
    (edit("learner.early_labels", lambda _: 50), "learner.early_labels is 50, more than the rounds so far"),
    (put("history.model", 0, 3), "history.model[0] is 3, expected a number from 0 to 2"),
    (put("history.prediction", 4, 3), "history.prediction[4] is 3, expected a number from 0 to 2"),
    (put("history.query_probability", 4, 1.5), "history.query_probability[4] is 1.5, expected a number from 0 to 1"),
    (put("history.label", 0, 3), "history.label[0] is 3, expected a number from -1 to 2"),
    (put("history.label", 0, -2), "history.label[0] is -2, expected a number from -1 to 2"),
    (edit("history.query", lambda a: a[1:]), "history.query has shape (11,), expected (12,)"),
    (edit("history.query", lambda a: a.astype(int)), "history.query has type int64, expected truth values"),
    (header(lambda h: h["options"].update(classes=["x"])), "num_classes is 3, but there are 1 classes"),
    (
        header(lambda h: h["options"].update(classes=["x"], num_classes=1)),
        "pending.predictions[0, 1] is 1, expected a number from -1 to 0",
    ),
    (header(lambda h: h["options"].update(classes={"x": 1})), OF_OTHERS),
    (header(lambda h: h["options"].update(classes=["x", {"looks like": "('y',)"}])), OF_OTHERS),
    (lambda arrays: arrays.pop("learner.errors"), "there is no array 'learner.errors'"),
    (lambda arrays: arrays.pop("pending.model"), "there is no array 'pending.model'"),
    (lambda arrays: arrays.update({"pending.single": np.ones(2) > 0}), "pending.single has shape (2,), expected (3,)"),
    (lambda arrays: arrays.pop("selector"), "this is not a saved selector"),
]


@pytest.mark.parametrize(("tamper", "sentence"), TAMPERED)
def test_a_state_that_was_tampered_with_is_refused(tamper, sentence, tmp_path):
    arrays, path = state(), tmp_path / "state.npz"
    tamper(arrays)
    write_archive(path, arrays)
    with pytest.raises(InputError) as error:
        Selector.load(path)
    assert str(error.value) == f"{path}: {sentence}"


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "state.npz"
    write_archive(path, state("ciwal"))
    return path


def goes_on_or_says_why_not(path: Path, expected: Arrays) -> None:
    """Load a state, find in it what is expected and use it, unless loading refuses it by name."""
    try:
        selector = Selector.load(path)
    except InputError as error:
        if str(path) not in str(error):
            raise
        return
    found = selector._arrays()
    written, again = json.loads(str(expected["selector"])), json.loads(str(found.pop("selector")))
    if written["options"]["budget"] is not None:
        # Kept as a double, which not every whole number is.
        written["options"]["budget"] = float(written["options"]["budget"])
    written["options"]["cost"] = float(written["options"]["cost"])
    for names in ("models", "policies"):
        # As wherever names are given, a number stands for its digits.
        written["options"][names] = [str(name) for name in written["options"][names]]
    assert again == written
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    # An edit may have given the classes other names.
    name = selector.classes[0]
    for ticket in selector.pending:
        selector.label(ticket, name)
    selector.step([name] * len(selector.models), np.full((len(selector.policies), 3), 1 / 3))


@examples(150)
@given(data=st.data())
def test_fuzz_damaged_files(data, saved, tmp_path):
    """Bit flips and cuts: the state is refused, or goes on."""
    content = bytearray(saved.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path / "damaged.npz"
    path.write_bytes(content)
    goes_on_or_says_why_not(path, read_archive(saved))


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=3), st.lists(st.integers())
)


@examples(150)
@given(data=st.data())
def test_fuzz_edited_headers(data, saved, tmp_path):
    """Any value anywhere in the header: it is refused, or makes a selector that works."""
    arrays = state("ciwal")
    parsed = json.loads(str(arrays["selector"]))
    inner = data.draw(
        st.sampled_from([parsed, parsed["options"], parsed["random_state"], parsed["random_state"]["state"]])
    )
    inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(JUNK)
    arrays["selector"] = np.asarray(json.dumps(parsed))
    path = tmp_path / "edited.npz"
    write_archive(path, arrays)
    goes_on_or_says_why_not(path, arrays)
