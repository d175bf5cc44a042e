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
from cams import bounds
from tests.cams.three_rows import ADVICE, LABELS, VOTES, bundle, replay


def changed(array: Any, at: Any, value: Any) -> Any:
    copy = np.array(array)
    copy[at] = value
    return copy


def case(call: Callable[..., Any], **arguments: Any) -> Callable[[], Any]:
    return partial(call, **arguments)


class Model:
    """Has answers for three rows, whatever it is asked."""

    def predict(self, X: Any) -> Any:
        return LABELS

    def predict_proba(self, X: Any) -> Any:
        raise ValueError("too few\ncolumns")


def learner(name: str = "cams", **changes: Any) -> cams.learners.Learner:
    return cams.make_learner(name, **{"num_models": 2, "num_policies": 1, "num_classes": 3, **changes})


def fitted(**changes: Any) -> cams.Router:
    return cams.Router(None).fit(**{"X": VOTES, "predictions": VOTES, "y": LABELS, **changes})


BEYOND_64_BITS = f"budgets[0] is {2**64}, expected a whole number of at most {2**63 - 1} in size"
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
    (case(bundle, labels=[None, 1, 2]), "labels[0] is missing, expected a class"),
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
    (case(bundle, advice=np.full(ADVICE.shape, None)), "advice has type object, expected real numbers"),
    (case(bundle, advice=ADVICE.astype(complex)), "advice has type complex128, expected real numbers"),
    # ---- names ----
    (case(bundle, model_names=["a", "b", "c"]), "model_names has 3 names, expected 2"),
    (case(bundle, model_names="ab"), "model_names has 0 dimension(s), expected 1"),
    (case(bundle, model_names=[["a"], ["b"]]), "model_names has 2 dimension(s), expected 1"),
    (case(bundle, model_names=["a", "a"]), "model_names has the name 'a' twice"),
    (case(bundle, model_names=[b"a", b"b"]), "model_names[0] is b'a', expected a name"),
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
    (case(replay, budgets=[2**64]), BEYOND_64_BITS),
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
    (case(replay, order=[[0, 1], [0]]), "order is not an array: its rows differ in length or it holds no numbers"),
    (
        case(replay, order=np.ma.array([[0, 1, 2]] * 2, mask=[[0, 1, 0]] * 2)),
        "order has masked entries, expected a value in each",
    ),
    (case(replay, progress="yes"), "progress is 'yes', expected true, false or None"),
    (
        case(replay, learners=[{"name": "rs", "label": "best_model"}]),
        "learner label 'best_model' is what the summary calls a reference, give it another",
    ),
    (
        case(replay, realizations=10**15),
        "the results of 1000000000000000 realizations at 1 budgets and 1 rounds do not fit into memory",
    ),
    (
        lambda: replay(bundle=bundle(labels=[0, 1, 2**31 - 2])),
        "the bundle has 2147483647 classes, a replay can have 10000000",
    ),
    (case(bundle, classes=3), "classes is 3, expected a list of classes"),
    (
        case(bundle, model_names=[["a"], ["b", "c"]]),
        "model_names is not an array: its rows differ in length or it holds no numbers",
    ),
    (
        case(bundle, predictions={"a": 1, "b": 2}),
        "predictions has columns without rows, expected one class per row",
    ),
    # ---- files ----
    (case(cams.Bundle.load, path=None), "the file's name is None, expected text or a path"),
    (case(cams.Selector.load, path=5), "the file's name is 5, expected text or a path"),
    (case(cams.Bundle.load, path=""), "'' is no name of a file"),
    (case(cams.Bundle.load, path="/dev/zero"), "/dev/zero is not a readable .npz file: it is no plain file"),
    (case(cams.StoredBundle, folder=None), "the folder's name is None, expected text or a path"),
    (lambda: bundle().save(None), "the file's name is None, expected text or a path"),
    (lambda: bundle().save(""), "'' is no name of a file"),
    (lambda: bundle().save("."), "'.' is no name of a file"),
    (lambda: bundle().save("a\0b"), "'a\\x00b' is no name of a file"),
    (lambda: replay().plot(5), "the file's name is 5, expected text or a path"),
    # ---- parts of a replay ----
    (lambda: cams.Replay.joined([]), "joined takes a list of one replay or more"),
    (lambda: cams.Replay.joined(replay()), "joined takes a list of one replay or more"),
    (
        lambda: cams.Replay.joined([replay(), replay(budgets=[2])]),
        "part 1 differs from part 0 in its budgets, so they cannot be joined",
    ),
    (
        lambda: cams.Replay.joined([replay(), replay(learners=["mp"])]),
        "part 1 differs from part 0 in its learners, so they cannot be joined",
    ),
    (
        lambda: cams.Replay.joined([replay(), replay(horizon=2)]),
        "part 1 differs from part 0 in its horizon, so they cannot be joined",
    ),
    (
        lambda: cams.Replay.joined([replay(), replay(seed=7)]),
        "part 1 differs from part 0 in its seed, so they cannot be joined",
    ),
    (
        lambda: cams.Replay.joined([replay(realizations=3), replay(first_realization=2)]),
        "realization 2 is in several parts; each part needs a first_realization of its own",
    ),
    # ---- learners by hand ----
    (case(learner, num_models=0), "num_models is 0, expected a whole number of at least 1"),
    (case(learner, num_models=2.5), "num_models is 2.5, expected a whole number"),
    (case(learner, num_policies=-1), "num_policies is -1, expected a whole number of at least 0"),
    (case(learner, num_classes="2"), "num_classes is '2', expected a whole number"),
    (case(learner, name="rs", horizon=0, budget=1), "horizon is 0, expected a whole number of at least 1"),
    (case(learner, name="rs", horizon=5, budget=-1), "budget is -1, expected a whole number of at least 0"),
    (
        case(learner, name="oracle", policy=77),
        "learner 'oracle': policy is 77, expected a whole number from 0 to 2",
    ),
    (
        case(learner, name="cams_adversarial", horizon=5, rho=np.array(["proof", "label"])),
        "learner 'cams_adversarial': rho is '['proof' 'label']', expected 'proof' or 'label'",
    ),
    (
        lambda: list(cams.play("cams", bundle(), [0], np.zeros((1, 4)))),
        "expected a learner, not 'cams'; cams.make_learner makes one",
    ),
    (case(learner, regularize="yes"), "regularize is 'yes', expected True or False"),
    (
        case(learner, num_models=10**14),
        "learner 'cams': 100000000000000 models and 1 policies are too many",
    ),
    (
        case(learner, name="exp3", weigh=np.array(["models", "policies"])),
        "learner 'exp3': there is no way to weigh '['models' 'policies']'",
    ),
    (
        lambda: list(cams.play(learner(), "mine.npz", [0], np.zeros((1, 4)))),
        "expected a Bundle, not str; cams.Bundle.load reads one from a file",
    ),
    *(
        (case(learner, **{switch: "yes"}), f"{switch} is 'yes', expected True or False")
        for switch in ("regularize", "scaled")
    ),
    (lambda: list(cams.play(learner(), bundle(), None, np.zeros((1, 4)))), "rows is None, expected one after another"),
    (lambda: list(cams.play(learner(), bundle(), [0], None)), "uniforms is None, expected one after another"),
    (
        lambda: list(cams.play(learner(), bundle(), [0], np.zeros((1, 4)), budget=-1)),
        "budget is -1, expected a whole number of at least 0",
    ),
    (lambda: list(cams.play(learner(), bundle(), [True], np.zeros((1, 4)))), "row is True, expected a whole number"),
    (lambda: list(cams.play(learner(), bundle(), [0.5], np.zeros((1, 4)))), "row is 0.5, expected a whole number"),
    *(
        (
            lambda draws=draws: list(cams.play(learner(), bundle(), [0], [draws])),
            f"the uniforms of a round are {draws!r}, expected four numbers from 0 to below 1",
        )
        for draws in (0.5, [0.5] * 3, [0.5, 0.5, 0.5, np.nan], [0.5, 0.5, 0.5, 1.0])
    ),
    *(
        (
            lambda what=what: list(cams.play(learner(**{what: 9}), bundle(), [0], np.zeros((1, 4)))),
            f"the learner was made for {what} 9, and the bundle has {found}",
        )
        for what, found in (("num_models", 2), ("num_policies", 1), ("num_classes", 3))
    ),
    *(
        (
            lambda row=row: list(cams.play(learner(), bundle(), [row], np.zeros((1, 4)))),
            f"row {row} is not in the bundle, which has 3",
        )
        for row in (-1, 3, -(2**63))
    ),
    # ---- models, routers, confidences ----
    (
        case(cams.Bundle.from_models, models={"a": Model}, routers=[], X=VOTES),
        "model 'a' is the class Model, expected a trained model of it",
    ),
    (
        case(cams.Bundle.from_models, models={"a": Model()}, routers=[], X=np.zeros((9, 2))),
        "model 'a' predicts 3 classes for 9 rows",
    ),
    (
        case(cams.Bundle.from_models, models={"a": Model()}, routers=None, X=VOTES),
        "routers is None, expected a list of routers",
    ),
    (case(fitted, y=[0, 1, None]), "router 'router': y[2] is missing, expected a class"),
    (case(fitted, y=[0, 1, np.nan]), "router 'router': y[2] is missing, expected a class"),
    (case(fitted, X=None), "X is None, expected rows"),
    (
        lambda: cams.Router(None).fit_rewards(VOTES, np.full((3, 2), "a")),
        "router 'router' got rewards of type <U1, expected real numbers",
    ),
    (
        lambda: cams.Router(None).fit_rewards(VOTES, np.zeros((3, 2)), "ab"),
        "router 'router' got model_names 'ab', expected a list of names",
    ),
    (
        lambda: cams.Router(None).fit_rewards(VOTES, np.zeros((3, 2)), ["a", "a"]),
        "router 'router': model_names has the name 'a' twice",
    ),
    (case(cams.Confidence, models=[1]), "models is a list, expected a mapping from names to models"),
    (
        case(cams.Confidence, models={}, sharpness=np.nan),
        "sharpness is nan, expected a number from 0 to 1e+09",
    ),
    (
        lambda: cams.Confidence({"a": Model()}).advise(VOTES),
        "policy 'confidence': model 'a' cannot predict these rows: too few columns",
    ),
    *(
        (
            case(cams.confidence_advice, probabilities=given),
            "probabilities is neither k arrays (N, c) nor one array (N, k)",
        )
        for given in (None, 3, "abc", [["a", "b"]], [np.zeros((3, 0))])
    ),
    (
        case(cams.confidence_advice, probabilities=[[[0.5, 0.5]]], sharpness=None),
        "sharpness is None, expected a number",
    ),
    # ---- bounds ----
    *(
        (case(bounds.exp3_regret, horizon=value, num_models=4), f"horizon is {value!r}, expected a finite number")
        for value in (None, "5", np.nan, np.inf, True)
    ),
    *(
        (
            case(bounds.exp3_regret, horizon=value, num_models=4),
            "horizon is beyond reach, expected a number from 1e-60 to 1e+60 in size",
        )
        for value in (10**400, 1e61, -1e61, 1e-61)
    ),
    (case(bounds.exp3_regret, horizon=9, num_models=0), "num_models is 0, expected at least 1"),
    (
        case(bounds.cams_stochastic_queries, horizon=9, regret=1, best_error=-1, num_classes=3),
        "best_error is -1, expected at least 0",
    ),
    (
        case(bounds.cams_adversarial_regret, horizon=9, num_extended=0, num_classes=2, rho=0.5),
        "num_extended is 0, expected at least 1",
    ),
    (
        case(bounds.model_picker_stochastic_regret, gaps=None, disagreements=[0.1]),
        "gaps and disagreements are lists, one entry per suboptimal model",
    ),
    (
        case(bounds.model_picker_stochastic_regret, gaps=np.array(0.1), disagreements=[0.1]),
        "gaps and disagreements are lists, one entry per suboptimal model",
    ),
    (
        case(bounds.model_picker_stochastic_regret, gaps=[np.nan], disagreements=[0.1]),
        "gap is nan, expected a finite number",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), CASES, ids=[sentence.replace("\\", "") for _, sentence in CASES])
def test_bad_input_is_refused_in_these_words(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(cams.InputError) as caught:
        call()
    assert str(caught.value) == sentence


def test_whole_floats_are_class_numbers() -> None:
    exact = bundle(predictions=VOTES.astype(np.float16), labels=LABELS * 1.0, num_classes=3.0)
    assert (exact.predictions.dtype, exact.labels.dtype, exact.num_classes) == (np.int32, np.int32, 3)
    np.testing.assert_array_equal(exact.predictions, VOTES)


def test_as_many_classes_as_a_replay_can_have() -> None:
    played = replay(bundle=bundle(labels=[0, 1, 10**7 - 1]))
    assert played.loss.min() >= 1, "no model says the last class"


def test_whole_floats_are_counts() -> None:
    np.testing.assert_array_equal(replay(horizon=3.0, budgets=[2.0], realizations=2.0).loss, replay(budgets=[2]).loss)


@pytest.mark.parametrize("value", [3, ["rounds"]])
def test_a_rule_is_named_by_a_word(value):
    with pytest.raises(cams.InputError, match=f"there is no rate rule '{re.escape(str(value))}'"):
        cams.make_learner("cams", num_models=2, num_policies=1, num_classes=2, rate_rule=value)
