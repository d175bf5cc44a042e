"""Classes by their owner's names: the same decisions, in other words."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest

from cams import InputError, Selector

MODELS, T = ["a", "b", "c"], 60
WORDS = ["cat", "dog", "eel"]


def make(**classes) -> Selector:
    return Selector(models=MODELS, policies=["p", "q"], seed=2, learner="cams", **classes)


@pytest.mark.parametrize(
    "names", [WORDS, [30, 10, 20], [0.5, 1.5, 2.5], [False, True, 2], ["1", 1, (1,)], np.array(WORDS)]
)
def test_names_change_nothing_but_the_words(names, make_bundle, tmp_path):
    stream = make_bundle(rows=T, k=3, n=2, c=3)
    numbers, words = make(num_classes=3), make(classes=names)
    listed = words.classes
    for row in range(T):
        expected = numbers.step(stream.predictions[row], stream.advice[row])
        decision = words.step([listed[y] for y in stream.predictions[row]], stream.advice[row])
        assert decision.prediction == listed[expected.prediction]
        assert (decision.model, decision.query) == (expected.model, expected.query)
        if expected.query:
            numbers.label(expected.ticket, int(stream.labels[row]))
            words.label(decision.ticket, listed[stream.labels[row]])
    words.save(tmp_path / "state.npz")
    again = Selector.load(tmp_path / "state.npz", classes=names)
    assert again.classes == listed
    pd.testing.assert_frame_equal(again.history(), words.history())
    assert copy.deepcopy(words).classes == listed


def test_arrays_of_words_and_of_objects_are_understood():
    for votes in (
        np.array(["dog", "cat", "cat"]),
        np.array(["dog", "cat", "cat"], dtype=object),
        ("dog", "cat", "cat"),
    ):
        assert make(classes=WORDS).step(votes, np.full((2, 3), 1 / 3)).prediction in ("dog", "cat")
    table = pd.DataFrame([["dog", "cat", "cat"], ["eel", "eel", "cat"]], columns=MODELS)
    decisions = make(classes=WORDS).step_many(table, np.full((2, 2, 3), 1 / 3))
    assert [d.prediction in WORDS for d in decisions] == [True, True]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.step(["dog", "catt", "cat"], ADVICE), r"^predictions\[1\] is 'catt', expected one of the classes"),
        (lambda s: s.step(["dog", "catt", "cat"], ADVICE), "did you mean 'cat'"),
        (
            lambda s: s.step([0, 1, 2], ADVICE),
            r"^predictions\[0\] is 0, expected one of the classes 'cat', 'dog', 'eel'",
        ),
        (lambda s: s.step(["dog", ["cat"], "cat"], ADVICE), r"^predictions\[1\] is \['cat'\]"),
        (lambda s: s.step("dog", ADVICE), "^predictions is 'dog', expected one class per model"),
        (lambda s: s.step(["dog", "cat"], ADVICE), r"^predictions has shape \(2,\), expected \(3,\)"),
        (lambda s: s.label(1, "horse"), "^label is 'horse', expected one of the classes"),
        (lambda s: s.label(1, 0), "^label is 0, expected one of the classes"),
        (lambda s: make(), "takes either num_classes or classes"),
        (lambda s: make(num_classes=3, classes=WORDS), "takes either num_classes or classes"),
        (lambda s: make(classes="abc"), "classes is 'abc', expected a list of classes"),
        (lambda s: make(classes=[]), "classes is empty"),
        (lambda s: make(classes=["a", "b", "a"]), "classes has 'a' twice"),
        (lambda s: make(classes=["a", None]), "classes has a missing value"),
        (lambda s: make(classes=["a", float("nan")]), "classes has a missing value"),
        (lambda s: make(classes=["a", ["b"]]), "classes has a value that cannot be a class"),
    ],
)
def test_classes_never_seen_are_refused(call, message):
    selector = make(classes=WORDS)
    selector.step(["dog", "cat", "cat"], ADVICE)
    with pytest.raises(InputError, match=message):
        call(selector)
    assert selector.rounds == 1


def test_saved_for_other_classes(tmp_path):
    path = tmp_path / "state.npz"
    make(classes=WORDS).save(path)
    assert Selector.load(path).classes == WORDS
    with pytest.raises(InputError, match="saved for other classes"):
        Selector.load(path, classes=["cat", "dog", "eels"])
    make(classes=[("x", 1), ("y", 2)]).save(path)
    with pytest.raises(InputError, match="classes that no file can hold"):
        Selector.load(path)
    make(num_classes=3).save(path)
    with pytest.raises(InputError, match="saved for other classes"):
        Selector.load(path, classes=WORDS)


ADVICE = np.full((2, 3), 1 / 3)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([np.nan, -1.0, 2.0], r"predictions\[1\] is -1.0, expected a class in 0..2"),
        ([np.nan, np.nan, np.nan], "no answer at all"),
        ([np.nan, 1e300, 0.0], r"predictions\[1\] is 1e\+300"),
        ([0.0, np.inf, 0.0], r"predictions\[1\] is inf"),
    ],
)
def test_only_missing_values_abstain(predictions, message):
    selector = Selector(models=["a", "b", "c"], num_classes=3)
    with pytest.raises(InputError, match=message):
        selector.step(np.array(predictions))
    assert selector.step(np.array([np.nan, 1.0, np.nan])).model == "b"
