"""What `load` brings back, at the edges too, and for whom it will not."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cams import InputError, Selector

MODELS, POLICIES = ["a", "b", "c"], ["p", "q"]
EVEN = np.full((2, 3), 1 / 3)


def make(learner: str = "hedge", **options) -> Selector:
    return Selector(**{"models": MODELS, "policies": POLICIES, "num_classes": 3, "learner": learner, **options})


def again(selector: Selector, path: Path) -> Selector:
    selector.save(path / "state.npz")
    return Selector.load(path / "state.npz")


@pytest.mark.parametrize("limit", [1000, 3, 1])
def test_every_decision_and_every_label_comes_back(limit, tmp_path):
    selector = make(history=limit, seed=3)
    for label in (0, 1, None, 2, 0):
        ticket = selector.step([0, 1, 2], EVEN).ticket
        if label is not None:
            selector.label(ticket, label)
    read, kept = again(selector, tmp_path)._history, selector._history
    assert list(read.decisions) == list(kept.decisions)
    assert read.labels == kept.labels
    assert {5: 0}.items() <= read.labels.items()


def test_who_keeps_no_history_goes_on_without(tmp_path):
    selector = make(history=0)
    selector.step_many([[0, 1, 2]] * 3, [EVEN] * 3)
    read = again(selector, tmp_path)
    assert (read.rounds, read.pending) == (3, [1, 2, 3])
    assert read.history().empty


def test_a_policy_may_trust_one_model_alone(tmp_path):
    """All the advice and all the weight is on the last model: each number of a pending round is at its end."""
    selector = make("cams_conventional", floor=9.0, cost=0.25)
    last = np.array([[0, 0, 1], [0, 0, 1]])
    assert selector.step([0, 1, 2], last).model == "c"
    read = again(selector, tmp_path)
    asked = read._ledger.pending[1]
    assert (asked.cost, asked.round.model, asked.round.query) == (0.25, 2, True)
    assert asked.round.model_weights.tolist() == [0, 0, 1]
    assert asked.round.advice.tolist() == last.tolist()
    read.label(1, 2)
    assert read._learner.state()["L"].tolist() == [0, 0]


@pytest.mark.parametrize("kinds", [["f4"] * 4, ["f8"] * 4, ["f8", "f4", "f4", "f8"]])
def test_labels_are_learnt_in_the_precision_in_which_advice_came(kinds, tmp_path):
    advice = np.random.default_rng(0).dirichlet(np.ones(3), (4, 2)).astype("f4")
    selector = make("cams_nonactive", regularize=True)
    for given, kind in zip(advice, kinds, strict=True):
        selector.step([0, 1, 2], given.astype(kind))
    read = again(selector, tmp_path)
    for one in (selector, read):
        one.label(2, 1)
        one.label(4, 0)
    assert read._learner.state()["L"].tolist() == selector._learner.state()["L"].tolist()


def test_losses_have_no_largest(tmp_path):
    # A label that came at a probability of 1e-20 weighs 1e20.
    selector = make()
    state = selector._learner.state() | {"L": np.array([0, 1e20, 0])}
    selector._learner.restore(state)
    assert again(selector, tmp_path)._learner.state()["L"].tolist() == [0, 1e20, 0]


def refusal(path: Path, **wanted: Any) -> str:
    with pytest.raises(InputError) as error:
        Selector.load(path, **wanted)
    return str(error.value).removeprefix(f"{path}: ")


def test_states_of_other_models_and_policies_are_refused(tmp_path):
    path = tmp_path / "state.npz"
    make().save(path)
    assert Selector.load(path, models=np.array(MODELS), policies=tuple(POLICIES)).models == MODELS
    assert refusal(path, models=["x", "b", "c"]) == "this was saved for models ['a', 'b', 'c'], not for ['x', 'b', 'c']"
    assert refusal(path, policies=["q", "p"]) == "this was saved for policies ['p', 'q'], not for ['q', 'p']"
    assert refusal(path, policies=[]) == "this was saved for policies ['p', 'q'], not for []"


def test_states_of_other_classes_are_refused(tmp_path):
    path = tmp_path / "state.npz"
    words = ["cat", "dog", "eel", "fox", "gnu", "hen"]
    make(num_classes=None, classes=words).save(path)
    others = "this was saved for other classes than "
    assert refusal(path, classes=["cat", "dog", "eels"]) == others + "'cat', 'dog', 'eels'"
    assert refusal(path, classes=words[::-1]) == others + "'hen', 'gnu', 'fox', 'eel', 'dog'"


def test_of_classes_that_no_file_can_hold_there_is_how_they_look(tmp_path):
    path = tmp_path / "state.npz"
    selector = make(num_classes=None, classes=["x", 1, ("y", 2)])
    selector.save(path)
    # Files are read by later versions, so this is for good.
    header = json.loads(str(selector._arrays()["selector"]))
    assert header["options"]["classes"] == ["x", 1, {"looks like": "('y', 2)"}]
    assert Selector.load(path, classes=["x", 1, ("y", 2)]).classes == ["x", 1, ("y", 2)]
    assert refusal(path, classes=["x", 1, ("y", 3)]) == "this was saved for other classes than 'x', 1, ('y', 3)"


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"models": 3}, "models is 3, expected a list of names"),
        ({"models": "abc"}, "models is 'abc', expected a list of names"),
        ({"policies": "pq"}, "policies is 'pq', expected a list of names"),
        ({"classes": 3}, "classes is 3, expected a list of classes"),
        ({"classes": np.array(["x", "y"])}, "this was saved for other classes than 'x', 'y'"),
        ({"classes": {"x": 1}}, "this was saved for other classes than 'x'"),
    ],
)
def test_whom_a_state_is_for_is_told_as_lists(wanted, sentence, tmp_path):
    path = tmp_path / "state.npz"
    make(num_classes=None, classes=["x", "z"]).save(path)
    assert refusal(path, **wanted) == sentence


class Noted(Selector):
    def __init__(self, note):
        super().__init__(models=MODELS, policies=POLICIES, num_classes=3, learner="hedge")
        self.note = note


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_copy_keeps_what_somebody_else_wrote_on_it(copied):
    selector = Noted("of the first shop")
    selector.opened = [2020]
    selector.step([0, 1, 2], EVEN)
    other = copied(selector)
    assert (type(other), other.note, other.opened) == (Noted, "of the first shop", [2020])
    assert other.step([0, 1, 2], EVEN) == selector.step([0, 1, 2], EVEN)
    other.label(2, 0)
    assert (selector.pending, other.pending) == ([1, 2], [1])
