"""Routers and confidence as they come: defaults, what their estimators may return, and every sentence in full."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import cams
from cams.confidence import Confidence, confidence_advice


class Fixed:
    """An estimator that has learnt nothing and says what it was made with."""

    def __init__(self, says: Any = None, warning: str = "") -> None:
        self.says, self.warning = says, warning

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"says": self.says, "warning": self.warning}

    def set_params(self, **params: Any) -> "Fixed":
        vars(self).update(params)
        return self

    def fit(self, X: Any, y: Any) -> "Fixed":
        self.fitted_on_ = np.shape(y)
        return self

    def predict(self, X: Any) -> Any:
        if self.warning:
            warnings.warn(self.warning, stacklevel=1)
        return np.tile(self.says, (len(X), 1))


X = np.zeros((4, 1))
REWARDS = np.array([[1, 0], [1, 1], [0, 0], [1, 0]])


def test_defaults_and_parameters() -> None:
    router = cams.Router(Fixed())
    own = {name: value for name, value in router.get_params(deep=False).items() if name != "estimator"}
    assert own == {"name": "router", "kind": "normal", "sharpness": None, "folds": 5, "random_state": 0}
    router.set_params(folds=3, estimator__says=[0.5, 0.5])
    assert (router.folds, router.estimator.says) == (3, [0.5, 0.5])
    for wrong, sentence in (
        ({"fold": 3}, "a router has no parameter 'fold'; did you mean 'folds'?"),
        ({"estimater": 3}, "a router has no parameter 'estimater'; did you mean 'estimator'?"),
    ):
        with pytest.raises(cams.InputError) as refused:
            router.set_params(**wrong)
        assert str(refused.value) == sentence


def test_a_single_model_is_learnt_without_an_axis_of_its_own() -> None:
    assert cams.Router(Fixed([0.5]), sharpness=1).fit_rewards(X, REWARDS[:, :1]).estimator_.fitted_on_ == (4,)
    assert cams.Router(Fixed([0.5]), sharpness=1).fit_rewards(X, REWARDS).estimator_.fitted_on_ == (4, 2)


def test_the_words_for_what_is_no_array() -> None:
    for fit, name in ((cams.Router(Fixed()).fit_rewards, "rewards"), (cams.Router(Fixed()).fit, "y")):
        given = [X, [[1], [1, 0]]] if name == "rewards" else [X, REWARDS, [[1], [1, 0]]]
        with pytest.raises(cams.InputError) as refused:
            fit(*given)
        assert str(refused.value) == f"{name} is not an array: its rows differ in length or it holds no numbers"


def test_a_label_that_no_model_names_makes_all_of_them_wrong() -> None:
    router = cams.Router(Fixed([0.5, 0.5]), sharpness=1)
    assert router.fit(X, {"a": [7, None, 7, 7], "b": [7, 1, 1, 1]}, [7, 3, 7, 3]).mean_rewards_.tolist() == [0.5, 0.25]


@pytest.mark.parametrize("kind", [np.float32, np.int64, object])
def test_chances_of_any_type_are_read_in_double_precision(kind: Any) -> None:
    rewards = cams.Router(Fixed(np.array([1, 0], dtype=kind)), sharpness=1).fit_rewards(X, REWARDS).rewards(X)
    assert (rewards.dtype, rewards[0].tolist()) == (np.float64, [1.0, 0.0])


def test_a_seed_has_32_bits() -> None:
    router = cams.Router(Fixed([0.5, 0.5]), folds=2, random_state=2**32 - 1)
    assert router.fit_rewards(X, REWARDS).sharpness_ > 0
    with pytest.raises(cams.InputError, match=r"^random_state is 4294967296, expected .* 4294967295$"):
        router.set_params(random_state=2**32).fit_rewards(X, REWARDS)


def test_advice_may_not_be_sharper_than_numbers_hold() -> None:
    with pytest.raises(cams.InputError, match=r"^sharpness is 1e\+10, expected a number from 0 to 1e\+09$"):
        cams.Router(Fixed([1.0, 0.0]), sharpness=1e10).fit_rewards(X, REWARDS)


def test_advice_may_be_blunt() -> None:
    # softmax of 0.5 * (1, 0)
    router = cams.Router(Fixed([1.0, 0.0]), sharpness=0.5).fit_rewards(X, REWARDS)
    assert router.advise(X[:1])[0] == pytest.approx([1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(0.5))])


@pytest.mark.parametrize("wrong", [-0.5, 1.5, np.nan])
def test_rewards_are_chances(wrong: float) -> None:
    with pytest.raises(cams.InputError, match=r"^router 'router' got rewards outside 0..1$"):
        cams.Router(Fixed([0.5, 0.5])).fit_rewards(X, np.where(REWARDS == 0, wrong, 1))


def test_an_estimator_of_another_number_of_models() -> None:
    router = cams.Router(Fixed([0.1, 0.2, 0.3]), sharpness=1, name="knn").fit_rewards(X, REWARDS)
    with pytest.raises(cams.InputError) as refused:
        router.advise(X)
    assert str(refused.value) == "router 'knn': its estimator has 3 outputs, expected one for each of 2 models"


def test_only_the_warning_of_rows_without_neighbours_is_kept_quiet() -> None:
    quiet = cams.Router(Fixed([0.5, 0.5], "One or more samples have no neighbors within radius"), sharpness=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet.fit_rewards(X, REWARDS).advise(X)
    loud = cams.Router(Fixed([0.5, 0.5], "something else"), sharpness=1).fit_rewards(X, REWARDS)
    with pytest.warns(UserWarning, match="something else"):
        loud.advise(X)


class Sure:
    """A model that is this sure of the first of two classes."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def predict_proba(self, X: Any) -> Any:
        return np.tile([self.chance, 1 - self.chance], (len(X), 1))


def test_confidence_is_read_as_sharply_as_asked() -> None:
    advice = Confidence({"a": Sure(0.9), "b": Sure(0.4)}, sharpness=10.0).advise(X)
    # Sure to 0.9 and to 0.6: exp(9) to exp(6).
    assert advice[0] == pytest.approx([1 / (1 + np.exp(-3)), 1 / (1 + np.exp(3))])
    with pytest.raises(cams.InputError) as refused:
        Confidence({"a": Sure(0.9), "b": Sure(0.4)}).check_models(["b", "a"])
    assert str(refused.value) == "policy 'confidence' knows the models a, b, not b, a"


def test_confidence_read_without_any_sharpness_is_even() -> None:
    assert confidence_advice([[0.9, 0.1]], sharpness=0).tolist() == [[0.5, 0.5]]
    with pytest.raises(cams.InputError, match=r"^sharpness is 1e\+10, expected a number from 0 to 1e\+09$"):
        confidence_advice([[0.9, 0.1]], sharpness=1e10)


def test_confidences_are_chances() -> None:
    for wrong in (-0.1, 1.1, np.nan):
        with pytest.raises(cams.InputError, match=r"^probabilities has values outside 0..1$"):
            confidence_advice(np.array([[0.5, wrong]]))
    assert confidence_advice(np.array([[0, 1]]))[0] == pytest.approx([0, 1], abs=1e-8)
    assert confidence_advice([np.zeros((0, 2)), np.zeros((0, 3))]).shape == (0, 2)


class Chances(Fixed):
    """A classifier of two outputs; of the second it has seen no 1."""

    classes_ = (np.array([0, 1]), np.array([0]))

    def predict_proba(self, X: Any) -> Any:
        return [np.tile([0.7, 0.3], (len(X), 1)), np.ones((len(X), 1))]


def test_a_classifier_is_asked_for_chances_and_not_for_its_guess() -> None:
    router = cams.Router(Chances([0, 0]), sharpness=1).fit_rewards(X, REWARDS)
    assert router.rewards(X[:1]).tolist() == [[0.3, 0.0]]


def test_columns_of_rewards_are_the_names_of_models() -> None:
    rewards = pd.DataFrame({"b": [1.0, 0.0], "a": [0.0, 1.0]})
    router = cams.Router(LinearRegression(), sharpness=1)
    assert router.fit_rewards([[0], [1]], rewards).model_names_ == ["b", "a"]
    with pytest.raises(cams.InputError, match="was fitted on the models b, a, not on a, b"):
        router.check_models(["a", "b"])
    assert router.fit_rewards([[0], [1]], rewards, ["x", "y"]).model_names_ == ["x", "y"]
    assert router.fit_rewards([[0], [1]], pd.DataFrame(rewards.to_numpy())).model_names_ == ["model_0", "model_1"]
