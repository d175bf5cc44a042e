"""What is said of bundles that do not fit together, word for word, and the least that a bundle may be."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cams

# Two models on three rows, one policy, three classes.
ARRAYS: dict[str, Any] = {
    "predictions": np.array([[0, 1], [2, 1], [1, 1]]),
    "labels": np.array([0, 1, 2]),
    "groups": np.array([0, 0, 1]),
    "num_classes": np.array(3),
    "classes": np.array(["a", "b", "c"]),
    "model_names": np.array(["small", "large"]),
    "advice": np.full((3, 1, 2), 0.5),
    "policy_names": np.array(["knn"]),
    "policy_kinds": np.array(["normal"]),
}


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("labels", np.array([0, 1]), "array 'labels' has shape (2,), expected (3)"),
        ("groups", np.array([[0, 0, 1]]), "array 'groups' has shape (1, 3), expected (3)"),
        ("num_classes", np.array([3]), "array 'num_classes' has shape (1,), expected ()"),
        ("classes", np.array([["a", "b", "c"]]), "array 'classes' has shape (1, 3), expected (any)"),
        ("model_names", np.array(["small"]), "array 'model_names' has shape (1,), expected (2)"),
        ("advice", np.full((3, 1, 3), 1 / 3), "array 'advice' has shape (3, 1, 3), expected (3, any, 2)"),
        ("policy_names", np.array("knn"), "array 'policy_names' has shape (), expected (any)"),
        ("policy_kinds", np.array("normal"), "array 'policy_kinds' has shape (), expected (any)"),
        ("classes", np.array(["a", "b"]), "classes has 2 entries, expected 3"),
    ],
)
def test_arrays_of_a_file_that_cannot_belong_together(name: str, array: Any, sentence: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", **ARRAYS)
    loaded = cams.Bundle.load(tmp_path / "b.npz")
    assert (loaded.classes, loaded.policy_names, loaded.num_rows) == (["a", "b", "c"], ["knn"], 3)
    np.savez(tmp_path / "b.npz", **{**ARRAYS, name: array})
    with pytest.raises(cams.InputError) as refused:
        cams.Bundle.load(tmp_path / "b.npz")
    assert str(refused.value) == f"{tmp_path / 'b.npz'}: {sentence}"


def test_a_file_without_predictions(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", labels=[0, 1])
    with pytest.raises(cams.InputError) as refused:
        cams.Bundle.load(tmp_path / "b.npz")
    assert str(refused.value) == f"{tmp_path / 'b.npz'}: this is not a bundle, it has no array 'predictions'"


WORDS = {"predictions": [["a", "b"], ["b", "b"]]}
NUMBERS = {"predictions": [[0, 1], [1, 1]], "labels": [0, 1]}
CASES: list[tuple[dict[str, Any], str]] = [
    ({**WORDS, "labels": ["a", "x"], "classes": ["a", "b"]}, "labels[1] is 'x', expected one of the classes 'a', 'b'"),
    ({**WORDS, "labels": [["a", "b"]]}, "labels has 2 dimension(s), expected 1"),
    ({**WORDS, "labels": ["a", None]}, "labels[1] is missing, expected a class"),
    ({**NUMBERS, "groups": np.ma.array([0, 1], mask=[0, 1])}, "groups has masked entries, expected a value in each"),
    # A zero before the fault is none.
    (
        {**NUMBERS, "advice": [[[1, 0]], [[1.5, -0.5]]]},
        "advice[1, 0, 1] is -0.5, expected a probability (policy 'policy_0')",
    ),
    ({**NUMBERS, "predictions": [[0, 0.5], [1, 1]]}, "predictions[0, 1] is 0.5, expected a whole number"),
    (
        {**NUMBERS, "predictions": [[0, 2**31 - 1], [1, 1]]},
        f"predictions[0, 1] is {2**31 - 1}, expected at most {2**31 - 2}",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_what_is_said_of_arrays_that_do_not_fit(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(cams.InputError) as refused:
        cams.Bundle(**given)
    assert str(refused.value) == sentence


def test_the_least_and_the_largest_class() -> None:
    assert cams.Bundle(predictions=[[0]]).num_classes == 1
    assert cams.Bundle(predictions=[[0]], labels=[4]).num_classes == 5
    assert cams.Bundle(predictions=[[2**31 - 2]]).num_classes == 2**31 - 1
    # A class that nobody names has its number all the same; a model that is silent makes no class.
    assert cams.Bundle(predictions=[["a"]], classes=["a", "b", "c"]).num_classes == 3
    assert cams.Bundle(predictions=[[0, None]], labels=[0]).num_classes == 1


def test_a_bundle_without_advice_is_as_small_as_one_with_it() -> None:
    assert cams.Bundle(predictions=[[0, 1]]).advice.dtype == np.float32
    assert cams.Bundle(predictions=[[0, 1]]).advice.shape == (1, 0, 2)


@pytest.mark.parametrize("given", [{}, {"which": [0], "kinds": ["normal"]}])
def test_policies_are_selected_in_one_way(given: dict[str, Any]) -> None:
    with pytest.raises(cams.InputError, match=r"^select_policies takes either positions or kinds$"):
        cams.Bundle(predictions=[[0, 1]]).select_policies(**given)


def test_no_position_is_no_policy() -> None:
    bundle = cams.Bundle(predictions=[[0, 1]], advice=np.full((1, 2, 2), 0.5), policy_names=["a", "b"])
    assert bundle.select_policies([]).policy_names == []
    assert bundle.select_policies(np.array([1])).policy_names == ["b"]
