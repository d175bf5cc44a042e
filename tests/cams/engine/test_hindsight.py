"""Mistakes in hindsight, counted as a reader would: every policy's favourite, every model, who follows a model."""

from typing import Any

import numpy as np
import pytest

from cams.engine.hindsight import count_losses, new_count, unknown_verdicts
from cams.engine.state import Stream
from cams.learners.base import among_answers, pick_tied
from cams.randomness import TIE

ROUNDS, ROWS, BEFORE, N, K, CLASSES = 60, 40, 100, 6, 5, 3
GRID = np.array([BEFORE + 1, BEFORE + 20, BEFORE + 50, BEFORE + ROUNDS - 2])  # rounds go on behind the last of it


def _stream(dtype: Any, gaps: bool) -> Stream:
    """Advice of which much ties, and some goes to models that have no answer, or nearly all of it."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, CLASSES, ROWS).astype(np.int32)
    votes = rng.integers(0, CLASSES, (ROWS, K)).astype(np.int32)
    if gaps:
        silent = rng.random((ROWS, K)) < 0.4
        silent[np.arange(ROWS), rng.integers(0, K, ROWS)] = False
        votes[silent] = -1
    advice = rng.integers(0, 4, (ROWS, N, K)) + 10.0 ** -rng.integers(20, 40, (ROWS, N, K))
    advice = (advice / advice.sum(axis=2, keepdims=True)).astype(dtype)
    return Stream(
        rng.integers(0, ROWS, ROUNDS), votes, labels, advice, rng.random((ROUNDS, 4)), CLASSES, 1.0, 0.0,
        before=BEFORE, after=7, gaps=gaps,
    )  # fmt: skip


def _by_hand(stream: Stream) -> list[Any]:
    """Return (T, n), (T, k) and (T, k): who is wrong on each round."""
    policies, models, followers = [], [], []
    for row, uniforms in zip(stream.rows, stream.uniforms, strict=True):
        votes, label, tie = stream.predictions[row], stream.labels[row], uniforms[TIE]
        wrong, advice = votes != label, stream.advice[row].astype(float)
        policies.append([wrong[pick_tied(each, tie)] for each in among_answers(advice, votes)])
        models.append(wrong)
        followers.append([wrong[pick_tied(each, tie)] for each in among_answers(np.eye(K), votes)])
    return [np.cumsum(each, axis=0)[GRID - BEFORE - 1] for each in (policies, models, followers)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gaps", [False, True])
def test_mistakes_are_counted_as_by_hand(dtype: Any, gaps: bool) -> None:
    stream, verdicts = _stream(dtype, gaps), unknown_verdicts(ROWS, N)
    by_policy, by_model, by_follower = _by_hand(stream)
    # Twice: what the first time has found out of rows is used the second time.
    for _ in range(2):
        found = [np.zeros((GRID.size, size), dtype=np.int64) for size in (N, K, K)]
        count = new_count(N, K, dtype)
        for first, last in ((0, 30), (30, ROUNDS)):
            count_losses(stream, verdicts, GRID, *found, count, first, last)
        np.testing.assert_array_equal(found[0], by_policy)
        np.testing.assert_array_equal(found[1], by_model)
        np.testing.assert_array_equal(found[2], by_follower if gaps else 0)
