"""What was checked stays as it was, and what a replay found out about a bundle holds for the next one."""

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
