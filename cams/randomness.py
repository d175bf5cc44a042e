"""Where every random number of a replay comes from.

Each realization has its own generator per purpose, keyed by numbers and never by loop position, so results depend
neither on how work is divided nor on which learners run beside each other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Columns of a realization's uniforms. Each random act of a round has a column of its own, so that two
# learners that differ in one act still share the luck of all the others.
COIN, TIE, POLICY, MODEL = range(4)

_ORDER, _UNIFORMS = range(2)


def _generator(seed: int, realization: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(realization, purpose)))


def stream_order(seed: int, realization: int, num_rows: int, horizon: int) -> npt.NDArray[np.int64]:
    """Return (T,) row ids: `horizon` of `num_rows` rows without replacement, in random order."""
    return _generator(seed, realization, _ORDER).permutation(num_rows)[:horizon]


def uniform_source(seed: int, realization: int) -> np.random.Generator:
    """Return the generator of a realization's uniforms, for drawing them four at a time."""
    return _generator(seed, realization, _UNIFORMS)


def uniforms(seed: int, realization: int, horizon: int) -> npt.NDArray[np.float64]:
    """Return (T, 4) uniforms in [0, 1): coin, tie, policy, model for every round."""
    return uniform_source(seed, realization).random((horizon, 4))
