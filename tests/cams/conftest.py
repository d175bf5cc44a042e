"""Small bundles, and a replay written as plainly as the protocol: the yardstick of everything compiled."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import cams
from cams.learners.base import among_answers


@dataclass
class Played:
    """One learner on one stream: what it named and bought each round, and itself as it ended."""

    learner: cams.learners.Learner
    models: list[int] = field(default_factory=list)
    mistakes: list[int] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)
    probabilities: list[float] = field(default_factory=list)


def _make_bundle(
    *,
    rows: int = 120,
    k: int = 4,
    n: int = 3,
    c: int = 3,
    seed: int = 0,
    dtype: type[np.floating[Any]] = np.float32,
    skill: float = 0.6,
) -> cams.Bundle:
    """Models that are right with probability `skill`, policies that give random advice."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, c, rows)
    predictions = np.where(rng.random((rows, k)) < skill, labels[:, None], rng.integers(0, c, (rows, k)))
    advice = rng.dirichlet(np.full(k, 0.5), (rows, n)).astype(dtype)
    return cams.Bundle(predictions=predictions, labels=labels, advice=advice, num_classes=c)


def _best_policy(bundle: cams.Bundle, rows: Any, draws: Any) -> int:
    """The policy of Pi* with the fewest mistakes by its argmax model, counted one instance at a time."""
    losses = np.zeros(bundle.num_policies + bundle.num_models, dtype=int)
    for row, uniforms in zip(rows, draws, strict=True):
        wrong = bundle.predictions[row] != bundle.labels[row]
        for i, advice in enumerate(among_answers(bundle.advice[row].astype(float), bundle.predictions[row])):
            tied = np.flatnonzero(advice >= advice.max() * (1 - 1e-12))
            losses[i] += wrong[tied[int(uniforms[1] * len(tied))]]
        losses[bundle.num_policies :] += wrong
    return int(losses.argmin())


class _Seller(cams.Bundle):
    """A bundle whose labels come from elsewhere, one at a time."""

    def __init__(self, bundle: cams.Bundle, label_of: Callable[[int], int]) -> None:
        self.__dict__.update(vars(bundle))
        self._label_of = label_of

    @property
    def labels(self) -> Any:
        return self

    def __getitem__(self, row: int) -> int:
        return self._label_of(row)


def _play_plainly(
    bundle: cams.Bundle,
    name: str,
    *,
    budget: int,
    rows: Any,
    draws: Any,
    label_of: Callable[[int], int] | None = None,
    regularize: bool = False,
    scaled: bool = False,
    **settings: Any,
) -> Played:
    if cams.LEARNERS[name].needs_hindsight:
        settings["policy"] = _best_policy(bundle, rows, draws)
    played = Played(
        cams.make_learner(
            name,
            num_models=bundle.num_models,
            num_policies=bundle.num_policies,
            num_classes=bundle.num_classes,
            horizon=len(rows),
            budget=budget,
            regularize=regularize,
            scaled=scaled,
            **settings,
        )
    )
    pool: Any = bundle if label_of is None else _Seller(bundle, label_of)
    for row, decided, _ in cams.play(played.learner, pool, rows, draws, budget=budget):
        played.models.append(decided.model)
        played.mistakes.append(int(bundle.predictions[row, decided.model] != bundle.labels[row]))
        played.queries.append(int(decided.query))
        played.probabilities.append(decided.query_probability)
    return played


@pytest.fixture(scope="session")
def make_bundle() -> Callable[..., cams.Bundle]:
    return _make_bundle


@pytest.fixture(scope="session")
def play_plainly() -> Callable[..., Played]:
    """Play one learner round by round: `play_plainly(bundle, name, budget=, rows=, draws=, **settings)`."""
    return _play_plainly
