"""Good input in a form that few people use: it means what it means in the usual one, or is refused in one sentence."""

from __future__ import annotations

import enum
import math
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LinearRegression

import cams
from cams import bounds
from tests.cams.three_rows import ADVICE, LABELS, VOTES, bundle, replay

NULLABLE = pd.DataFrame(VOTES, columns=["a", "b"]).convert_dtypes()
X = np.arange(4.0).reshape(4, 1)
DATES = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")


class Word(str, enum.Enum):  # noqa: UP042  (whose text is not the word)
    """Words as a program keeps them."""

    ONE = "cams"
    OTHER = "mp"


class Model:
    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


def router(sharpness: float | None = 1.0) -> cams.Router:
    return cams.Router(LinearRegression(), sharpness=sharpness)


@pytest.mark.parametrize(
    "form",
    [
        {"predictions": NULLABLE},
        {"predictions": NULLABLE.astype("int64[pyarrow]")},
        {"predictions": VOTES.astype(object), "labels": LABELS.astype(object)},
        {"predictions": {"a": pd.array([0, 2, 1], dtype="Int64"), "b": [1, 1, 1]}},
        {"labels": [torch.tensor(0), torch.tensor(1), torch.tensor(2)]},
        {"labels": pd.Series(LABELS, dtype="Int64")},
        {"advice": ADVICE.astype(object)},
    ],
    ids=["nullable", "arrow", "objects", "by model", "tensors", "nullable labels", "advice of objects"],
)
def test_numbers_are_numbers_whatever_holds_them(form: dict[str, Any]) -> None:
    made = bundle(**form)
    np.testing.assert_array_equal(made.predictions, VOTES)
    np.testing.assert_array_equal(made.labels, LABELS)
    np.testing.assert_array_equal(made.advice, ADVICE)
    assert made.classes == [0, 1, 2]


def test_a_gap_in_a_column_of_numbers_is_a_model_without_an_answer() -> None:
    made = bundle(predictions={"a": pd.array([0, None, 1], dtype="Int64"), "b": [1, 1, 1]})
    assert made.predictions.tolist() == [[0, 1], [-1, 1], [1, 1]]


def test_rows_to_play_may_come_in_a_nullable_table() -> None:
    order = pd.DataFrame([[0, 1, 2], [2, 1, 0]])
    np.testing.assert_array_equal(replay(order=order.convert_dtypes()).loss, replay(order=order).loss)


def test_rows_of_a_table_are_played_as_rows() -> None:
    rows = [[0, 1, 2], [2, 1, 0]]
    np.testing.assert_array_equal(replay(order=pd.DataFrame(rows)).loss, replay(order=np.array(rows)).loss)


def test_tuples_are_classes() -> None:
    left, right = (1, 2), (3, 4)
    made = cams.Bundle(predictions={"a": [left, right], "b": [left, left]}, labels=[left, right])
    assert made.classes == [left, right]
    assert made.predictions.tolist() == [[0, 0], [1, 0]]
    assert made.labels.tolist() == [0, 1]


@pytest.mark.parametrize("unit", ["ns", "us", "D"])
def test_dates_are_one_class_in_any_unit(unit: str) -> None:
    made = cams.Bundle(predictions=np.stack([DATES, DATES], 1), labels=DATES.astype(f"datetime64[{unit}]"))
    assert made.classes == [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")]
    assert made.predictions.tolist() == [[0, 0], [1, 1]]
    assert made.labels.tolist() == [0, 1]


def test_half_a_character_is_a_class_like_any_other_until_it_is_written(tmp_path: Path) -> None:
    made = cams.Bundle(predictions=[["\ud800", "b"]], labels=["b"])
    assert made.predictions.tolist() == [[1, 0]]
    with pytest.raises(
        cams.InputError, match=r"^classes\[1\] is '\\ud800', expected text that can be written to a file"
    ):
        made.save(tmp_path / "b.npz")


@pytest.mark.parametrize("missing", [pd.NA, np.nan, None])
def test_a_missing_value_may_stand_for_no_answer(missing: Any) -> None:
    assert bundle(abstain=missing).abstains is False


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64, np.float32])
def test_any_number_may_stand_for_no_answer_in_any_type(dtype: Any) -> None:
    given = np.array([[9, 1], [1, 1]], dtype=dtype)
    selector = cams.Selector(models=["a", "b"], num_classes=3, abstain=9)
    assert selector.step_many(given)[0].model == "b"
    assert selector.step(given[0]).model == "b"
    assert cams.Bundle(predictions=given, abstain=9).predictions.tolist() == [[-1, 1], [1, 1]]


@pytest.mark.parametrize(("dtype", "no", "yes", "abstain"), [("Int64", 0, 1, -1), ("string", "x", "y", "?")])
def test_a_table_may_have_gaps_beside_what_stands_for_no_answer(dtype: str, no: Any, yes: Any, abstain: Any) -> None:
    table = pd.DataFrame({"a": pd.array([no, None, yes], dtype=dtype), "b": pd.array([yes, no, abstain], dtype=dtype)})
    made = cams.Bundle(predictions=table, labels=[no, no, yes], abstain=abstain)
    assert made.predictions.tolist() == [[0, 1], [-1, 0], [1, -1]]


@pytest.mark.parametrize("said", [["x", math.nan, "y"], ["x", None, "y"], pd.array(["x", None, "y"], dtype="string")])
def test_a_model_may_answer_in_words_with_gaps(said: Any) -> None:
    model = SimpleNamespace(predict=lambda X: said)
    other = SimpleNamespace(predict=lambda X: ["x", "y", "y"])
    made = cams.Bundle.from_models({"a": model, "b": other}, [], np.zeros((3, 1)), ["x", "y", "y"])
    assert (made.classes, made.predictions.tolist()) == (["x", "y"], [[0, 0], [-1, 1], [1, 1]])


@pytest.mark.parametrize("label", [torch.tensor(1), np.array(1), 1.0])
def test_a_label_may_be_a_scalar_of_any_library(label: Any) -> None:
    selector = cams.Selector(models=["a", "b"], num_classes=2, learner="cams_nonactive")
    selector.label(selector.step([0, 1]).ticket, label)
    assert selector.history()["label"].tolist() == [1]


@pytest.mark.parametrize("row", [{"b": 0.9, "a": 0.1}, pd.Series({"b": 0.9, "a": 0.1})])
def test_rows_of_advice_may_have_names(row: Any) -> None:
    selector = cams.Selector(models=["a", "b"], policies=["p"], num_classes=2, budget=0)
    assert selector.step([0, 1], [row]).model == "b"
    assert [decision.model for decision in selector.step_many([[0, 1]] * 2, [[row], [[0.9, 0.1]]])] == ["b", "a"]


def test_numbers_that_are_missing_abstain_in_any_precision() -> None:
    assert cams.Selector(models=["a", "b"], classes=["x", "y"]).step(["x", np.float32("nan")]).model == "a"


def test_tensors_are_classes() -> None:
    selector = cams.Selector(models=["a", "b"], classes=[0, 1, 2])
    assert selector.step([torch.tensor(2), torch.tensor(2)]).prediction == 2


def test_a_tuple_of_instances_is_a_list_of_them() -> None:
    mixed = cams.Selector(models=["a", "b"], classes=["x", 1]).step_many((("x", "x"), (1, 1)))
    assert [decision.prediction for decision in mixed] == ["x", 1]
    pi = pd.DataFrame([[0.9, 0.1]], index=["p"], columns=["b", "a"])
    named = cams.Selector(models=["a", "b"], policies=["p"], num_classes=2, budget=0)
    assert named.step_many([[0, 1]], (pi,))[0].model == "b"


def test_models_may_be_called_by_numbers_throughout() -> None:
    models, y = {1: Model(), 2: Model()}, [0, 1, 0, 1]
    fitted = router().fit(X, {1: [0, 0, 0, 0], 2: [0, 1, 0, 1]}, y)
    assert cams.Bundle.from_models(models, [fitted], X, y).model_names == ["1", "2"]
    with pytest.raises(cams.InputError, match=r"^policy 'confidence' knows the models 1, not 1, 2$"):
        cams.Bundle.from_models(models, [cams.Confidence({1: Model()})], X, y)
    with pytest.raises(cams.InputError, match=r"^router 'router' was fitted on the models 1, 2, not on 2, 1$"):
        fitted.check_models([2, 1])
    assert cams.Selector(models=[1, 2], num_classes=3).step({2: 1, 1: 1}).prediction == 1


def test_words_of_an_enum_are_the_words(tmp_path: Path) -> None:
    played = replay(learners=[Word.ONE, ("rs", {"label": Word.OTHER})])
    played.save(tmp_path / "r.npz")
    assert cams.Replay.load(tmp_path / "r.npz").learners == ["cams", "mp"]
    assert bundle(model_names=list(Word)).model_names == ["cams", "mp"]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_bounds_are_the_same_for_numbers_of_any_size() -> None:
    assert bounds.exp3_regret(np.float16(100), np.float32(5)) == bounds.exp3_regret(100, 5)
    queries = bounds.cams_adversarial_queries(np.int16(1000), 20, np.int8(100), 0.5, np.float32(4))
    assert (queries, type(queries)) == (bounds.cams_adversarial_queries(1000, 20, 100, 0.5, 4), float)
    assert bounds.exp3_regret(np.int32(100_000), np.int32(50_000)) == bounds.exp3_regret(100_000, 50_000)
    small = bounds.cams_adversarial_regret(1000, 20, np.uint8(200), 0.5)
    assert (small, type(small)) == (bounds.cams_adversarial_regret(1000, 20, 200, 0.5), float)
    gaps, thetas = np.array([200, 100], dtype=np.uint8), np.array([200, 200], dtype=np.uint8)
    assert bounds.model_picker_stochastic_regret(gaps, thetas) == bounds.model_picker_stochastic_regret(
        [200, 100], [200, 200]
    )


@pytest.mark.parametrize("form", [sparse.coo_matrix, sparse.dia_matrix, sparse.bsr_matrix, sparse.csc_matrix])
def test_every_sparse_matrix_has_rows(form: Any) -> None:
    votes, y = {"a": [0, 0, 1, 1], "b": [1, 1, 0, 0]}, [0, 0, 0, 0]
    usual = router(sharpness=None).fit(sparse.csr_matrix(X), votes, y)
    other = router(sharpness=None).fit(form(X), votes, y)
    np.testing.assert_array_equal(other.advise(form(X)), usual.advise(X))


# ---- what a router learns from ----


@pytest.mark.parametrize(
    ("predictions", "y"),
    [
        ({"a": [1, "x", 1, "x"], "b": ["x"] * 4}, [1, "x", 1, "x"]),
        (pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, None, 0, None]}, dtype="Int64"), [0, 1, 0, 1]),
        (pd.DataFrame({"a": ["p", "q"] * 2, "b": ["p", None] * 2}, dtype="string"), ["p", "q"] * 2),
        ({"a": [(1, 2), (3, 4)] * 2, "b": [(1, 2)] * 4}, [(1, 2), (3, 4)] * 2),
        ({"a": [-1.5, 2] * 2, "b": [-1.5] * 4}, [-1.5, 2] * 2),
        ({"a": [7, 1, 7, 1], "b": [7, None, 5, 1]}, [7, 1, 7, 1]),
    ],
    ids=["words and numbers", "nullable numbers", "nullable words", "tuples", "any numbers", "never right"],
)
def test_a_router_learns_who_is_right(predictions: Any, y: Any) -> None:
    assert router().fit(X, predictions, y).mean_rewards_.tolist() == [1.0, 0.5]


def test_a_fit_that_fails_leaves_the_router_as_it_was() -> None:
    y = np.array([0, 1, 0, 1])
    fitted = router(sharpness=5.0).fit(X, {"a": y, "b": 1 - y}, y)
    before = fitted.advise(X)
    fitted.sharpness = None
    with pytest.raises(cams.InputError, match="cannot be fitted"):
        fitted.fit(np.full((4, 1), np.nan), {"c": 1 - y, "d": y}, y)
    fitted.check_models(["a", "b"])
    np.testing.assert_array_equal(fitted.advise(X), before)
    assert not hasattr(fitted, "sharpness_losses_")


# ---- what would be read wrongly ----

BYTES = np.array([[b"a", b"b"], [b"b", b"b"]])
SHUFFLED = pd.Series([0, 1, 1, 0], index=[3, 2, 1, 0])
BACKWARDS = pd.Series(LABELS)[::-1]
REFUSED = [
    (
        lambda: cams.Bundle(predictions=BYTES, labels=["a", "b"]),
        "of predictions and labels one is text and the other byt",
    ),
    (
        lambda: router().fit(X[:2], BYTES, ["a", "b"]),
        "of predictions and labels one is text and the other bytes, so nob",
    ),
    (
        lambda: router().fit(X[:2], {"a": [1, 2], "b": ["x", "y"]}, ["x", "y"]),
        "model 'a' answers in numbers and others i",
    ),
    (
        lambda: router().fit(pd.DataFrame(X, index=[0, 5, 2, 3]), {"a": SHUFFLED, "b": SHUFFLED}, [0, 1, 0, 1]),
        "predictions['a'] has another index than X; bring both into one order",
    ),
    (
        lambda: bundle(predictions=pd.DataFrame(VOTES), labels=BACKWARDS),
        "labels has another index than predictions; bri",
    ),
    (
        lambda: bundle(predictions=pd.DataFrame(VOTES, index=BACKWARDS.index[::-1]), groups=BACKWARDS),
        "groups has another index than predictions; bri",
    ),
    (
        lambda: cams.Bundle.from_models(
            {"a": Model()}, [], pd.DataFrame(X, index=[9, 5, 7, 3]), groups=pd.Series([1, 2, 3, 4], index=[5, 9, 7, 3])
        ),
        "groups has another index than X; bring both into one order",
    ),
    (lambda: bundle(abstain={"?"}), "abstain is {'?'}, expected a single value"),
    (lambda: bundle(abstain=[1]), "abstain is [1], expected a single value"),
    (
        lambda: bundle(predictions=[np.ma.array([0, 1], mask=[0, 1])] * 3),
        "predictions has masked entries, expected a val",
    ),
    (
        lambda: bundle(advice=[np.ma.array([[0.5, 0.5]], mask=[[0, 1]])] * 3),
        "advice has masked entries, expected a value",
    ),
    (lambda: bundle(groups=["u", None, "w"]), "groups[1] is None, expected text or numbers throughout"),
    (
        lambda: bundle(groups=pd.Series(["u", "v\0", "w"])),
        "groups[1] is 'v\\x00', expected text that can be written to a",
    ),
    (
        lambda: replay(first_realization=2**63 - 2),
        "first_realization is 9223372036854775806, expected a whole number fr",
    ),
    (lambda: replay(seed=np.zeros((2, 2))), "seed is array([[0., 0.], [0., 0.]]), expected a whole number"),
    (lambda: router(sharpness=None).fit({1, 2}, [[0, 1], [1, 1]], [0, 1]), "X is {1, 2}, expected rows"),
    (lambda: cams.Bundle.load(next(os.scandir(b"/proc/self"))), "the file's name is <DirEntry b'"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=range(len(REFUSED)))
def test_refused_in_one_line(call: Any, sentence: str) -> None:
    with pytest.raises(cams.InputError) as caught:
        call()
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_sentence_is_no_page() -> None:
    with pytest.raises(cams.InputError) as caught:
        cams.Selector(models="x" * 10**6, num_classes=2)
    assert len(str(caught.value)) < 2100
    assert str(caught.value).endswith("xx', expected a list of names")


@pytest.mark.parametrize("uniforms", [["a"] * 4, [None] * 4, [[1], [1, 2], 3, 4], [0.5] * 3, [0.5, 0.5, 0.5, 1.0]])
def test_uniforms_are_four_numbers(uniforms: Any) -> None:
    learner = cams.make_learner("cams", num_models=2, num_policies=1, num_classes=3)
    with pytest.raises(cams.InputError, match="expected four numbers from 0 to below 1"):
        list(cams.play(learner, bundle(), [0], [uniforms]))


def test_uniforms_may_have_names() -> None:
    learner = cams.make_learner("cams", num_models=2, num_policies=1, num_classes=3)
    (played,) = cams.play(learner, bundle(), [0], [pd.Series([0.1] * 4, index=list("abcd"))])
    assert played.row == 0


# ---- what is kept ----


def test_text_in_a_table_may_be_groups(tmp_path: Path) -> None:
    words = ["u", "v", "w"]
    for groups in (pd.Series(words), pd.Series(words, dtype="category"), np.array(words, np.dtypes.StringDType())):
        bundle(groups=groups).save(tmp_path / "b.npz")
        assert cams.Bundle.load(tmp_path / "b.npz").groups.tolist() == ["u", "v", "w"]


@pytest.mark.parametrize("groups", [["u", math.nan, "w"], ["u", 1, "w"]])
def test_groups_of_words_and_numbers_are_not_made_words(groups: Any) -> None:
    with pytest.raises(cams.InputError, match=r"^groups\[1\] is (nan|1), expected text or numbers throughout$"):
        bundle(groups=groups)


def test_truth_is_not_written_as_a_number(tmp_path: Path) -> None:
    made = cams.Bundle(predictions=np.array([[True, 2]], dtype=object), labels=[2], classes=[True, 2])
    with pytest.raises(cams.InputError, match=r"^classes of several types"):
        made.save(tmp_path / "b.npz")


def test_replays_are_themselves() -> None:
    played, again = replay(), replay()
    assert played != again
    assert played in [again, played]
    assert len({played, again}) == 2


def test_every_weight_is_shown_whatever_models_are_called() -> None:
    weights = cams.Selector(models=["a", "a (model)"], policies=["a"], num_classes=2).weights
    assert list(weights) == ["a", "a (model) (model)", "a (model)"]
    assert sum(weights.values()) == pytest.approx(1)


def test_a_link_to_nowhere_is_no_bundle_without_advice(tmp_path: Path) -> None:
    np.save(tmp_path / "predictions.npy", VOTES)
    np.save(tmp_path / "labels.npy", LABELS)
    (tmp_path / "bundle.json").write_text('{"num_classes": 3}')
    assert cams.StoredBundle(tmp_path).num_policies == 0
    (tmp_path / "advice.npy").symlink_to("/nowhere")
    with pytest.raises(cams.InputError, match=r"^there is no file .*advice\.npy$"):
        cams.StoredBundle(tmp_path)


def test_a_label_is_drawn_as_it_is_written(tmp_path: Path) -> None:
    figure = replay(learners=[("rs", {"label": r"$\bad$"}), ("mp", {"label": "5$"})]).plot(tmp_path / "r.png")
    assert (tmp_path / "r.png").stat().st_size > 1000
    assert figure is not None


# ---- confidences ----


def test_confidences_by_name_are_columns() -> None:
    table = {"a": np.array([0.9, 0.1, 0.5]), "b": np.array([0.2, 0.3, 0.4])}
    by_rows = cams.confidence_advice(np.column_stack(list(table.values())))
    assert by_rows.shape == (3, 2)
    np.testing.assert_array_equal(cams.confidence_advice(table), by_rows)
    np.testing.assert_array_equal(cams.confidence_advice(pd.DataFrame(table)), by_rows)


def test_a_sum_of_rounded_numbers_may_be_a_little_above_one() -> None:
    np.testing.assert_array_equal(cams.confidence_advice([[1 + 1e-6, 1.0]], sharpness=1e9), [[0.5, 0.5]])
