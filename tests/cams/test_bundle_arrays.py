"""What was checked stays as it was, and what a replay found out about a bundle holds for the next one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cams
from cams.engine.hindsight import unknown_verdicts


@pytest.mark.parametrize("name", ["predictions", "labels", "advice", "groups"])
def test_arrays_of_a_bundle_cannot_be_written_to(make_bundle: Any, name: str) -> None:
    made = make_bundle(rows=6, k=3, n=2, c=3)
    bundle = cams.Bundle(
        predictions=made.predictions, labels=made.labels, advice=made.advice, groups=np.zeros(6), num_classes=3
    )
    with pytest.raises(ValueError, match="read-only"):
        getattr(bundle, name)[0] = 77


@pytest.mark.parametrize("name", ["predictions", "labels", "advice", "groups"])
def test_what_a_bundle_was_made_from_stays_its_owners(name: str) -> None:
    given: dict[str, Any] = {
        "predictions": np.array([[0, 1]], dtype=np.int32),
        "labels": np.array([1], dtype=np.int32),
        "advice": np.array([[[0.5, 0.5]]]),
        "groups": np.array([4]),
    }
    bundle = cams.Bundle(**given)
    before = getattr(bundle, name).copy()
    given[name][0] = 9
    np.testing.assert_array_equal(getattr(bundle, name), before)


@pytest.mark.parametrize("regularize", [False, True])
def test_a_second_replay_of_a_bundle_counts_as_the_first_did(make_bundle: Any, regularize: bool) -> None:
    bundle = make_bundle(rows=50, k=4, n=3, c=3)

    def losses(of: cams.Bundle, seed: int) -> Any:
        result = cams.replay(
            of, ["cams"], horizon=30, budgets=[5], realizations=2, seed=seed, regularize=regularize
        )  # fmt: skip
        return result.policy_losses

    losses(bundle, 0)
    known = bundle.verdicts != unknown_verdicts(1, 1)[0, 0]
    # Regularised advice is other advice, of which the bundle is told nothing.
    assert known.any() != regularize
    unused = bundle.select_policies(range(bundle.num_policies))
    np.testing.assert_array_equal(losses(bundle, 1), losses(unused, 1))


def test_a_bundle_without_labels_is_not_for_replays() -> None:
    with pytest.raises(cams.InputError, match=r"^a bundle without labels cannot be replayed$"):
        cams.Bundle(predictions=[[0, 1]]).whole()


@pytest.mark.parametrize("name", ["num_classes", "model_names", "policy_names", "policy_kinds"])
@pytest.mark.parametrize("stored", [False, True])
def test_what_is_said_of_a_bundle_cannot_be_changed(make_bundle: Any, tmp_path: Path, name: str, stored: bool) -> None:
    """A smaller number of classes would let compiled code write beside its arrays."""
    bundle: Any = make_bundle(rows=6, k=3, n=2, c=3)
    if stored:
        for array in ("predictions", "labels", "advice"):
            np.save(tmp_path / f"{array}.npy", getattr(bundle, array))
        (tmp_path / "bundle.json").write_text('{"num_classes": 3}')
        bundle = cams.StoredBundle(tmp_path)
    before = getattr(bundle, name)
    with pytest.raises(AttributeError, match=f"'{name}'"):
        setattr(bundle, name, 1)
    if isinstance(before, list):
        getattr(bundle, name).append("another")
    assert getattr(bundle, name) == before


def test_the_names_in_a_replay_are_its_own(make_bundle: Any) -> None:
    bundle = make_bundle(rows=6, k=3, n=2, c=3)
    played = cams.replay(bundle, ["rs"], horizon=6, budgets=[1], realizations=1, seed=0)
    played.model_names.append("another")
    played.policy_names.clear()
    assert (len(bundle.model_names), len(bundle.policy_names)) == (3, 2)
