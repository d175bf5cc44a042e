"""Instances in every form they may come in, the precision that is kept of them, and the place of what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from cams import Bundle, InputError, Selector, make_learner
from cams.randomness import uniforms

MODELS = ["a", "b", "c"]
EVEN = [[1 / 3, 1 / 3, 1 / 3]]
WORDS = ["cat", "dog", "eel"]


def make(**options) -> Selector:
    named = {} if "classes" in options else {"num_classes": 3}
    return Selector(**{"models": MODELS, "policies": ["p"], "learner": "hedge", **named, **options})


def kept(advice: Any) -> np.ndarray:
    """Return advice as it waits for a label: hedge asks for each."""
    selector = Selector(models=["a", "b"], policies=["p"], num_classes=2, learner="hedge")
    return selector._ledger.pending[selector.step([0, 1], advice).ticket].round.advice


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble])
def test_advice_in_double_precision_is_divided_by_its_sum_and_kept_so(dtype):
    given = np.array([[0.25, 0.75 + 1e-10]], dtype=dtype)
    waiting = kept(given)
    assert waiting.dtype == np.float64
    np.testing.assert_allclose(waiting, [[0.25 / (1 + 1e-10), (0.75 + 1e-10) / (1 + 1e-10)]], rtol=1e-15, atol=0)
    third = 1 / 3  # no single-precision number
    assert kept([[third, 1 - third]]).tolist() == [[third, 1 - third]]


@pytest.mark.parametrize(
    "given",
    [
        np.array([[0.1, 0.9]], dtype=np.float32),
        # Two units in the last place too much: rounding of single precision, not of double.
        np.array([[0.5, 0.5 + 2.0**-23]], dtype=np.float32),
        np.array([[0.25, 0.75]], dtype=np.float16),
        np.array([[0, 1]], dtype=np.int64),
        np.array([[0, 1]], dtype=np.uint8),
    ],
)
def test_advice_in_lower_precision_is_kept_as_it_came_in_half_the_memory(given):
    waiting = kept(given)
    assert waiting.dtype == np.float32
    assert waiting.tolist() == given.tolist()


def test_what_was_divided_is_rounded_as_in_a_bundle():
    given = np.array([[0.5, 0.501]], dtype=np.float32)
    waiting = kept(given)
    assert waiting.dtype == np.float32
    assert waiting.tolist() == Bundle(predictions=[[0, 1]], advice=given[None]).advice[0].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("learner", ["cams_nonactive", "cqbc"])
def test_late_labels_are_learnt_in_the_precision_of_a_replay(learner, dtype):
    """Eighths are the same in single precision as in double; what regularising makes of them is not."""
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 3, (20, 3))
    advice = (rng.multinomial(8, [0.2, 0.3, 0.5], (20, 1)) / 8).astype(dtype)
    selector = make(learner=learner, regularize=True)
    selector.step_many(votes, advice)
    twin = make_learner(learner, num_models=3, num_policies=1, num_classes=3, regularize=True)
    rounds = [twin.decide(vote, pi, draws) for vote, pi, draws in zip(votes, advice, uniforms(0, 0, 20), strict=True)]
    assert selector.pending == [t for t, decided in enumerate(rounds, start=1) if decided.query] != []
    for ticket in selector.pending:
        twin.learn(rounds[ticket - 1], 0)
        selector.label(ticket, 0)
    for name, value in twin.state().items():
        np.testing.assert_allclose(selector._learner.state()[name], value, rtol=1e-13, err_msg=name)


def test_a_late_label_finds_the_weights_of_its_own_round():
    """Policy p and the two models weigh a third each: p trusts a first, so that a has 2/3, and b on the next round."""
    options = {"models": ["a", "b"], "policies": ["p"], "num_classes": 2, "horizon": 9, "floor": 9.0, "rho": "label"}
    selector = Selector(learner="cams_adversarial", **options)
    first = selector.step([0, 1], [[1, 0]]).ticket
    selector.step([0, 1], [[0, 1]])
    selector.label(first, 0)
    assert selector._learner.state()["largest_mass"] == pytest.approx(2 / 3)


def test_a_batch_may_be_of_tuples_or_an_unnamed_table():
    votes = [[0, 1, 2], [2, 1, 1]]
    expected = make().step_many(votes, [EVEN] * 2)
    assert make().step_many(tuple(map(tuple, votes)), [EVEN] * 2) == expected
    assert make().step_many(pd.DataFrame(votes), [EVEN] * 2) == expected
    assert make(policies=[]).step_many(votes) == make(policies=[]).step_many(votes, np.empty((2, 0, 3)))
    assert make().step_many([], np.empty((0, 1, 3))) == []


def test_a_word_may_stand_for_no_answer():
    selector = make(classes=WORDS, abstain="?")
    assert selector.step(["?", "cat", "?"], EVEN).model == "b"
    assert selector.step(np.array(["?", "?", "dog"]), EVEN).model == "c"
    assert make(abstain="?").step([0, "?", None], EVEN).model == "a"


MASKED = np.ma.array([0, 1, 2], mask=[False, True, False])
HOLES = "predictions has masked entries, expected a value in each"
RAGGED = "is not an array: its rows differ in length or it holds no numbers"
CLASSES = "expected one of the classes 'cat', 'dog', 'eel'"


@pytest.mark.parametrize(
    ("options", "predictions", "advice", "sentence"),
    [
        ({}, [0, [1], 2], EVEN, f"predictions {RAGGED}"),
        ({}, [0, 1, 2], [[1, 0], [1]], f"advice {RAGGED}"),
        ({}, MASKED, EVEN, HOLES),
        ({}, [0, 1, 2], np.ma.array(EVEN, mask=[[0, 1, 0]]), "advice has masked entries, expected a value in each"),
        ({}, {"a": 0, "b": 1}, EVEN, "predictions lacks 'c'"),
        ({}, [0, 3, 1], EVEN, "predictions[1] is 3, expected a class in 0..2"),
        ({}, [0, 3.0, 1], EVEN, "predictions[1] is 3.0, expected a class in 0..2"),
        ({}, [None, 3.0, 1], EVEN, "predictions[1] is 3.0, expected a class in 0..2"),
        ({}, np.array([np.nan, 3, 1]), EVEN, "predictions[1] is 3.0, expected a class in 0..2"),
        ({"abstain": -1}, np.array([-1, 3, 1]), EVEN, "predictions[1] is 3, expected a class in 0..2"),
        ({"policies": []}, [0, 1, 2], EVEN, "advice has shape (1, 3), expected (0, 3), one row per policy"),
        ({}, [0, 1, 2], None, "advice has shape (0,), expected (1, 3), one row per policy"),
        ({"classes": WORDS}, None, EVEN, "predictions is None, expected one class per model"),
    ],
)
def test_an_instance_is_refused_in_one_sentence(options, predictions, advice, sentence):
    selector = make(**options)
    with pytest.raises(InputError) as error:
        selector.step(predictions, advice)
    assert str(error.value) == sentence
    assert selector.rounds == 0


@pytest.mark.parametrize(
    ("options", "predictions", "advice", "sentence"),
    [
        ({}, [dict.fromkeys("abc", 0), {"a": 0, "b": 1}], [EVEN] * 2, "predictions[1] lacks 'c'"),
        ({}, [dict.fromkeys("abcd", 0)] * 2, [EVEN] * 2, "predictions[0] has no model 'd'"),
        ({}, [[0, 1, 2], [0, 1]], [EVEN] * 2, "predictions[1] has shape (2,), expected (3,), one label per model"),
        ({}, [[0, 1, 2], [0, 1, None], [0, 0.5, 1]], [EVEN] * 3, "predictions[2, 1] is 0.5, expected a class in 0..2"),
        ({}, [[0, 1, 2], [0, 0, 9]], [EVEN] * 2, "predictions[1, 2] is 9, expected a class in 0..2"),
        ({"classes": WORDS}, [WORDS, ["cat", "cat", 7]], [EVEN] * 2, f"predictions[1, 2] is 7, {CLASSES}"),
        ({}, ([0, 1, 2], [0, 1]), [EVEN] * 2, "predictions[1] has shape (2,), expected (3,), one label per model"),
        ({}, np.ma.array([[0, 1, 2]], mask=[[0, 1, 0]]), [EVEN], HOLES),
        ({}, [[0, 1, 2]] * 2, [EVEN, [1, 0]], f"advice {RAGGED}"),
        ({}, [[0, 1, 2]] * 2, [EVEN] * 3, "advice has 3 instances, expected 2 as in predictions"),
        (
            {},
            [[0, 1, 2]] * 2,
            [EVEN, [[0.5, 0.6, -0.1]]],
            "advice[1, 0, 2] is -0.1, expected a probability (policy 'p')",
        ),
        ({}, [[0, 1, 2]] * 2, [EVEN, [[0.5, 0.5, 0.5]]], "advice[1, 0] sums to 1.5, expected 1 (policy 'p')"),
        (
            {},
            [[0, 1, 2]] * 2,
            [pd.DataFrame(EVEN, columns=MODELS), pd.DataFrame(EVEN, columns=["a", "b", "d"])],
            "advice[1] lacks 'c'",
        ),
        ({}, [[0, 1, 2]] * 2, [EVEN, [{"a": 0.5, "b": 0.5, "d": 0}]], "advice[1][0] lacks 'c'"),
        ({"policies": []}, [[0, 1, 2]], [EVEN], "advice[0] has shape (1, 3), expected (0, 3), one row per policy"),
    ],
)
def test_the_sentence_says_where_in_a_batch(options, predictions, advice, sentence):
    selector = make(**options)
    with pytest.raises(InputError) as error:
        selector.step_many(predictions, advice)
    assert str(error.value) == sentence
    assert selector.rounds == 0


@pytest.mark.filterwarnings("error")
def test_nothing_but_the_sentence_is_said_of_numbers_that_are_missing_or_huge():
    assert make().step(np.array([np.nan, 1.0, np.nan]), EVEN).model == "b"
    with pytest.raises(InputError, match=r"^advice\[0\] sums to inf, expected 1 "):
        make().step([0, 1, 2], [[1.5e308, 1.5e308, 0]])


@pytest.mark.parametrize("options", [{"abstain": -1}, {"classes": [0, 1, 2]}, {"classes": WORDS}])
def test_what_lies_under_a_mask_is_no_vote(options):
    given = MASKED if options.get("classes") != WORDS else np.ma.array(WORDS, mask=MASKED.mask)
    with pytest.raises(InputError, match=f"^{HOLES}$"):
        make(**options).step(given, EVEN)


def test_one_number_is_no_advice():
    with pytest.raises(InputError) as error:
        make().step_many([[0, 1, 2]], 3)  # type: ignore[arg-type]
    assert str(error.value) == "advice[0] has shape (), expected (1, 3), one row per policy"
