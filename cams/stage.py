"""What all realizations of a replay share: learners, budgets, rounds to record, and the arrays of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.errors import InputError
from cams.learners import Learner, Problem, learner_entry
from cams.naming import require_writable_text, text_of
from cams.outcome import Replay
from cams.randomness import stream_order, uniform_source
from cams.stored import StoredBundle

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
LearnerLike = str | tuple[str, Mapping[str, Any]] | Mapping[str, Any]


@dataclass(frozen=True)
class Player:
    """A learner to replay: how to make one for a budget."""

    name: str
    label: str
    settings: dict[str, Any]
    problem: Problem

    @classmethod
    def parse(
        cls, learner: LearnerLike, bundle: Bundle | StoredBundle, horizon: int, regularize: bool, scaled: bool
    ) -> Player:
        name, settings = _name_and_settings(learner)
        label = settings.pop("label", name)
        if not isinstance(label, str) or not label:
            raise InputError(f"learner '{name}': label is {label!r}, expected a word")
        name, label = text_of(name), text_of(label)
        require_writable_text(f"learner '{name}': label", label)
        if learner_entry(name, settings).needs_hindsight and "policy" in settings:
            raise InputError(f"learner '{name}': a replay finds the best policy itself")
        problem = Problem(bundle.num_models, bundle.num_policies, bundle.num_classes, horizon, None, regularize, scaled)
        return cls(name, label, settings, problem)

    def make(self, budget: int, best_policy: int | None = None) -> Learner:
        entry = learner_entry(self.name, self.settings)
        in_hindsight = {"policy": best_policy} if entry.needs_hindsight else {}
        try:
            return entry.make(replace(self.problem, budget=int(budget)), {**self.settings, **in_hindsight})
        except InputError as error:
            raise InputError(f"learner '{self.name}': {error}") from None


def _name_and_settings(learner: object) -> tuple[str, dict[str, Any]]:
    match learner:
        case str(name):
            return name, {}
        case (str(name), Mapping() as settings):
            return name, dict(settings)
        case {"name": str(name), **rest}:
            return name, {str(key): value for key, value in rest.items()}
        case Mapping():
            raise InputError(f"learner {dict(learner)} has no name")
    raise InputError(f"learner {learner!r} is no name, no pair (name, settings) and no mapping with a name")


class Run(NamedTuple):
    """A learner and the budgets it plays in one pass: `a` among the learners, `block` among the budgets."""

    a: int
    player: Player
    learner: Learner
    block: slice


class Stage:
    """All that the realizations of one replay share, and the arrays they write their results to."""

    def __init__(
        self,
        *,
        bundle: Bundle | StoredBundle,
        players: list[Player],
        budgets: Integers,
        grid: Integers,
        realizations: int,
        first_realization: int,
        seed: int,
        regularize: bool,
    ) -> None:
        self.bundle, self.players, self.budgets, self.grid = bundle, players, budgets, grid
        self.realizations, self.first_realization = realizations, first_realization
        self.seed, self.regularize, self.gaps = seed, regularize, bundle.abstains
        # Making every learner once refuses what cannot be played before anything is computed.
        self.runs = [run for a, player in enumerate(players) for run in self._runs(a, player)]
        shape = (len(players), realizations, len(budgets))
        self.arrays = {
            "loss": np.zeros(shape, dtype=np.int64),
            "queries": np.zeros(shape, dtype=np.int64),
            "loss_trace": np.zeros((*shape, len(grid)), dtype=np.int64),
            "queries_trace": np.zeros((*shape, len(grid)), dtype=np.int64),
            "model": np.zeros((realizations, len(grid), bundle.num_models), dtype=np.int64),
            "policy": np.zeros((realizations, len(grid), bundle.num_policies), dtype=np.int64),
        }
        # Who follows a model loses what it loses, except where it has no answer.
        self.arrays["follower"] = np.zeros_like(self.arrays["model"]) if self.gaps else self.arrays["model"]

    @property
    def horizon(self) -> int:
        return int(self.grid[-1])

    def _runs(self, a: int, player: Player) -> list[Run]:
        """Budgets share one pass unless they shape the path, or the learner is not played by compiled code."""
        learners = [player.make(budget) for budget in self.budgets]
        first = learners[0]
        scaled = first.problem.scaled and first.scalable
        apart = first.budget_shapes_queries or scaled or first.kernel() is None
        if apart:
            return [Run(a, player, learner, slice(b, b + 1)) for b, learner in enumerate(learners)]
        return [Run(a, player, first, slice(0, len(learners)))]

    def uniforms(self, realization: int) -> np.random.Generator:
        """Return the generator of a realization's uniforms, four a round."""
        return uniform_source(self.seed, self.first_realization + realization)

    def order(self, realization: int) -> Integers:
        """Return (T,) rows of a pool in random order."""
        return stream_order(self.seed, self.first_realization + realization, self.bundle.num_rows, self.horizon)

    def best_policy(self, realization: int) -> int:
        """Return the policy of Pi* with the fewest mistakes on a realization whose losses are known."""
        last = self.arrays["policy"][realization, -1], self.arrays["model"][realization, -1]
        return int(np.concatenate(last).argmin())

    def losses_of_best_policy(self, realization: int) -> Integers:
        """Return (G,) the mistakes so far of the best policy of a realization whose losses are known."""
        losses = self.arrays["policy"][realization], self.arrays["follower"][realization]
        return np.concatenate(losses, axis=1)[:, self.best_policy(realization)]

    def out(self, run: Run, realization: int) -> list[Array]:
        """Return where a run writes to: loss, queries, and their traces."""
        names = ("loss", "queries", "loss_trace", "queries_trace")
        return [self.arrays[name][run.a, realization, run.block] for name in names]

    def result(self, budgets: Integers, trace: Integers) -> Replay:
        arrays, g = self.arrays, len(trace)
        played = np.searchsorted(self.budgets, budgets)
        return Replay(
            learners=[player.label for player in self.players],
            budgets=budgets,
            horizon=self.horizon,
            trace=trace,
            loss=arrays["loss"][:, :, played].swapaxes(1, 2),
            queries=arrays["queries"][:, :, played].swapaxes(1, 2),
            loss_trace=arrays["loss_trace"][:, :, played, :g].swapaxes(1, 2),
            queries_trace=arrays["queries_trace"][:, :, played, :g].swapaxes(1, 2),
            model_loss_trace=arrays["model"][:, :g],
            policy_loss_trace=arrays["policy"][:, :g],
            model_losses=arrays["model"][:, -1],
            policy_losses=arrays["policy"][:, -1],
            seed=self.seed,
            realizations=np.arange(self.first_realization, self.first_realization + self.realizations),
            model_names=self.bundle.model_names,
            policy_names=self.bundle.policy_names,
        )
