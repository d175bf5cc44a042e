"""Routers: what they learn, how sharp they are, scikit-learn's conventions, and bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVR
from sklearn.utils.validation import check_is_fitted

import cams
from cams.confidence import Confidence, confidence_advice
from cams.policies import sharpen
from cams.router import SHARPNESS_GRID, Router


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


@pytest.mark.parametrize(
    ("answers", "labels", "right"),
    [
        # numbers among Python's objects, of which one is no label and another no answer
        ([[1, 2], [3, 1], [1, 1]], [1, 4, 1], [2 / 3, 1 / 3]),
        ([[1, None], [3, 1], [1, 1]], [1, 4, 1], [2 / 3, 1 / 3]),
        # classes of which some are words and some numbers
        ([["a", 1], ["a", 1], ["b", 1]], ["a", 1, "b"], [2 / 3, 1 / 3]),
        ([["a", "b"], [None, "b"], ["b", "b"]], ["a", "b", "b"], [2 / 3, 2 / 3]),
    ],
)
def test_who_is_right_is_known_whatever_classes_are_called(answers, labels, right):
    answers, labels = np.array(answers, dtype=object), np.array(labels, dtype=object)
    router = Router(DummyRegressor(), sharpness=1).fit(np.zeros((3, 1)), answers, labels)
    np.testing.assert_allclose(router.mean_rewards_, right)


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


def test_where_nothing_is_to_be_gained_advice_is_bluntest():
    # Both models are always right: every sharpness loses nothing, and the smallest is as good as the best.
    router = Router(Ridge(), folds=2).fit_rewards([[0.0], [1.0]], np.ones((2, 2)))
    assert set(router.sharpness_losses_.values()) == {0.0}
    assert router.sharpness_ == min(SHARPNESS_GRID)


def test_expected_losses_by_hand():
    """A router that knows nothing gives each of two models one half: the loss is the mean of theirs."""
    rewards = np.tile([[1.0, 0.0]], (10, 1))
    router = Router(DummyRegressor(strategy="constant", constant=[0.5, 0.5])).fit_rewards(np.zeros((10, 1)), rewards)
    assert list(router.sharpness_losses_.values()) == pytest.approx([0.5] * len(SHARPNESS_GRID))
    # One that always says 1 and 0: the wrong model has the share 1 / (1 + exp(sharpness)).
    router = Router(DummyRegressor(strategy="constant", constant=[1.0, 0.0])).fit_rewards(np.zeros((10, 1)), rewards)
    for sharpness, loss in router.sharpness_losses_.items():
        assert loss == pytest.approx(1 / (1 + np.exp(sharpness)))


def test_folds_are_drawn_from_the_random_state(lesson):
    first, same, other = (Router(KNeighborsRegressor(3), random_state=seed).fit(*lesson) for seed in (1, 1, 2))
    assert first.sharpness_losses_ == same.sharpness_losses_ != other.sharpness_losses_


def test_predicted_chances_stay_chances(lesson):
    """A line through 0 and 1 goes on beyond them."""
    rewards = Router(Ridge(), sharpness=5).fit(*lesson).rewards(np.array([[-100.0], [100.0]]))
    assert rewards.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("estimator", [RandomForestClassifier(5, random_state=0), Ridge(), SVR()])
def test_a_single_model_is_one_column(lesson, estimator):
    x, predictions, y = lesson
    rewards = Router(estimator, sharpness=5).fit(x, predictions[:, :1], y).rewards(x)
    assert rewards.shape == (200, 1)
    assert rewards[:50].mean() > rewards[-50:].mean()


def test_a_model_that_is_always_or_never_right_leaves_a_classifier_one_class(lesson):
    x, _, y = lesson
    router = Router(RandomForestClassifier(5, random_state=0), sharpness=5)
    always_never_sometimes = np.column_stack([y, y + 1, np.where(x[:, 0] < 0, y, y + 1)])
    rewards = router.fit(x, always_never_sometimes, y).rewards(x)
    assert (rewards[:, 0] == 1).all()
    assert (rewards[:, 1] == 0).all()
    assert rewards[0, 2] > 0.5 > rewards[-1, 2]


@pytest.mark.parametrize(
    "estimator",
    [
        MLPClassifier((8,), random_state=0),
        OneVsRestClassifier(LogisticRegression()),
        ClassifierChain(LogisticRegression()),
    ],
    ids=["network", "one versus rest", "chain"],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_classifier_may_say_all_chances_in_one_array(lesson, estimator):
    x, predictions, y = lesson
    router = Router(estimator, sharpness=5).fit(x, predictions, y)
    np.testing.assert_array_equal(router.rewards(x), router.estimator_.predict_proba(x))
    assert router.rewards(x)[:50, 0].mean() > router.rewards(x)[-50:, 0].mean()


def test_rows_in_portions_and_as_lists_give_the_same_advice(lesson, monkeypatch):
    x, predictions, y = lesson
    # No two neighbours are equally near.
    x = np.exp(x)
    whole = Router(KNeighborsRegressor(5)).fit(x, predictions, y)
    monkeypatch.setattr("cams.tables.CHUNK_ROWS", 7)
    for rows in (x, x.tolist(), pd.DataFrame(x, index=range(500, 700)), csr_matrix(x)):
        router = Router(KNeighborsRegressor(5)).fit(rows, predictions, y)
        assert router.sharpness_losses_ == whole.sharpness_losses_
        np.testing.assert_array_equal(router.advise(rows), whole.advise(x))


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
    with pytest.raises(NotFittedError):
        check_is_fitted(router)
    copy = clone(router.fit(*lesson))
    check_is_fitted(router)
    assert copy.get_params()["name"] == "near"
    assert copy.get_params()["estimator__n_neighbors"] == 3
    assert not hasattr(copy, "estimator_")
    copy.set_params(estimator__n_neighbors=7, sharpness=None, folds=4)
    assert (copy.estimator.n_neighbors, copy.sharpness, copy.folds) == (7, None, 4)
    assert router.estimator.n_neighbors == 3


def test_confidence_is_advice_without_training():
    sure, unsure = [[0.9, 0.1], [0.5, 0.5]], [[0.6, 0.4], [0.2, 0.8]]
    advice = confidence_advice([sure, unsure], sharpness=10)
    np.testing.assert_allclose(advice, sharpen(np.array([[0.9, 0.6], [0.5, 0.8]]), 10))
    np.testing.assert_array_equal(advice, confidence_advice([[0.9, 0.6], [0.5, 0.8]], sharpness=10))
    assert confidence_advice([[1.0, 0.0]], sharpness=1)[0] == pytest.approx([np.e / (1 + np.e), 1 / (1 + np.e)])


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
    assert bundle.labels.tolist() == y.tolist()
    assert bundle.policy_kinds == ["normal", "normal"]
    assert cams.Bundle.from_models(models, [], x, words[y]).num_policies == 0
    biased = clone(router).set_params(kind="biased").fit(x, answers, words[y])
    order, halves = ["dog", "cow", "cat"], np.arange(200) // 100
    other = cams.Bundle.from_models(models, [biased], x, words[y], classes=order, groups=halves)
    assert (other.classes, other.policy_kinds, other.groups.tolist()) == (order, ["biased"], halves.tolist())
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


ROWS, RIGHT = [[0.0], [1.0], [2.0]], [[1, 0], [0, 1], [1, 1]]


def fitted(estimator=None, **settings) -> Router:
    return Router(Ridge() if estimator is None else estimator, **settings).fit_rewards(ROWS, np.array(RIGHT))


class Column(Ridge):
    def predict(self, X):
        return np.zeros((len(X), 1), dtype=int)


class Loose(Column):
    name, kind = "loose", "normal"

    def check_models(self, names):
        pass

    def advise(self, X):
        return np.full((len(X), 3), 1 / 3)


def ask(models, routers=()):
    return cams.Bundle.from_models(models, routers, ROWS, [0, 0, 0])


BAD_INPUT = {
    "lengths": (lambda: Router(Ridge()).fit([[0.0]], [[1, 2], [1, 2]], [1, 2]), "got 1 rows X for 2 rows"),
    "labels": (lambda: Router(Ridge()).fit(ROWS, RIGHT, [[1], [1], [0]]), r"y of shape \(3, 1\)"),
    "no rows": (lambda: Router(Ridge()).fit([], np.empty((0, 2)), []), r"predictions of shape \(0, 2\)"),
    "words and numbers": (lambda: Router(Ridge()).fit(ROWS, [["1"], ["2"], ["1"]], [1, 2, 1]), "nobody could be right"),
    "one row": (lambda: Router(Ridge()).fit([[0.0]], [[1, 2]], [1]), "one row is too few"),
    "flat": (lambda: Router(Ridge()).fit([[0.0]], [1, 2], [1]), "predictions has 1 dimension"),
    "columns": (
        lambda: Router(Ridge()).fit([[0.0]], {"a": [1], "b": [1, 2]}, [1]),
        r"columns of different lengths: 'a' \(1,\), 'b' \(2,\)",
    ),
    "parameter": (lambda: Router(Ridge()).set_params(sharpnes=1), "no parameter 'sharpnes'; did you mean 'sharpness'"),
    "folds": (lambda: fitted(folds=1), "folds is 1, expected a whole number of at least 2"),
    "seed": (lambda: fitted(random_state=-1), "random_state is -1, expected a whole number"),
    "sharpness": (lambda: fitted(sharpness=-1), "sharpness is -1"),
    "estimator": (lambda: fitted(Ridge), "router 'router': .* cannot be fitted: Cannot clone object"),
    "one output": (lambda: fitted(SVR(), name="svr"), "router 'svr': SVR cannot be fitted: y should be a 1d array"),
    "other features": (lambda: fitted().advise([[1.0, 2.0]]), "Ridge cannot predict: X has 2 features"),
    "nothing asked": (lambda: fitted().advise(np.empty((0, 1))), "was asked about no rows"),
    "flat rewards": (lambda: Router(Ridge()).fit_rewards(ROWS, np.ones(3)), r"rewards of shape \(3,\)"),
    "rewards": (lambda: Router(Ridge()).fit_rewards(ROWS, np.full((3, 2), np.nan)), "rewards outside 0..1"),
    "names": (lambda: Router(Ridge()).fit_rewards(ROWS, np.ones((3, 2)), ["a"]), "got 1 names of 2 models"),
    "confidence": (lambda: confidence_advice([[1.2, 0.1]]), "values outside 0..1"),
    "negative confidence": (lambda: confidence_advice([[-0.1, 0.1]]), "values outside 0..1"),
    "no confidence": (lambda: confidence_advice([[np.nan, 0.1]]), "values outside 0..1"),
    "nobody": (lambda: confidence_advice([]), r"^probabilities is neither k arrays \(N, c\) nor one array \(N, k\)$"),
    "two kinds": (lambda: confidence_advice([[0.5], [[0.5]]]), "probabilities is neither"),
    "too deep": (lambda: confidence_advice([[[[0.5]]]]), "probabilities is neither"),
    "confidences": (lambda: confidence_advice([[[0.5]], [[0.5], [0.5]]]), "parts of 1 and of 2 rows"),
    "unsure": (lambda: Confidence({"a": Ridge()}).advise(ROWS), "model 'a' has no predict_proba"),
    "models": (lambda: ask([Column()]), "models is a list, expected a mapping"),
    "not trained": (lambda: ask({"a": Ridge()}), "model 'a' cannot predict these rows: This Ridge"),
    "model": (lambda: ask({"a": 3}), r"model 'a' \(int\) has no predict"),
    "probabilities": (lambda: ask({"a": fitted().estimator_}), r"model 'a' predicts an array of shape \(3, 2\)"),
    "router": (lambda: ask({"a": Column()}, [Ridge()]), r"routers\[0\] is a Ridge, expected a cams.Router"),
    "a single router": (lambda: ask({"a": Column()}, fitted()), "routers is a single router"),
    "advice": (lambda: ask({"a": Column()}, [Loose()]), r"'loose' gave advice of shape \(3, 3\), expected \(3, 1\)"),
}


def test_confidences_may_come_by_name():
    sure, unsure = [[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.6, 0.4]]
    by_name = confidence_advice({"a": sure, "b": unsure})
    np.testing.assert_array_equal(by_name, confidence_advice([sure, unsure]))
    assert by_name.argmax(axis=1).tolist() == [0, 1]


def test_models_may_answer_with_a_column():
    assert ask({"a": Column()}).predictions.tolist() == [[0], [0], [0]]


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_sentence(case):
    call, sentence = BAD_INPUT[case]
    with pytest.raises(cams.InputError, match=sentence):
        call()
