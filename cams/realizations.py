"""Replaying a bundle: many realizations of its pool as a stream, through any learners, at many budgets.

result = cams.replay(bundle, ["cams", "mp"], horizon=3000, budgets=[100, 500], realizations=50, seed=0)
result.summary()
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cams.bundle import Bundle
from cams.checks import integers, whole_number
from cams.engine.compiled import is_compiled
from cams.engine.hindsight import favourite_models, hindsight_losses, models_of_policy
from cams.engine.kernel import replay_realization
from cams.engine.state import Stream
from cams.errors import InputError
from cams.learners import Learner, Problem, learner_entry
from cams.outcome import Replay
from cams.policies import constant_masses
from cams.policies import regularize as regularize_advice
from cams.randomness import stream_order, uniforms
from cams.rounds import play

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
LearnerLike = str | tuple[str, Mapping[str, Any]] | Mapping[str, Any]

COMPILING = "compiling the replay engine first, once: half a minute or so"
# Rows a thread takes at a time when it looks up favourite models.
_FAVOURITES_BLOCK = 1000


def replay(
    bundle: Bundle,
    learners: Sequence[LearnerLike],
    *,
    horizon: int,
    budgets: Sequence[int] | Array,
    realizations: int,
    seed: int,
    n_jobs: int = 1,
    regularize: bool = False,
    scaled: bool = False,
    trace: Sequence[int] | Array | None = None,
    order: Array | None = None,
    first_realization: int = 0,
    progress: bool | None = None,
) -> Replay:
    """Replay realizations of a bundle through learners.

    A realization is `horizon` rows of the pool without replacement in random order, or row `r` of `order` (R, T);
    all learners see the same order and the same uniforms. A learner is a name, a pair (name, settings), or
    a mapping with `name`, settings, and a `label` to tell two of one name apart. `regularize` keeps policies away
    from 0, `scaled` spreads each budget over the known horizon, `trace` lists rounds at which
    to record cumulative values. Threads (`n_jobs`) divide realizations; results do not depend on how. A part of a
    replay, to be joined with others by `Replay.joined`, starts at `first_realization`.
    """
    _check_kinds(bundle, learners, {"regularize": regularize, "scaled": scaled})
    asked = _checked_budgets(budgets)
    horizon, realizations = whole_number("horizon", horizon, 1), whole_number("realizations", realizations, 1)
    seed, n_jobs = whole_number("seed", seed, 0), whole_number("n_jobs", n_jobs, 1)
    first_realization = whole_number("first_realization", first_realization, 0)
    _check_stream(bundle, horizon, realizations, order)
    trace_grid = _checked_trace(trace, horizon)
    players = [_Player.parse(learner, bundle, horizon, regularize, scaled) for learner in learners]
    _check_labels(players)
    stage = _Stage(
        bundle=bundle,
        advice=regularize_advice(bundle.advice) if regularize else bundle.advice,
        players=players,
        # The engine spends one budget after another, so it wants each once and in ascending order.
        budgets=np.unique(asked),
        # The last round is always recorded: it is where the best policy and the final losses are read.
        grid=trace_grid if trace_grid.size and trace_grid[-1] == horizon else np.append(trace_grid, horizon),
    )

    def play_one(realization: int) -> None:
        number = first_realization + realization
        rows = stream_order(seed, number, bundle.num_rows, horizon) if order is None else order[realization]
        stage.play(realization, np.ascontiguousarray(rows, dtype=np.int64), uniforms(seed, number, horizon))

    stage.allocate(realizations)
    if not (_silent(progress) or is_compiled()):
        tqdm.write(COMPILING, file=sys.stderr)
    with (
        ThreadPoolExecutor(max_workers=n_jobs) as pool,
        tqdm(total=realizations, desc="replay", unit="realization", disable=_silent(progress), leave=False) as bar,
    ):
        list(pool.map(stage.find_favourites, range(0, bundle.num_rows, _FAVOURITES_BLOCK)))
        for _ in pool.map(play_one, range(realizations)):
            bar.update()
    return stage.result(asked, trace_grid, horizon)


def _silent(progress: bool | None) -> bool | None:
    """tqdm's own word for it: None shows a bar on a terminal only."""
    return None if progress is None else not progress


@dataclass(frozen=True)
class _Player:
    """A learner to replay: how to make one for a budget."""

    name: str
    label: str
    settings: dict[str, Any]
    problem: Problem

    @classmethod
    def parse(cls, learner: LearnerLike, bundle: Bundle, horizon: int, regularize: bool, scaled: bool) -> _Player:
        name, settings = _name_and_settings(learner)
        label = str(settings.pop("label", name))
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


@dataclass
class _Stage:
    """All that the realizations of one replay share, and the arrays they write their results to."""

    bundle: Bundle
    advice: Array
    players: list[_Player]
    budgets: Integers
    grid: Integers
    favourites: Array = field(init=False)
    arrays: dict[str, Integers] = field(init=False)

    @property
    def labels(self) -> Array:
        assert self.bundle.labels is not None  # `_check_stream` refuses a bundle without labels
        return self.bundle.labels

    def allocate(self, realizations: int) -> None:
        a, b, g = len(self.players), len(self.budgets), len(self.grid)
        k, n = self.bundle.num_models, self.bundle.num_policies
        # Making every learner once refuses what cannot be played before anything is computed.
        self._learners = [[player.make(budget) for budget in self.budgets] for player in self.players]
        self.favourites = np.empty((self.bundle.num_rows, n), dtype=np.int32)
        self.arrays = {
            "loss": np.zeros((a, realizations, b), dtype=np.int64),
            "queries": np.zeros((a, realizations, b), dtype=np.int64),
            "loss_trace": np.zeros((a, realizations, b, g), dtype=np.int64),
            "queries_trace": np.zeros((a, realizations, b, g), dtype=np.int64),
            "model": np.zeros((realizations, g, k), dtype=np.int64),
            "policy": np.zeros((realizations, g, n), dtype=np.int64),
        }

    def find_favourites(self, start: int) -> None:
        """Write down every policy's favourite model for a block of rows; all realizations look it up."""
        block = slice(start, start + _FAVOURITES_BLOCK)
        favourite_models(self.advice[block], self.favourites[block])

    def play(self, realization: int, rows: Integers, draws: Array) -> None:
        bundle, arrays = self.bundle, self.arrays
        hindsight_losses(
            rows, bundle.predictions, self.labels, self.advice, self.favourites, draws, self.grid,
            arrays["model"][realization], arrays["policy"][realization],
        )  # fmt: skip
        total = np.concatenate([arrays["policy"][realization, -1], arrays["model"][realization, -1]])
        best = int(total.argmin())
        for a, (player, learners) in enumerate(zip(self.players, self._learners, strict=True)):
            out = [arrays[name][a, realization] for name in ("loss", "queries", "loss_trace", "queries_trace")]
            shared = not (learners[0].budget_shapes_queries or (learners[0].problem.scaled and learners[0].scalable))
            blocks = [slice(0, len(self.budgets))] if shared else [slice(b, b + 1) for b in range(len(self.budgets))]
            for block in blocks:
                part = [array[block] for array in out]
                if learners[0].kernel() is None:
                    for b in range(block.start, block.stop):
                        self._play_slowly(player, b, rows, draws, best, [array[b : b + 1] for array in out])
                else:
                    self._play_compiled(learners[block.start], block, rows, draws, best, part)

    def _play_compiled(
        self, learner: Learner, block: slice, rows: Integers, draws: Array, best: int, out: list[Array]
    ) -> None:
        kernel, bundle = learner.kernel(), self.bundle
        assert kernel is not None
        on, off = constant_masses(bundle.num_models, regularized=kernel.regularize)
        models = np.empty(0, dtype=np.int64)
        if learner.needs_hindsight:
            models = models_of_policy(best, rows, self.advice, self.favourites, draws)
        stream = Stream(rows, bundle.predictions, self.labels, self.advice, draws, bundle.num_classes, on, off)
        replay_realization(stream, kernel, models, self.budgets[block], self.grid, *out)

    def _play_slowly(self, player: _Player, b: int, rows: Integers, draws: Array, best: int, out: list[Array]) -> None:
        """Run a learner that has no compiled twin, round by round."""
        loss, queries, loss_trace, queries_trace = out
        budget = int(self.budgets[b])
        learner = player.make(budget, best)
        mistakes, bought = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        for step, (row, decided, label) in enumerate(play(learner, self.bundle, rows, draws, budget=budget)):
            mistakes[step] = decided.predictions[decided.model] != self.labels[row]
            bought[step] = label is not None
        loss_trace[0], queries_trace[0] = mistakes.cumsum()[self.grid - 1], bought.cumsum()[self.grid - 1]
        loss[0], queries[0] = loss_trace[0, -1], queries_trace[0, -1]

    def result(self, budgets: Integers, trace: Integers, horizon: int) -> Replay:
        arrays, g = self.arrays, len(trace)
        played = np.searchsorted(self.budgets, budgets)
        return Replay(
            learners=[player.label for player in self.players],
            budgets=budgets,
            horizon=horizon,
            trace=trace,
            loss=arrays["loss"][:, :, played].swapaxes(1, 2),
            queries=arrays["queries"][:, :, played].swapaxes(1, 2),
            loss_trace=arrays["loss_trace"][:, :, played, :g].swapaxes(1, 2),
            queries_trace=arrays["queries_trace"][:, :, played, :g].swapaxes(1, 2),
            model_loss_trace=arrays["model"][:, :g],
            policy_loss_trace=arrays["policy"][:, :g],
            model_losses=arrays["model"][:, -1],
            policy_losses=arrays["policy"][:, -1],
            model_names=self.bundle.model_names,
            policy_names=self.bundle.policy_names,
        )


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


def _check_kinds(bundle: object, learners: object, switches: Mapping[str, object]) -> None:
    if not isinstance(bundle, Bundle):
        raise InputError(f"expected a Bundle, not {type(bundle).__name__}; cams.Bundle.load reads one from a file")
    if isinstance(learners, str):
        raise InputError(f"learners must be a list, such as ['{learners}']")
    if not isinstance(learners, Sequence):
        raise InputError(f"learners is {learners!r}, expected a list")
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise InputError(f"{name} is {value!r}, expected true or false")


def _checked_budgets(budgets: Sequence[int] | Array) -> Integers:
    array = integers("budgets", budgets, ndim=1)
    if array.size == 0:
        raise InputError("budgets is empty, expected at least one")
    if array.min() < 0:
        raise InputError(f"budget {array.min()} is negative")
    return array.astype(np.int64)


def _check_stream(bundle: Bundle, horizon: int, realizations: int, order: Array | None) -> None:
    if bundle.labels is None:
        raise InputError("a bundle without labels cannot be replayed")
    if bundle.abstains:
        raise InputError("a bundle in which a model has no answer cannot be replayed")
    if order is None:
        if horizon > bundle.num_rows:
            raise InputError(f"horizon is {horizon}, but the bundle has only {bundle.num_rows} rows")
        return
    if np.shape(order) != (realizations, horizon):
        raise InputError(f"order has shape {np.shape(order)}, expected ({realizations}, {horizon})")
    if np.asarray(order).dtype.kind not in "iu":
        raise InputError(f"order has type {np.asarray(order).dtype}, expected row numbers")
    if np.min(order) < 0 or np.max(order) >= bundle.num_rows:
        raise InputError(f"order names rows outside 0..{bundle.num_rows - 1}")


def _checked_trace(trace: Sequence[int] | Array | None, horizon: int) -> Integers:
    # Signed before differences are taken: those of unsigned numbers are never negative.
    grid = integers("trace", [] if trace is None else trace, ndim=1).astype(np.int64)
    if grid.size and (grid[0] < 1 or grid[-1] > horizon or (np.diff(grid) <= 0).any()):
        raise InputError(f"trace must list rounds between 1 and {horizon} in ascending order")
    return grid


def _check_labels(players: list[_Player]) -> None:
    if not players:
        raise InputError("there is no learner to replay")
    labels = [player.label for player in players]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"learner '{label}' is listed twice; give each a label of its own")
