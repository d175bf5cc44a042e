"""Bad input from Python: every call gets one sentence that names the thing, its place and what was expected.

One line a case: the call, and all that it may say.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import cams

VOTES = np.array([[0, 1], [2, 1], [1, 1]])
LABELS = np.array([0, 1, 2])
ADVICE = np.array([[[0.5, 0.5]], [[0.25, 0.75]], [[1.0, 0.0]]])


def bundle(**changes: Any) -> cams.Bundle:
    return cams.Bundle(**{"predictions": VOTES, "labels": LABELS, "advice": ADVICE, **changes})


def replay(**changes: Any) -> cams.Replay:
    usual = {"learners": ["rs"], "horizon": 3, "budgets": [1], "realizations": 2, "seed": 0}
    return cams.replay(**{"bundle": bundle(), **usual, **changes})


def changed(array: Any, at: Any, value: Any) -> Any:
    copy = np.array(array)
    copy[at] = value
    return copy


def case(call: Callable[..., Any], **arguments: Any) -> Callable[[], Any]:
    return partial(call, **arguments)


CASES: list[tuple[Callable[[], Any], str]] = [
    # ---- shapes ----
    (case(bundle, predictions=[0, 1, 2]), "predictions has 1 dimension(s), expected 2, rows and models"),
    (case(bundle, labels=[[0], [1], [2]]), "labels has 2 dimension(s), expected 1"),
    (case(bundle, labels=[0, 1]), "labels has 2 rows, expected 3 as in predictions"),
    (
        case(bundle, predictions=np.zeros((0, 2), int)),
        "predictions has shape (0, 2), expected at least one row and one model",
    ),
    (
        case(bundle, predictions=np.zeros((3, 0), int)),
        "predictions has shape (3, 0), expected at least one row and one model",
    ),
    (case(bundle, advice=np.full((3, 2), 0.5)), "advice has shape (3, 2), expected (3, n, 2) to match predictions"),
    (case(bundle, advice=ADVICE[:2]), "advice has shape (2, 1, 2), expected (3, n, 2) to match predictions"),
    (
        case(bundle, advice=np.full((3, 1, 3), 1 / 3)),
        "advice has shape (3, 1, 3), expected (3, n, 2) to match predictions",
    ),
    (case(bundle, groups=[0, 1]), "groups has shape (2,), expected (3,)"),
    (
        case(bundle, predictions=[[0, 1], [2], [1, 1]]),
        "predictions is not an array: its rows differ in length or it holds no numbers",
    ),
    (
        case(bundle, advice=[[[0.5, 0.5]], [[1.0]], [[1.0, 0.0]]]),
        "advice is not an array: its rows differ in length or it holds no numbers",
    ),
    # ---- classes ----
    (case(bundle, labels=[0, 3, 2], num_classes=3), "labels[1] is 3, expected a class in 0..2"),
    (case(bundle, labels=[-1, 0, 2]), "labels[0] is -1, expected a class in 0..2"),
    (case(bundle, labels=[0, 1, 1], num_classes=2), "predictions[1, 0] is 2, expected a class in 0..1"),
    (case(bundle, labels=[0.0, 1.0, 2.5]), "labels[2] is 2.5, expected a whole number"),
    (case(bundle, labels=[0.0, np.inf, 2.0]), "labels[1] is inf, expected a whole number"),
    (case(bundle, labels=["a", "b", "c"]), "predictions are numbers and labels are not, so nobody could be right"),
    (case(bundle, labels=[None, 1, 2]), "labels has type object, expected whole numbers"),
    (
        case(bundle, labels=[0, 1, 2], classes=["a", "b"]),
        "predictions[0, 0] is 0, expected one of the classes 'a', 'b'",
    ),
    (case(bundle, classes=[0, 1, 2], num_classes=2), "num_classes is 2, but there are 3 classes"),
    (
        case(bundle, predictions=[["a", "b"], ["b", "b"], ["a", "a"]], labels=["a", "b", None]),
        "labels[2] is missing, expected a class",
    ),
    (case(bundle, labels=np.ma.array(LABELS, mask=[0, 1, 0])), "labels has masked entries, expected a value in each"),
    (case(bundle, labels=[0, 2**40, 1]), "labels[1] is 1099511627776, expected at most 2147483646"),
    (case(bundle, labels=[0, 1e300, 1]), "labels[1] is 1e+300, expected at most 2147483646"),
    (
        case(bundle, labels=np.full(3, 2**64 - 1, np.uint64)),
        f"labels[0] is {2**64 - 1}, expected at most {2**31 - 2}",
    ),
    (case(bundle, num_classes=0), "num_classes is 0, expected a whole number of at least 1"),
    (case(bundle, num_classes=4.7), "num_classes is 4.7, expected a whole number"),
    (case(bundle, num_classes="3"), "num_classes is '3', expected a whole number"),
    (case(bundle, num_classes=2**31), "num_classes is 2147483648, expected a whole number from 1 to 2147483647"),
    # ---- advice ----
    (
        case(bundle, advice=changed(ADVICE, (1, 0, 1), np.nan), policy_names=["knn"]),
        "advice[1, 0, 1] is nan, expected a probability (policy 'knn')",
    ),
    (
        case(bundle, advice=changed(ADVICE, (2, 0, 0), np.inf)),
        "advice[2, 0, 0] is inf, expected a probability (policy 'policy_0')",
    ),
    (
        case(bundle, advice=changed(ADVICE, (1, 0), [-0.25, 1.25])),
        "advice[1, 0, 0] is -0.25, expected a probability (policy 'policy_0')",
    ),
    (
        case(bundle, advice=changed(ADVICE, (1, 0), [0.43, 0.5]), policy_names=["knn"]),
        "advice[1, 0] sums to 0.93, expected 1 (policy 'knn')",
    ),
    (case(bundle, advice=changed(ADVICE, 0, 0.0)), "advice[0, 0] sums to 0, expected 1 (policy 'policy_0')"),
    (case(bundle, advice=changed(ADVICE, 0, 1e308)), "advice[0, 0] sums to inf, expected 1 (policy 'policy_0')"),
    (case(bundle, advice=ADVICE.astype("U3")), "advice has type <U3, expected real numbers"),
    (case(bundle, advice=ADVICE.astype(object)), "advice has type object, expected real numbers"),
    (case(bundle, advice=ADVICE.astype(complex)), "advice has type complex128, expected real numbers"),
    # ---- names ----
    (case(bundle, model_names=["a", "b", "c"]), "model_names has 3 names, expected 2"),
    (case(bundle, model_names="ab"), "model_names has 0 dimension(s), expected 1"),
    (case(bundle, model_names=[["a"], ["b"]]), "model_names has 2 dimension(s), expected 1"),
    (case(bundle, model_names=["a", "a"]), "model_names has the name 'a' twice"),
    (case(bundle, model_names=[b"a", b"b"]), "model_names holds bytes, expected text"),
    (case(bundle, policy_names=[]), "policy_names has 0 names, expected 1"),
    (case(bundle, policy_kinds="normal"), "policy_kinds has 0 dimension(s), expected 1"),
    (case(bundle, policy_kinds=["normal", "random"]), "policy_kinds has 2 entries, expected 1"),
    (
        case(bundle, policy_kinds=["evil"]),
        "policy_kinds[0] is 'evil', expected one of normal, malicious, random, biased",
    ),
    # ---- replays ----
    (case(replay, horizon=2.5), "horizon is 2.5, expected a whole number"),
    (case(replay, horizon=True), "horizon is True, expected a whole number"),
    (case(replay, realizations=2.5), "realizations is 2.5, expected a whole number"),
    (case(replay, realizations="2"), "realizations is '2', expected a whole number"),
    (case(replay, seed=None), "seed is None, expected a whole number"),
    (case(replay, n_jobs=0), "n_jobs is 0, expected a whole number of at least 1"),
    (case(replay, budgets=[12.5]), "budgets[0] is 12.5, expected a whole number"),
    (case(replay, budgets=[2**64 - 1]), f"budgets[0] is {2**64 - 1}, expected at most {2**63 - 1}"),
    (case(replay, budgets=[2**64]), "budgets has type object, expected whole numbers"),
    (case(replay, budgets=[[1], [2, 3]]), "budgets is not an array: its rows differ in length or it holds no numbers"),
    (
        case(replay, trace=np.array([3, 2], np.uint64)),
        "trace must list rounds between 1 and 3 in ascending order",
    ),
    (case(replay, learners=None), "learners is None, expected a list"),
    (case(replay, learners=[5]), "learner 5 is no name, no pair (name, settings) and no mapping with a name"),
    (
        case(replay, learners=[("rs",)]),
        "learner ('rs',) is no name, no pair (name, settings) and no mapping with a name",
    ),
    (case(replay, learners=[{"name": 5}]), "learner {'name': 5} has no name"),
    (
        case(replay, bundle="drift.npz"),
        "expected a Bundle, not str; cams.Bundle.load reads one from a file",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_bad_input_is_refused_in_these_words(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(cams.InputError) as caught:
        call()
    assert str(caught.value) == sentence


def test_whole_floats_are_class_numbers() -> None:
    exact = bundle(predictions=VOTES.astype(np.float16), labels=LABELS * 1.0, num_classes=3.0)
    assert (exact.predictions.dtype, exact.labels.dtype, exact.num_classes) == (np.int32, np.int32, 3)
    np.testing.assert_array_equal(exact.predictions, VOTES)


def test_whole_floats_are_counts() -> None:
    np.testing.assert_array_equal(replay(horizon=3.0, budgets=[2.0], realizations=2.0).loss, replay(budgets=[2]).loss)


def test_the_callers_arrays_are_not_the_bundles() -> None:
    given = {"predictions": VOTES.astype(np.int32), "labels": LABELS.astype(np.int32), "advice": ADVICE.copy()}
    given["groups"] = np.arange(3)
    made = cams.Bundle(**given)
    for name, array in given.items():
        before = getattr(made, name).copy()
        array[:] = 99
        np.testing.assert_array_equal(getattr(made, name), before)


@pytest.mark.parametrize("value", [3, ["rounds"]])
def test_a_rule_is_named_by_a_word(value):
    with pytest.raises(cams.InputError, match=f"there is no rate rule '{re.escape(str(value))}'"):
        cams.make_learner("cams", num_models=2, num_policies=1, num_classes=2, rate_rule=value)
