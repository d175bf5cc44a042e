"""Tables, tensors and models of other libraries: what cannot be read, or would be read wrongly, is refused in words.

One line a case: the call, and how its sentence begins.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

import cams
from cams.errors import in_one_line

VOTES = np.array([[0, 1], [2, 1], [1, 1]])
LABELS = np.array([0, 1, 2])
ADVICE = np.array([[[0.5, 0.5]], [[0.25, 0.75]], [[1.0, 0.0]]])
EVEN = [[0.5, 0.5]]
SHUFFLED = pd.Series(LABELS, index=[7, 9, 8])
MASKED = np.ma.array(LABELS, mask=[False, True, False])
MESSY = pd.DataFrame(VOTES, columns=["a", "b"], index=[7, 8, 9])


def bundle(**changes: Any) -> cams.Bundle:
    return cams.Bundle(**{"predictions": VOTES, "labels": LABELS, "advice": ADVICE, **changes})


def selector(**changes: Any) -> cams.Selector:
    named = {} if "classes" in changes else {"num_classes": 3}
    return cams.Selector(**{"models": ["a", "b"], "policies": ["p"], "learner": "cams", **named, **changes})


class Tensor:
    """Cannot become an array, as a tensor that a gradient hangs on cannot."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("Can't call numpy()\non Tensor that requires grad.")


class Model:
    """Says what it was made with, whatever it is asked; an exception it raises."""

    def __init__(self, answer: Any = LABELS) -> None:
        self.answer = answer

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"answer": self.answer}

    def fit(self, X: Any, y: Any) -> None:
        """As some do, without returning itself."""

    def predict(self, X: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Unsure(Model):
    def predict_proba(self, X: Any) -> Any:
        raise KeyError("age")


def asked(answer: Any, routers: Any = (), **changes: Any) -> cams.Bundle:
    models = {"a": Model(answer), "b": Model(answer)}
    return cams.Bundle.from_models(models, routers, **{"X": VOTES, "y": LABELS, **changes})


class Adviser:
    name, kind = "mine", "normal"

    def __init__(self, advice: Any = None) -> None:
        self.advice = advice

    def check_models(self, names: Any) -> None:
        pass

    def advise(self, X: Any) -> Any:
        if self.advice is None:
            raise ZeroDivisionError("division by zero")
        return self.advice


def fitted(answer: Any) -> Any:
    return cams.Router(Model(answer), sharpness=1).fit(VOTES, VOTES, LABELS).advise(VOTES)


OTHER_ORDER = "has another index than"
CASES: list[tuple[Callable[[], Any], str]] = [
    # ---- what is no array ----
    (lambda: bundle(advice=Tensor()), "advice is not an array: Can't call numpy() on Tensor that requires grad."),
    (lambda: bundle(predictions=csr_matrix(VOTES)), "predictions is a csr_matrix, expected a list or an array"),
    (lambda: bundle(labels=csr_matrix(VOTES)), "labels is a csr_matrix, expected a list or an array"),
    (lambda: bundle(labels=(label for label in LABELS)), "labels is a generator, expected a list or an array"),
    (lambda: bundle(model_names={"a", "b"}), "model_names is a set, expected a list or an array"),
    (lambda: selector().step({0, 1}, EVEN), "predictions is a set, expected a list or an array"),
    (lambda: selector().step([0, 1], csr_matrix(EVEN)), "advice is a csr_matrix, expected a list or an array"),
    (lambda: selector().step([0, 1], Tensor()), "advice is not an array: Can't call numpy()"),
    # ---- one number in an array is no list ----
    (lambda: selector(models=np.array(3)), "models is array(3), expected a list of names"),
    (lambda: selector(policies=np.array("p")), "policies is array('p', dtype='<U1'), expected a list of names"),
    (lambda: selector(classes=np.array(3)), "classes is array(3), expected a list of classes"),
    (lambda: selector(classes=b"ab"), "classes is b'ab', expected a list of classes"),
    (lambda: bundle().select_policies(np.array(0)), "policies are selected by array(0), expected a list of positions"),
    (lambda: bundle().select_policies(kinds=np.array("normal")), "kinds is array('normal', dtype='<U6'), expected a"),
    (lambda: asked(LABELS, np.array(3)), "routers is array(3), expected a list of routers"),
    (lambda: cams.Replay.joined(np.array(3)), "joined takes a list of one replay or more"),  # type: ignore[arg-type]
    (
        lambda: cams.Router(None).fit_rewards(VOTES, np.zeros((3, 2)), np.array("a")),
        "router 'router' got model_names array('a', dtype='<U1'), expected a list of names",
    ),
    (
        lambda: list(
            cams.play(
                cams.make_learner("cams", num_models=2, num_policies=1, num_classes=3),
                bundle(),
                np.array(0),  # type: ignore[arg-type]
                np.zeros((1, 4)),
            )
        ),
        "rows is array(0), expected one after another",
    ),
    # ---- names and order that would be lost ----
    (
        lambda: bundle(predictions=MESSY, labels=SHUFFLED),
        f"labels {OTHER_ORDER} predictions; bring",
    ),
    (
        lambda: bundle(predictions={"a": MESSY["a"], "b": SHUFFLED}),
        f"predictions['b'] {OTHER_ORDER} predictions['a']; bring",
    ),
    (lambda: asked(LABELS, X=MESSY, y=SHUFFLED), f"y {OTHER_ORDER} X; bring"),
    (lambda: cams.Router(None).fit(MESSY, VOTES, SHUFFLED), f"y {OTHER_ORDER} X; bring"),
    (lambda: bundle(advice=[pd.DataFrame(EVEN)] * 3), "advice is a list of tables, whose names nobody would look at"),
    (lambda: selector().step(pd.Series([0, 1, 2], index=list("aba")), EVEN), "predictions has the name 'a' twice"),
    (
        lambda: selector().step([0, 1], pd.DataFrame([[0.5, 0.2, 0.3]], columns=list("aba"))),
        "advice has the name 'a' twice",
    ),
    (
        lambda: selector().step_many(pd.DataFrame([[0, 1, 2]], columns=list("aba")), [EVEN]),
        "predictions has the name 'a' twice",
    ),
    (
        lambda: selector().step([0, 1], [pd.Series([0.2, 0.8], index=["a", "c"])]),
        "advice[0] lacks 'b'",
    ),
    (
        lambda: asked(LABELS, [Adviser(pd.DataFrame(ADVICE[:, 0], columns=["b", "a"]))]),
        "router 'mine' advises on b, a, expected a, b",
    ),
    (
        lambda: cams.confidence_advice({"a": MESSY["a"], "b": SHUFFLED}),
        f"probabilities['b'] {OTHER_ORDER} probabilities['a']; bring",
    ),
    (
        lambda: cams.Router(None).fit_rewards(MESSY, pd.DataFrame(VOTES / 2, index=[7, 9, 8])),
        f"rewards {OTHER_ORDER} X; bring",
    ),
    (
        lambda: cams.confidence_advice([pd.DataFrame(VOTES / 2, index=SHUFFLED.index), MESSY / 2]),
        f"probabilities['1'] {OTHER_ORDER} probabilities['0']; bring",
    ),
    (
        lambda: asked(LABELS, [cams.Router(KNeighborsRegressor(1), name=["a"]).fit(VOTES, VOTES, LABELS)]),
        "policy_names has 2 dimension(s), expected 1",
    ),
    # ---- what lies under a mask ----
    (
        lambda: cams.Router(KNeighborsRegressor(1)).fit(np.ma.array(VOTES, mask=VOTES > 1), VOTES, LABELS),
        "X has masked entries, expected a value in each",
    ),
    (
        lambda: (
            cams.Router(KNeighborsRegressor(1), sharpness=1)
            .fit(VOTES, VOTES, LABELS)
            .advise(np.ma.array(VOTES, mask=VOTES > 1))
        ),
        "X has masked entries, expected a value in each",
    ),
    (lambda: asked(MASKED), "what model 'a' predicts has masked entries, expected a value in each"),
    (
        lambda: asked(LABELS, [Adviser(np.ma.array(ADVICE[:, 0], mask=VOTES > 1))]),
        "what router 'mine' advises has masked entries, expected a value in each",
    ),
    (lambda: cams.confidence_advice([MASKED / 2]), "probabilities has masked entries, expected a value in each"),
    (lambda: cams.confidence_advice([Tensor()]), "probabilities is not an array: Can't call numpy()"),
    # ---- what stands for no answer ----
    (lambda: bundle(labels=[0, None, 1]), "labels[1] is missing, expected a class"),
    (lambda: bundle(labels=pd.Series([0, 1, None], dtype="Int64")), "labels[2] is missing, expected a class"),
    (lambda: bundle(abstain=[0, 1]), "abstain is [0, 1], expected a single value"),
    (lambda: bundle(abstain=2), "abstain is 2, which is a class"),
    (lambda: bundle(abstain=0, classes=[0, 1, 2]), "abstain is 0, which is a class"),
    (lambda: bundle(predictions=VOTES.astype(str), labels=["0", "?", "1"], abstain="?"), "abstain is '?', which is a"),
    (lambda: selector(classes={"x", "y"}), "classes is {"),
    (lambda: bundle(classes={0, 1, 2}), "classes is {0, 1, 2}, expected a list of classes"),
    # ---- names that a file would give back as others ----
    (
        lambda: bundle(model_names=["a\0", "b"]),
        "model_names[0] is 'a\\x00', expected text that can be written",
    ),
    (lambda: selector(models=["\ud800", "b"]), "models[0] is '\\ud800', expected text that can be written to a file"),
    (lambda: selector(models=["\udfff", "b"]), "models[0] is '\\udfff', expected text that can be written to a file"),
    (
        lambda: cams.replay(bundle(), [{"name": "rs", "label": "a\0"}], horizon=3, budgets=[1], realizations=1, seed=0),
        "learner 'rs': label is 'a\\x00', expected text",
    ),
    # ---- models that fail ----
    (lambda: asked(KeyError("age")), "model 'a' cannot predict these rows: KeyError: 'age'"),
    (lambda: asked(RuntimeError("out of\nmemory")), "model 'a' cannot predict these rows: RuntimeError: out of memory"),
    (lambda: asked(LABELS, [Adviser()]), "router 'mine' cannot advise on these rows: ZeroDivisionError: division by"),
    (
        lambda: cams.Confidence({"a": Unsure()}).advise(VOTES),
        "policy 'confidence': model 'a' cannot predict these rows: KeyError: 'age'",
    ),
    (lambda: fitted(None), "router 'router': Model cannot predict: "),
    (lambda: fitted(np.zeros((2, 2))), "router 'router': Model cannot predict: cannot reshape"),
    (lambda: fitted(IndexError("list\nindex")), "router 'router': Model cannot predict: IndexError: list index"),
    (
        lambda: cams.Router(StandardScaler(), sharpness=1).fit(VOTES, VOTES, LABELS).advise(VOTES),
        "router 'router': StandardScaler cannot predict: AttributeError: ",
    ),
    (
        lambda: cams.Router(KNeighborsRegressor()).set_params(estimator__nope=3),
        "router 'router': KNeighborsRegressor cannot be set: Invalid parameter 'nope'",
    ),
    (
        lambda: cams.Router(None).fit_rewards(VOTES, np.zeros((3, 2)), [None, "a"]),
        "router 'router': model_names[0] is None, expected a name",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), CASES, ids=[sentence.replace("\\", "") for _, sentence in CASES])
def test_refused_in_these_words(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(cams.InputError) as caught:
        call()
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_routers_may_come_one_after_another() -> None:
    router = cams.Router(KNeighborsRegressor(1), sharpness=1).fit(VOTES, VOTES, LABELS)
    assert asked(LABELS, (each for each in [router])).num_policies == 1


def test_a_router_that_is_not_fitted_is_bad_input_and_what_scikit_learn_says() -> None:
    with pytest.raises(cams.InputError, match="router 'router' is not fitted yet") as caught:
        cams.Router(KNeighborsRegressor()).advise(VOTES)
    assert isinstance(caught.value, NotFittedError)


def test_a_mask_that_hides_nothing_is_none() -> None:
    router = cams.Router(KNeighborsRegressor(1), sharpness=1).fit(np.ma.array(VOTES, mask=False), VOTES, LABELS)
    np.testing.assert_array_equal(router.advise(np.ma.array(VOTES)), router.advise(VOTES))


def test_one_index_or_none_is_taken_by_position() -> None:
    straight = pd.Series(LABELS, index=MESSY.index)
    for labels in (straight, SHUFFLED.reset_index(drop=True), SHUFFLED.to_numpy()):
        np.testing.assert_array_equal(bundle(predictions=MESSY, labels=labels).labels, LABELS)
    np.testing.assert_array_equal(bundle(predictions=VOTES, labels=SHUFFLED).labels, LABELS)


def test_tables_of_advice_keep_their_names_in_a_batch() -> None:
    turned = pd.DataFrame([[0.1, 0.9]], columns=["b", "a"])
    one, many, plain = selector(), selector(), selector()
    assert many.step_many([[0, 1]] * 2, [turned] * 2) == [one.step([0, 1], turned) for _ in range(2)]
    assert plain.step([0, 1], [[0.9, 0.1]]) == selector().step([0, 1], turned)


@pytest.mark.parametrize(
    ("options", "predictions"),
    [
        ({"classes": ["x", "y"]}, pd.Categorical(["x", "y"])),
        ({"classes": ["x", "y"]}, pd.array(["x", None], dtype="string")),
        ({}, pd.array([0, None], dtype="Int64")),
    ],
)
def test_arrays_of_pandas_are_votes(options: dict[str, Any], predictions: Any) -> None:
    asked_with = [None if pd.isna(value) else value for value in predictions]
    assert selector(**options).step(predictions, EVEN) == selector(**options).step(asked_with, EVEN)


MISSPELT = [
    ({"lables": LABELS}, {"labels"}, "there is an array 'lables', which no bundle has; did you mean 'labels'?"),
    ({"advise": ADVICE}, {"advice"}, "there is an array 'advise', which no bundle has; did you mean 'advice'?"),
    ({}, {"advice"}, "there is an array 'policy_kinds', but no array 'advice'"),
]


@pytest.mark.parametrize(("added", "removed", "sentence"), MISSPELT)
def test_an_array_by_a_misspelt_name_is_not_overlooked(
    tmp_path: Path, added: dict[str, Any], removed: set[str], sentence: str
) -> None:
    path = tmp_path / "mine.npz"
    bundle().save(path)
    with np.load(path) as stored:
        arrays = {name: array for name, array in stored.items() if name not in removed}
    np.savez(path, **arrays, **added)
    with pytest.raises(cams.InputError) as caught:
        cams.Bundle.load(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_arrays_of_ones_own_may_lie_beside(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, predictions=VOTES, labels=LABELS, customers=LABELS)
    assert cams.Bundle.load(path).num_rows == 3


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("too few\n  columns."), "too few columns"),
        (TypeError("expected rows:"), "expected rows"),
        (ValueError("too few rows of X"), "too few rows of X"),
        (KeyError("age"), "KeyError: 'age'"),
        (RuntimeError("out of\nmemory"), "RuntimeError: out of memory"),
        (ValueError(), "ValueError"),
    ],
)
def test_somebody_elses_error_in_one_line(error: Exception, said: str) -> None:
    assert in_one_line(error) == said
