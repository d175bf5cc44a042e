"""Names that are no names, tables whose columns have an order of their own, and models that speak another language."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cams
from cams.compact import Recipe
from cams.tables import take

NAMES = ["a", "b"]


def _selector(**changes: Any) -> cams.Selector:
    return cams.Selector(**{"models": NAMES, "policies": ["p", "q"], "num_classes": 3, "seed": 0, **changes})


def _weights(advice: Any) -> Any:
    selector = _selector(budget=0)
    decided = [selector.step([0, 1], advice).prediction for _ in range(3)]
    return decided, selector.weights


@pytest.mark.parametrize("rows", [[2, 0], slice(1, 3), np.array([1])])
def test_some_rows_of_an_array_are_an_array(rows: Any) -> None:
    table = np.arange(6).reshape(3, 2)
    some = take(table, rows)
    assert isinstance(some, np.ndarray)
    np.testing.assert_array_equal(some, table[rows])


def test_advice_in_a_table_goes_by_its_names() -> None:
    told = np.array([[0.9, 0.1], [0.8, 0.2]])
    table = pd.DataFrame(told, index=["p", "q"], columns=NAMES)
    expected = _weights(told)
    for shown in (table, table[["b", "a"]], table.loc[["q", "p"]], table.loc[["q", "p"], ["b", "a"]]):
        assert str(_weights(shown)) == str(expected)
    assert _weights(pd.DataFrame(told))[0] == expected[0] == [0, 0, 0]


@pytest.mark.parametrize(
    ("columns", "index", "sentence"),
    [
        (["a", "c"], ["p", "q"], "advice lacks 'b'"),
        (["a", "b"], ["p", "r"], "advice lacks 'q'"),
        (["a", "b", "c"], ["p", "q"], "advice has no model 'c'"),
        (["a", "b"], ["p", "q", "r"], "advice has no policy 'r'"),
    ],
)
def test_advice_of_others_is_refused(columns: list[str], index: list[str], sentence: str) -> None:
    table = pd.DataFrame(1 / len(columns), index=index, columns=columns)
    with pytest.raises(cams.InputError) as refused:
        _selector().step([0, 1], table)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ([b"a", "b"], "models[0] is b'a', expected a name"),
        (["a", None], "models[1] is None, expected a name"),
        (["a", float("nan")], "models[1] is nan, expected a name"),
        ([["a"], ["b"]], "models[0] is ['a'], expected a name"),
        (frozenset(["a"]), "models is frozenset({'a'}), expected a list of names"),
    ],
)
def test_what_is_no_name_is_refused(models: Any, sentence: str) -> None:
    with pytest.raises(cams.InputError) as refused:
        _selector(models=models)
    assert str(refused.value) == sentence


def test_numbers_may_be_names() -> None:
    assert _selector(models=[1, np.int64(2)]).models == ["1", "2"]
    assert cams.Bundle(predictions=[[0, 1]], model_names=[1, 2.5]).model_names == ["1", "2.5"]


@pytest.mark.parametrize("labels", [["x", "y"], None])
def test_a_model_that_answers_in_numbers_among_words_is_named(labels: Any) -> None:
    with pytest.raises(cams.InputError) as refused:
        cams.Bundle(predictions={"words": ["x", "y"], "numbers": [1, 2]}, labels=labels)
    assert str(refused.value) == "model 'numbers' answers in numbers and others in words, so they could never agree"


def test_classes_that_are_words_and_numbers_are_both_answered() -> None:
    bundle = cams.Bundle(predictions={"one": [1, "x"], "other": [1, 1]}, labels=[1, "x"])
    assert bundle.classes == [1, "x"]
    silent = cams.Bundle(predictions={"words": ["x", "y"], "silent": [None, None]}, labels=["x", "y"])
    assert silent.predictions.tolist() == [[0, -1], [1, -1]]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"which": "abc"}, "policies are selected by 'abc', expected a list of positions"),
        ({"which": 0}, "policies are selected by 0, expected a list of positions"),
        ({"which": [0.7]}, "a policy's position is 0.7, expected a whole number"),
        ({"which": [-1]}, "there is no policy -1, the bundle has 2"),
        ({"kinds": 5}, "kinds is 5, expected a list of kinds"),
    ],
)
def test_policies_are_selected_by_positions_or_kinds(asked: Any, sentence: str) -> None:
    bundle = cams.Bundle(predictions=[[0, 1]], advice=[[[0.5, 0.5], [1, 0]]])
    with pytest.raises(cams.InputError) as refused:
        bundle.select_policies(**asked)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("policies", ["abc", [1], Recipe("p", "normal", "stored:0")])
def test_a_bundle_is_read_with_recipes_or_not_at_all(policies: Any) -> None:
    compact = Path("results/bundles/vertebral.npz")
    with pytest.raises(cams.InputError, match="expected a list of recipes"):
        cams.Bundle.load(compact, policies=policies)


@pytest.mark.parametrize("label", [None, "", [1], 3])
def test_a_learner_is_called_by_a_word(make_bundle: Any, label: Any) -> None:
    with pytest.raises(cams.InputError) as refused:
        cams.replay(
            make_bundle(rows=5, k=2, n=1, c=2), [{"name": "cams", "label": label}],
            horizon=3, budgets=[1], realizations=1, seed=0,
        )  # fmt: skip
    assert str(refused.value) == f"learner 'cams': label is {label!r}, expected a word"
