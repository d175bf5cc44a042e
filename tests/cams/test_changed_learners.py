"""A learner made from one of the library's plays its own rules, wherever it is played."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cams
from cams.learners import Choice, Entry
from cams.learners.cams import Cams
from cams.learners.follow_the_leader import ContextualLeader, FollowTheLeader
from cams.learners.queries import Entropy
from cams.randomness import uniforms

ROWS, SEED = 200, 3


class Constant(Cams):
    def learning_rate(self) -> float:
        return 3.0


class Second(Cams):
    def choose(self, predictions: Any, advice: Any, draws: Any) -> Choice:
        return replace(super().choose(predictions, advice, draws), model=1)


class Worst(FollowTheLeader):
    def scores(self, predictions: Any, advice: Any) -> Any:
        return self.errors


class OfSecond(Second):
    """Changes nothing, and still is no longer what the engine plays."""


class SecondToo:
    """No learner by itself: what is mixed into one changes it as well."""

    def choose(self, predictions: Any, advice: Any, draws: Any) -> Choice:
        return replace(super().choose(predictions, advice, draws), model=1)


class Mixed(SecondToo, Cams):
    pass


class Never(Entropy):
    def probability(self, belief: Any) -> float:
        return 0.0


class Unasking(Cams):
    def __init__(self, problem: Any, **settings: Any) -> None:
        super().__init__(problem, **settings)
        self.query_rule = Never(problem)


class UnaskingLeader(ContextualLeader):
    def __init__(self, problem: Any, **settings: Any) -> None:
        super().__init__(problem, **settings)
        self.query_rule = Never(problem)


class Renamed(Cams):
    def __init__(self, problem: Any, **settings: Any) -> None:
        super().__init__(problem, rate=2.0, **settings)

    def __repr__(self) -> str:
        return "Renamed()"

    def of_my_own(self) -> None:
        """Nobody else calls it."""


class Twinned(Constant):
    def kernel(self) -> Any:
        return super(Constant, self).kernel()


@pytest.mark.parametrize(
    ("factory", "parts"),
    [(Constant, {}), (Second, {}), (Worst, {"query": "always"}), (OfSecond, {}), (Mixed, {}), (Unasking, {})],
)
def test_a_replay_and_a_selector_play_what_was_changed(
    factory: Any, parts: dict[str, str], make_bundle: Any, play_plainly: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cams.LEARNERS, "changed", Entry(factory, parts))
    bundle, draws = make_bundle(rows=ROWS, k=5, n=3, c=4, seed=1), uniforms(SEED, 0, ROWS)
    result = cams.replay(bundle, ["changed"], horizon=ROWS, budgets=[40], realizations=1, seed=SEED, order="stream")
    played = play_plainly(bundle, "changed", budget=40, rows=np.arange(ROWS), draws=draws)
    assert result.loss.item() == sum(played.mistakes)
    selector = cams.Selector(
        models=bundle.model_names, policies=bundle.policy_names, num_classes=4, learner="changed", budget=40, seed=SEED
    )
    mistakes = 0
    for votes, advice, label in zip(bundle.predictions, bundle.advice, bundle.labels, strict=True):
        decision = selector.step(votes, advice)
        mistakes += decision.prediction != label
        if decision.query:
            selector.label(decision.ticket, label)
    assert mistakes == sum(played.mistakes)


@pytest.mark.parametrize(
    ("factory", "has_one"),
    [
        (Constant, False),
        (Worst, False),
        (OfSecond, False),
        (Mixed, False),
        (Unasking, False),
        (UnaskingLeader, False),
        (Renamed, True),
        (Twinned, True),
    ],
)
def test_who_changes_no_rule_or_names_a_twin_has_one(factory: Any, has_one: bool) -> None:
    parts = {"query": "always"} if factory in (Worst, UnaskingLeader) else {}
    made = factory(cams.learners.Problem(3, 2, 3), **parts)
    assert (made.kernel() is not None) == has_one


@pytest.mark.parametrize("name", list(cams.LEARNERS))
def test_every_learner_of_the_library_has_a_twin(name: str) -> None:
    how = {"num_models": 3, "num_policies": 2, "num_classes": 3, "horizon": 9, "budget": 2}
    assert cams.make_learner(name, **how).kernel() is not None
