"""Replays that experiments share: the same learner on the same streams and coins is played once for all of them.

What a learner does depends neither on the learners beside it nor on the budgets beside its own, so the replay of one
experiment can be cut out of a larger one, to the last value.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.outcome import Replay
from experiments.runner.blocks import replay_in_blocks
from experiments.runner.plan import Case, Learner, Plan
from experiments.runner.preparation import prepare_bundle

Integers = npt.NDArray[np.int64]


class Part(NamedTuple):
    """One case of one plan: what needs a replay."""

    plan: Plan
    case: Case


class Played(NamedTuple):
    """A part, the bundle as its case wants it, and its replay."""

    part: Part
    bundle: Bundle
    result: Replay


class _Course(NamedTuple):
    """Where a learner's replay is found: its place among the learners of a larger one."""

    result: Replay
    place: int


def replay_parts(parts: Sequence[Part], bundle: Bundle, n_jobs: int, progress: bool | None) -> Iterator[Played]:
    """Replay parts of any plans about one bundle, those with the same streams together."""
    for _, same in groupby(sorted(parts, key=_streams), key=_streams):
        together = list(same)
        plan, case = together[0]
        prepared = prepare_bundle(bundle, case, plan.seed)
        courses = _play(together, prepared, n_jobs, progress)
        for part in together:
            yield Played(part, prepared, _cut(part.plan, courses))


def _streams(part: Part) -> str:
    """Return a key that is equal for parts with the same bundle, rows and coins."""
    plan, case = part
    prepared = dataclasses.asdict(dataclasses.replace(case, label=""))
    return json.dumps([plan.horizon, plan.realizations, plan.seed, prepared], sort_keys=True)


def _identity(learner: Learner) -> str:
    """Return a key that is equal for learners that do the same, whatever their labels."""
    return json.dumps([learner.name, learner.settings], sort_keys=True)


def _play(parts: Sequence[Part], bundle: Bundle, n_jobs: int, progress: bool | None) -> dict[str, _Course]:
    """Play every learner once, with all budgets and rounds at which some part wants it."""
    plan, case = parts[0]
    courses: dict[str, _Course] = {}
    for (budgets, rounds), learners in _batches(parts).items():
        result = replay_in_blocks(
            bundle,
            [{"name": learner.name, "label": key, **learner.settings} for key, learner in learners.items()],
            horizon=plan.horizon,
            budgets=list(budgets),
            realizations=plan.realizations,
            seed=plan.seed,
            n_jobs=n_jobs,
            regularize=case.regularize,
            scaled=case.scaled,
            trace=np.asarray(rounds) if rounds else None,
            progress=progress,
        )
        courses |= {key: _Course(result, place) for place, key in enumerate(learners)}
    return courses


def _batches(parts: Sequence[Part]) -> dict[tuple[tuple[int, ...], tuple[int, ...]], dict[str, Learner]]:
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
    return batches


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
