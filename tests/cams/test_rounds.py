"""The protocol one round at a time: which label is read, and when a stream ends."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cams


def _learner(bundle: cams.Bundle) -> cams.learners.Learner:
    return cams.make_learner(
        "cams_nonactive", num_models=bundle.num_models, num_policies=bundle.num_policies, num_classes=bundle.num_classes
    )


@pytest.fixture
def bundle(make_bundle: Any) -> cams.Bundle:
    made: cams.Bundle = make_bundle(rows=9)
    return made


def test_a_bundle_without_labels_cannot_be_played(bundle: cams.Bundle) -> None:
    unlabelled = cams.Bundle(predictions=bundle.predictions, advice=bundle.advice, num_classes=3)
    with pytest.raises(cams.InputError, match=r"^a bundle without labels cannot be played$"):
        next(cams.play(_learner(bundle), unlabelled, [0], np.zeros((1, 4))))


@pytest.mark.parametrize(("rows", "draws"), [(4, 4), (4, 9), (9, 4)])
def test_a_stream_ends_with_its_rows_or_its_uniforms(bundle: cams.Bundle, rows: int, draws: int) -> None:
    played = list(cams.play(_learner(bundle), bundle, range(rows), np.zeros((draws, 4))))
    assert [one.row for one in played] == [0, 1, 2, 3]


def test_no_row_is_asked_for_after_the_last_uniforms(bundle: cams.Bundle) -> None:
    """Rows may come from an adversary that goes on for ever, and chooses the next one when the last is over."""
    chosen: list[int] = []

    def adversary() -> Iterator[int]:
        for row in itertools.cycle(range(9)):
            chosen.append(row)
            yield row

    for rounds, _ in enumerate(cams.play(_learner(bundle), bundle, adversary(), np.full((3, 4), 0.5)), start=1):
        assert chosen == list(range(rounds))
    assert chosen == [0, 1, 2]


def test_labels_are_bought_while_the_budget_lasts(bundle: cams.Bundle) -> None:
    draws = np.full((9, 4), 0.5)
    bought = [one.label for one in cams.play(_learner(bundle), bundle, range(9), draws, budget=2)]
    assert bought == [*bundle.labels[:2], *[None] * 7]
    assert [one.label for one in cams.play(_learner(bundle), bundle, range(9), draws)] == bundle.labels.tolist()
