"""Classes that are not 0..c-1: there and back, missing values, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import cams
from cams.classes import ABSTAINS, Classes, learn_classes


def test_classes_go_to_numbers_and_back():
    classes = Classes(["cat", "dog", "cow"])
    values = np.array([["dog", "cat"], ["cow", "dog"]])
    assert classes.numbers(values, "predictions").tolist() == [[1, 0], [2, 1]]
    assert [classes[i] for i in (1, 0)] == ["dog", "cat"]
    assert classes.number("cow") == 2


def test_equal_numbers_are_one_class_whatever_their_type():
    classes = Classes([10, 20])
    for value in (20, 20.0, np.int64(20), np.float32(20)):
        assert classes.number(value) == 1
    assert classes.numbers(np.array([20.0, 10.0]), "labels").tolist() == [1, 0]


def test_one_of_numpys_dates_is_the_class_that_it_names():
    dates = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")
    assert [Classes(dates).number(date) for date in (dates[1], pd.Timestamp("2020-01-01"))] == [1, 0]


def test_one_of_numpys_spans_is_the_class_that_it_names():
    spans = np.array([1, 2], dtype="timedelta64[ns]")
    assert [Classes(spans).number(span) for span in (spans[1], pd.Timedelta(1, "ns"))] == [1, 0]
    assert list(learn_classes(spans)) == [pd.Timedelta(1, "ns"), pd.Timedelta(2, "ns")]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_value_abstains(missing):
    values = np.array(["dog", missing], dtype=object)
    assert Classes(["cat", "dog"]).numbers(values, "predictions").tolist() == [1, ABSTAINS]


def test_classes_are_learnt_in_sorted_order_where_there_is_one():
    assert list(learn_classes(["b", None], ["a", "b"])) == ["a", "b"]
    assert list(learn_classes(["x", 3], [1])) == ["x", 3, 1]


def test_a_word_and_a_number_that_looks_like_it_are_two_classes():
    classes = Classes([1, "1"])
    assert classes.numbers([1, "1"], "labels").tolist() == [0, 1]
    assert classes.numbers(np.array(["1"]), "labels").tolist() == [1]
    assert classes.numbers(np.array([1]), "labels").tolist() == [0]


def test_one_value_is_an_array_of_none():
    assert Classes(["cat", "dog"]).numbers("dog", "labels") == 1
    assert Classes(["cat", "dog"]).numbers("dog", "labels").shape == ()


def test_no_values_have_no_numbers():
    none = Classes(["cat", "dog"]).numbers(np.empty((0, 3)), "labels")
    assert (none.shape, none.dtype) == ((0, 3), np.int64)


def test_classes_come_back_as_plain_python():
    assert [type(value) for value in learn_classes(np.array([3, 1]))] == [int, int]
    assert [type(value) for value in learn_classes([np.int64(3), np.str_("a")])] == [int, str]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_what_is_missing_is_no_class(missing):
    assert list(learn_classes(["b", missing, "a"])) == ["a", "b"]
    named = cams.Bundle(predictions={"m": ["b", missing], 7: ["b", "a"]}, labels=["b", "a"])
    rows = cams.Bundle(predictions=[["b", "b"], [missing, "a"]], labels=["b", "a"])
    for bundle in (named, rows):
        assert bundle.classes == ["a", "b"]
        assert bundle.predictions.tolist() == [[1, 1], [ABSTAINS, 0]]
    assert named.model_names == ["m", "7"]


def test_numbers_beside_words_stay_numbers():
    bundle = cams.Bundle(predictions=[["a", -1], ["b", "a"]], labels=["a", "b"], abstain=-1)
    assert (bundle.classes, bundle.predictions.tolist()) == (["a", "b"], [[0, ABSTAINS], [1, 0]])
    silent = cams.Bundle(predictions={"m": [np.nan, np.nan], "n": ["a", "b"]}, labels=["a", "b"])
    assert (silent.classes, silent.predictions.tolist()) == (["a", "b"], [[ABSTAINS, 0], [ABSTAINS, 1]])


BAD_INPUT = {
    "word": (lambda: Classes("abc"), "classes is 'abc', expected a list"),
    "empty": (lambda: Classes([]), "^classes is empty, expected at least one$"),
    "twice": (lambda: Classes(["a", "b", "b"]), "classes has 'b' twice"),
    "missing": (
        lambda: Classes(["a", None]),
        r"^classes has a missing value \(None or NaN\), which stands for a model without an answer$",
    ),
    "no column": (
        lambda: cams.Bundle(predictions={}, labels=["a"]),
        "^predictions has no column, expected one for each model$",
    ),
    "numbers for labels": (
        lambda: cams.Bundle(predictions=[["a"], ["b"]], labels=[0, 1]),
        "^labels are numbers and predictions are not, so nobody could be right$",
    ),
    "unhashable": (lambda: Classes([["a"]]), "cannot be a class"),
    "a list of one": (
        lambda: Classes([0, 1]).number(np.array([1])),
        r"^label is array\(\[1\]\), expected one of the classes 0, 1$",
    ),
    "unknown": (lambda: Classes(["cat", "dog"]).number("dgo"), "label is 'dgo', expected one of .* did you mean 'dog'"),
    "place": (
        lambda: Classes(["cat"]).numbers(np.array([["cat", "cow"]]), "predictions"),
        r"predictions\[0, 1\] is 'cow', expected one of the classes 'cat'",
    ),
    "unhashable among answers": (
        lambda: Classes(["cat", "dog"]).numbers([["cat", {}]], "predictions"),
        r"^predictions\[0, 1\] is \{\}, expected one of the classes 'cat', 'dog'$",
    ),
    "no place": (
        lambda: Classes(["cat"]).numbers("cow", "label"),
        "^label is 'cow', expected one of the classes 'cat'$",
    ),
    "another number": (
        lambda: cams.Bundle(predictions=[["a"]], labels=["a"], classes=["a", "b", "c"], num_classes=2),
        "num_classes is 2, but there are 3 classes",
    ),
    "all eight shown": (lambda: Classes(range(8)).number("x"), "the classes 0, 1, 2, 3, 4, 5, 6, 7$"),
    "not all nine shown": (lambda: Classes(range(9)).number("x"), r"the classes 0, 1, 2, 3, 4, 5, 6, 7, \.\.\.$"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_sentence(case):
    call, sentence = BAD_INPUT[case]
    with pytest.raises(cams.InputError, match=sentence):
        call()


def words_bundle(**changes):
    given = {
        "predictions": pd.DataFrame({"small": ["dog", "cat", None], "large": ["dog", "cow", "cow"]}),
        "labels": ["dog", "cow", "cow"],
        "advice": np.full((3, 1, 2), 0.5),
    }
    return cams.Bundle(**{**given, **changes})


def test_a_bundle_speaks_the_users_classes():
    bundle = words_bundle()
    assert bundle.classes == ["cat", "cow", "dog"]
    assert bundle.model_names == ["small", "large"]
    assert bundle.predictions.tolist() == [[2, 2], [0, 1], [ABSTAINS, 1]]
    assert words_bundle(classes=["dog", "cow", "cat"]).labels.tolist() == [0, 1, 1]


def test_classes_and_abstentions_survive_saving(tmp_path):
    bundle = words_bundle()
    bundle.save(tmp_path / "words.npz")
    loaded = cams.Bundle.load(tmp_path / "words.npz")
    assert loaded.classes == bundle.classes
    np.testing.assert_array_equal(loaded.predictions, bundle.predictions)
    assert loaded.without_policies().classes == bundle.classes


@pytest.mark.parametrize("classes", [["a", 1], [b"a", b"b"], [(1, 2), (3, 4)], [1, 2**80]])
def test_classes_that_no_file_can_hold_are_refused_when_it_is_written(classes, tmp_path):
    # An array of arrays would be a table: each class is put in by itself.
    labels = np.empty(2, dtype=object)
    labels[:] = classes
    bundle = cams.Bundle(predictions=labels[:, None], labels=labels, classes=classes)
    sentence = r"^classes of several types, neither text nor numbers, or beyond 64 bits cannot be saved$"
    with pytest.raises(cams.InputError, match=sentence):
        bundle.save(tmp_path / "b.npz")
    assert not (tmp_path / "b.npz").exists()


@pytest.mark.parametrize("classes", [["a", "b"], [3, 7], [0.5, 1.5], [False, True]])
def test_classes_that_a_file_can_hold_come_back(classes, tmp_path):
    cams.Bundle(predictions=[[classes[1]]], labels=[classes[0]], classes=classes).save(tmp_path / "b.npz")
    loaded = cams.Bundle.load(tmp_path / "b.npz")
    assert (loaded.classes, loaded.labels.tolist(), loaded.predictions.tolist()) == (classes, [0], [[1]])
    assert [type(value) for value in loaded.classes] == [type(value) for value in classes]


def test_numbers_with_gaps_stay_numbers():
    for predictions in ([[0, None], [2, 1]], [[0, np.nan], [2, 1]], np.array([[0, -7], [2, 1]])):
        bundle = cams.Bundle(predictions=predictions, labels=[0, 1], abstain=-7)
        assert bundle.predictions.tolist() == [[0, ABSTAINS], [2, 1]]
        assert bundle.classes == [0, 1, 2]


def test_truth_values_are_classes_too():
    bundle = cams.Bundle(predictions=[[True, False]], labels=[True])
    assert (bundle.classes, bundle.labels.tolist()) == ([False, True], [1])
