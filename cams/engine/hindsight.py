"""What every single policy and every single model would have lost on a realization."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cams.engine.answers import count_answers, keep_advice_to_answers
from cams.engine.arithmetic import copy_row, pick_tied, tie_bar
from cams.engine.compiled import Array, compiled, compiled_making_arrays
from cams.engine.instructions import larger
from cams.randomness import TIE

_TIED = -1


@compiled
def favourite_models(advice: Array, favourites: Array) -> None:
    """Write each policy's favourite model at each row to favourites (N, n), -1 where several tie."""
    num_rows, n, k = advice.shape
    for row in range(num_rows):
        for i in range(n):
            top = advice[row, i, 0]
            for j in range(k):
                top = larger(top, advice[row, i, j])
            # In the advice's own type, for speed: single precision has no number between the bar and the top.
            bar = advice.dtype.type(tie_bar(top))
            near, place = np.int32(0), np.int32(0)
            for j in range(np.int32(k)):
                is_near = np.int32(advice[row, i, j] >= bar)
                near += is_near
                place += is_near * j
            favourites[row, i] = place if near == 1 else _TIED


@compiled
def _pick(advice: Array, votes: Array, uniform: float, scores: Array) -> int:
    """Return the model that advice (k,) favours among those that answer; scores (k,) is work space."""
    copy_row(advice, scores)
    keep_advice_to_answers(votes, scores)
    return pick_tied(scores, uniform)


@compiled_making_arrays
def favourite_answers(advice: Array, predictions: Array, favourites: Array) -> None:
    """As `favourite_models`, for the rows on which some models have no answer; the others stay as they are."""
    num_rows, n, k = advice.shape
    scores = np.zeros(k)
    for row in range(num_rows):
        votes = predictions[row]
        if count_answers(votes) == k:
            continue
        for i in range(n):
            model = _pick(advice[row, i], votes, 0.0, scores)
            # Where several tie, another uniform picks another.
            favourites[row, i] = model if pick_tied(scores, 0.75) == model else _TIED


@compiled_making_arrays
def hindsight_losses(
    rows: Array,
    predictions: Array,
    labels: Array,
    advice: Array,
    favourites: Array,
    uniforms: Array,
    grid: Array,
    model_losses: Array,
    policy_losses: Array,
) -> None:
    """Write cumulative losses at the rounds of grid (G,) to model_losses (G, k) and policy_losses (G, n)."""
    k, n = predictions.shape[1], advice.shape[1]
    by_model = np.zeros(k, dtype=np.int64)
    by_policy = np.zeros(n, dtype=np.int64)
    scores = np.zeros(k)
    recorded = 0
    for step in range(rows.size):
        row = rows[step]
        for j in range(k):
            by_model[j] += predictions[row, j] != labels[row]
        for i in range(n):
            model = favourites[row, i]
            if model == _TIED:
                model = _pick(advice[row, i], predictions[row], uniforms[step, TIE], scores)
            by_policy[i] += predictions[row, model] != labels[row]
        if recorded < grid.size and grid[recorded] == step + 1:
            copy_row(by_model, model_losses[recorded])
            copy_row(by_policy, policy_losses[recorded])
            recorded += 1


def models_of_policy(
    policy: int, rows: Array, predictions: Array, advice: Array, favourites: Array, uniforms: Array
) -> npt.NDArray[np.int64]:
    """Return (T,) the model that policy `policy` of Pi* names on each round of a stream."""
    n, k = advice.shape[1:]
    scores = np.zeros(k)
    if policy >= n:
        always, nothing = policy - n, np.zeros(k)
        models = np.full(len(rows), always, dtype=np.int64)
        for step in np.flatnonzero(predictions[rows, always] < 0):
            models[step] = _pick(nothing, predictions[rows[step]], uniforms[step, TIE], scores)
        return models
    models = favourites[rows, policy].astype(np.int64)
    for step in np.flatnonzero(models == _TIED):
        row = rows[step]
        models[step] = _pick(advice[row, policy], predictions[row], uniforms[step, TIE], scores)
    return models
