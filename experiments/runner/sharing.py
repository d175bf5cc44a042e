"""Replays that experiments share: the same learner on the same streams and coins is played once for all of them.

What a learner does depends neither on the learners beside it nor on the budgets beside its own, so the replay of one
experiment can be cut out of a larger one, to the last value.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.outcome import Replay
from experiments.runner.blocks import replay_in_blocks
from experiments.runner.plan import Case, Learner, Plan

Integers = npt.NDArray[np.int64]


class Part(NamedTuple):
    """One case of one plan: what needs a replay."""

    plan: Plan
    case: Case


class _Batch:
    """Learners that are wanted at the same budgets and rounds, and the blocks of their replay, by first realization."""

    def __init__(self, budgets: list[int], rounds: tuple[int, ...], learners: dict[str, Learner]) -> None:
        self.budgets, self.rounds, self.learners = budgets, rounds, learners
        self.blocks: dict[int, Replay] = {}


class _Course(NamedTuple):
    """Where a learner's replay is found: its place among the learners of a larger one."""

    result: Replay
    place: int


def with_same_streams(parts: Sequence[Part]) -> list[list[Part]]:
    """Return parts of any plans about one bundle in groups that can be replayed together, the dearest first."""
    groups = [list(same) for _, same in groupby(sorted(parts, key=_streams), key=_streams)]
    return sorted(groups, key=_learners_by_budget, reverse=True)


class Together:
    """Parts with the same streams: every learner is played once, with all budgets and rounds at which some wants it."""

    def __init__(self, parts: Sequence[Part], bundle: Bundle) -> None:
        self.parts, self.bundle = parts, bundle
        self.batches = _batches(parts)

    def pieces(self, blocks: int) -> list[Callable[[], None]]:
        """Return replays that may run side by side: every batch in so many blocks of realizations, or fewer."""
        realizations = self.parts[0].plan.realizations
        ends = np.linspace(0, realizations, min(realizations, blocks) + 1).astype(int).tolist()
        return [
            partial(self._replay, batch, first, end - first) for batch in self.batches for first, end in pairwise(ends)
        ]

    def _replay(self, batch: _Batch, first: int, count: int) -> None:
        plan, case = self.parts[0]
        batch.blocks[first] = replay_in_blocks(
            self.bundle,
            [{"name": learner.name, "label": key, **learner.settings} for key, learner in batch.learners.items()],
            horizon=plan.horizon,
            budgets=batch.budgets,
            realizations=count,
            first_realization=first,
            seed=plan.seed,
            regularize=case.regularize,
            scaled=case.scaled,
            trace=np.asarray(batch.rounds) if batch.rounds else None,
            progress=False,
        )

    def results(self) -> Iterator[tuple[Part, Replay]]:
        """Yield every part with its replay, once all pieces have run."""
        courses: dict[str, _Course] = {}
        for batch in self.batches:
            whole = Replay.joined([batch.blocks[first] for first in sorted(batch.blocks)])
            courses |= {key: _Course(whole, place) for place, key in enumerate(batch.learners)}
        for part in self.parts:
            yield part, _cut(part.plan, courses)


def _learners_by_budget(parts: Sequence[Part]) -> int:
    """Return a guess of what a group costs."""
    return sum(len(plan.learners) * len(plan.budgets) for plan, _ in parts)


def _streams(part: Part) -> str:
    """Return a key that is equal for parts with the same bundle, rows and coins."""
    plan, case = part
    # Where no policy turns malicious, nobody asks what the contrary of its advice would be.
    contrary = case.contrary if case.malicious else Case.contrary
    prepared = dataclasses.asdict(dataclasses.replace(case, label="", contrary=contrary))
    return json.dumps([plan.horizon, plan.realizations, plan.seed, prepared], sort_keys=True)


def _identity(learner: Learner) -> str:
    """Return a key that is equal for learners that do the same, whatever their labels."""
    return json.dumps([learner.name, learner.settings], sort_keys=True)


def _batches(parts: Sequence[Part]) -> list[_Batch]:
    """Return learners by the budgets and rounds at which they are wanted; those of a batch read the advice together."""
    learners: dict[str, Learner] = {}
    budgets: dict[str, set[int]] = {}
    rounds: dict[str, set[int]] = {}
    for plan, _ in parts:
        for learner in plan.learners:
            key = _identity(learner)
            learners.setdefault(key, learner)
            budgets.setdefault(key, set()).update(plan.budgets)
            rounds.setdefault(key, set()).update(plan.trace_rounds)
    batches: dict[tuple[tuple[int, ...], tuple[int, ...]], dict[str, Learner]] = {}
    for key, learner in learners.items():
        batches.setdefault((tuple(sorted(budgets[key])), tuple(sorted(rounds[key]))), {})[key] = learner
    return [_Batch(list(budgets), rounds, learners) for (budgets, rounds), learners in batches.items()]


def _cut(plan: Plan, courses: dict[str, _Course]) -> Replay:
    """Return the replay of a plan's own learners, budgets and rounds."""
    mine = [courses[_identity(learner)] for learner in plan.learners]
    first = mine[0].result
    rounds = np.searchsorted(first.trace, plan.trace_rounds)
    return dataclasses.replace(
        first,
        learners=[learner.label for learner in plan.learners],
        budgets=np.asarray(plan.budgets),
        trace=np.asarray(plan.trace_rounds, dtype=np.int64),
        loss=_at_budgets("loss", plan, mine),
        queries=_at_budgets("queries", plan, mine),
        loss_trace=_at_rounds("loss_trace", plan, mine),
        queries_trace=_at_rounds("queries_trace", plan, mine),
        model_loss_trace=first.model_loss_trace[:, rounds],
        policy_loss_trace=first.policy_loss_trace[:, rounds],
    )


def _at_budgets(name: str, plan: Plan, courses: Sequence[_Course]) -> Integers:
    """Return (A, B, R) or (A, B, R, G) for a plan's learners and budgets."""
    return np.stack(
        [getattr(result, name)[place][np.searchsorted(result.budgets, plan.budgets)] for result, place in courses]
    )


def _at_rounds(name: str, plan: Plan, courses: Sequence[_Course]) -> Integers:
    """Return (A, B, R, G) for a plan's learners, budgets and rounds."""
    per_learner = [
        _at_budgets(name, plan, [course])[..., np.searchsorted(course.result.trace, plan.trace_rounds)]
        for course in courses
    ]
    return np.concatenate(per_learner)
