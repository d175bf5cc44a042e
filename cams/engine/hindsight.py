"""What every single policy and every single model would have lost on a realization."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
    recorded = 0
    for step in range(rows.size):
        row = rows[step]
        for j in range(k):
            by_model[j] += predictions[row, j] != labels[row]
        for i in range(n):
            model = favourites[row, i]
            if model == _TIED:
                model = pick_tied(advice[row, i], uniforms[step, TIE])
            by_policy[i] += predictions[row, model] != labels[row]
        if recorded < grid.size and grid[recorded] == step + 1:
            copy_row(by_model, model_losses[recorded])
            copy_row(by_policy, policy_losses[recorded])
            recorded += 1


def models_of_policy(
    policy: int, rows: Array, advice: Array, favourites: Array, uniforms: Array
) -> npt.NDArray[np.int64]:
    """Return (T,) the model that policy `policy` of Pi* names on each round of a stream."""
    n = advice.shape[1]
    if policy >= n:
        return np.full(len(rows), policy - n, dtype=np.int64)
    models: npt.NDArray[np.int64] = favourites[rows, policy].astype(np.int64)
    for step in np.flatnonzero(models == _TIED):
        models[step] = pick_tied(advice[rows[step], policy], uniforms[step, TIE])
    return models
