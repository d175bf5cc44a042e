"""Routers: what they learn, how sharp they are, scikit-learn's conventions, and bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor

import cams
from cams.policies import sharpen
from cams.router import SHARPNESS_GRID, Confidence, Router, confidence_advice


@pytest.fixture(scope="module")
def lesson():
    """Two models: the first is right on the left half of a line, the second on the right half."""
    x = np.linspace(-1, 1, 200)[:, None]
    y = np.arange(200) % 3
    wrong = (y + 1) % 3
    predictions = np.column_stack([np.where(x[:, 0] < 0, y, wrong), np.where(x[:, 0] < 0, wrong, y)])
    return x, predictions, y


def test_advises_the_model_that_is_right_there(lesson):
    router = Router(KNeighborsRegressor(5)).fit(*lesson)
    advice = router.advise(np.array([[-0.5], [0.5]]))
    assert advice.argmax(axis=1).tolist() == [0, 1]
    np.testing.assert_allclose(advice.sum(axis=1), 1)


def test_advice_is_the_softmax_of_rewards(lesson):
    router = Router(KNeighborsRegressor(5), sharpness=7).fit(*lesson)
    rows = np.array([[-0.5], [0.01]])
    np.testing.assert_array_equal(router.advise(rows), sharpen(router.rewards(rows), 7))


def test_sharpness_is_the_smallest_within_one_standard_error(lesson):
    router = Router(KNeighborsRegressor(5)).fit(*lesson)
    losses = router.sharpness_losses_
    assert list(losses) == list(SHARPNESS_GRID)
    best = min(losses.values())
    # Where the models are told apart without doubt sharper is better, and what is chosen is not the bluntest.
    assert losses[router.sharpness_] < losses[1.0]
    assert all(losses[s] > best for s in SHARPNESS_GRID if s < router.sharpness_)


def test_noise_gets_blunt_advice():
    rng = np.random.default_rng(0)
    rewards = (rng.random((300, 3)) < 0.5).astype(float)
    router = Router(KNeighborsRegressor(1)).fit_rewards(rng.random((300, 2)), rewards)
    assert router.sharpness_ == 1.0


def test_any_kind_of_table_gives_the_same_advice(lesson):
    x, predictions, y = lesson
    plain = Router(Ridge(), sharpness=5).fit(x, predictions, y).advise(x)
    words = np.array(["cat", "dog", "cow"])
    frame = pd.DataFrame(words[predictions], columns=["small", "large"])
    named = Router(Ridge(), sharpness=5).fit(pd.DataFrame({"x": x[:, 0]}), frame, words[y])
    assert named.model_names_ == ["small", "large"]
    np.testing.assert_allclose(named.advise(pd.DataFrame({"x": x[:, 0]})), plain)
    mapping = {"small": predictions[:, 0], "large": predictions[:, 1]}
    np.testing.assert_array_equal(Router(Ridge(), sharpness=5).fit(x, mapping, y).advise(x), plain)


def test_a_classifier_of_rewards_gives_probabilities(lesson):
    x, predictions, y = lesson
    router = Router(RandomForestClassifier(20, random_state=0), sharpness=5).fit(x, predictions, y)
    rewards = router.rewards(np.array([[-0.9], [0.9]]))
    assert rewards.shape == (2, 2)
    assert rewards[0, 0] > 0.9 > 0.1 > rewards[1, 0]


def test_rows_without_neighbours_get_the_mean_reward(lesson):
    x, predictions, y = lesson
    router = Router(RadiusNeighborsRegressor(0.05), sharpness=5).fit(x, predictions, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rewards = router.rewards(np.array([[50.0]]))
    np.testing.assert_allclose(rewards[0], (predictions == y[:, None]).mean(axis=0))


def test_a_model_without_an_answer_counts_as_wrong():
    predictions = pd.DataFrame({"a": [1.0, np.nan], "b": [1.0, 2.0]})
    router = Router(Ridge(), sharpness=1).fit([[0.0], [1.0]], predictions, [1, 2])
    np.testing.assert_allclose(router.mean_rewards_, [0.5, 1.0])


def test_scikit_learn_conventions(lesson):
    router = Router(KNeighborsRegressor(3), name="near", sharpness=2.0)
    with pytest.raises(NotFittedError, match="router 'near' is not fitted yet"):
        router.advise([[0.0]])
    copy = clone(router.fit(*lesson))
    assert copy.get_params()["name"] == "near"
    assert copy.get_params()["estimator__n_neighbors"] == 3
    assert not hasattr(copy, "estimator_")
    copy.set_params(estimator__n_neighbors=7, sharpness=None)
    assert (copy.estimator.n_neighbors, copy.sharpness) == (7, None)
    assert router.estimator.n_neighbors == 3


def test_confidence_is_advice_without_training():
    sure, unsure = [[0.9, 0.1], [0.5, 0.5]], [[0.6, 0.4], [0.2, 0.8]]
    advice = confidence_advice([sure, unsure], sharpness=10)
    np.testing.assert_allclose(advice, sharpen(np.array([[0.9, 0.6], [0.5, 0.8]]), 10))
    np.testing.assert_array_equal(advice, confidence_advice([[0.9, 0.6], [0.5, 0.8]], sharpness=10))


def test_a_bundle_is_made_of_models_and_routers(lesson):
    x, predictions, y = lesson
    words = np.array(["cat", "cow", "dog"])

    class Column:
        def __init__(self, j):
            self.j = j

        def predict(self, rows):
            return words[predictions[:, self.j]]

        def predict_proba(self, rows):
            return np.tile([0.2, 0.5 + 0.1 * self.j, 0.3 - 0.1 * self.j], (len(rows), 1))

    models = {"left": Column(0), "right": Column(1)}
    answers = {name: model.predict(x) for name, model in models.items()}
    router = Router(KNeighborsRegressor(5), name="near").fit(x, answers, words[y])
    bundle = cams.Bundle.from_models(models, [router, Confidence(models)], x, words[y])
    assert (bundle.model_names, bundle.policy_names) == (["left", "right"], ["near", "confidence"])
    assert bundle.classes == ["cat", "cow", "dog"]
    np.testing.assert_allclose(bundle.advice[:, 0], router.advise(x), atol=1e-6)
    assert (bundle.advice[:, 1].argmax(axis=1) == 1).all()
    with pytest.raises(cams.InputError, match="fitted on the models left, right, not on right, left"):
        cams.Bundle.from_models(dict(reversed(models.items())), [router], x)
    with pytest.raises(cams.InputError, match="policy 'confidence' knows the models left, right, not left"):
        cams.Bundle.from_models({"left": Column(0)}, [Confidence(models)], x)
    with pytest.raises(cams.InputError, match="fitted on 2 models, not on 1"):
        cams.Bundle.from_models({"left": Column(0)}, [router], x)
    with pytest.raises(cams.InputError, match="routers has the name 'near' twice"):
        cams.Bundle.from_models(models, [router, router], x)


BAD_INPUT = {
    "lengths": (lambda: Router(Ridge()).fit([[0.0]], [[1, 2], [1, 2]], [1, 2]), "X has 1 rows, predictions 2"),
    "one row": (lambda: Router(Ridge()).fit([[0.0]], [[1, 2]], [1]), "one row is too few"),
    "flat": (lambda: Router(Ridge()).fit([[0.0]], [1, 2], [1]), "predictions has 1 dimension"),
    "columns": (lambda: Router(Ridge()).fit([[0.0]], {"a": [1], "b": [1, 2]}, [1]), "columns of different lengths"),
    "parameter": (lambda: Router(Ridge()).set_params(sharpnes=1), "no parameter 'sharpnes'; did you mean 'sharpness'"),
    "confidence": (lambda: confidence_advice([[1.2, 0.1]]), "values outside 0..1"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_sentence(case):
    call, sentence = BAD_INPUT[case]
    with pytest.raises(cams.InputError, match=sentence):
        call()
