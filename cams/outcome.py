"""What came of a replay: arrays, a summary, a long table, a file, a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit

from cams.archive import open_archive, write_archive
from cams.checks import distinct, is_listed
from cams.errors import InputError
from cams.files import as_path

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

CONFIDENCE = 0.9
# References in a summary: chosen in hindsight, so no learner could have known them.
BEST_MODEL, BEST_POLICY = "best_model", "best_policy"

# The length of each axis by letter, for files that are read back: A learners, B budgets, R realizations, G rounds,
# k models, n policies.
_AXES = {
    "loss": "ABR",
    "queries": "ABR",
    "loss_trace": "ABRG",
    "queries_trace": "ABRG",
    "model_loss_trace": "RGk",
    "policy_loss_trace": "RGn",
    "model_losses": "Rk",
    "policy_losses": "Rn",
}
_NAMES = ("learners", "model_names", "policy_names")
# Stored as text: a seed may be longer than any integer of numpy's.
_TEXTS = (*_NAMES, "seed")


@dataclass(frozen=True, eq=False)
class Replay:
    """What came of a replay: A learners, B budgets, R realizations, G recorded rounds.

        realizations                (R,)          their numbers, which with `seed` name streams and coins
        loss, queries               (A, B, R)     mistakes made and labels bought over the whole stream
        loss_trace, queries_trace   (A, B, R, G)  the same up to each round of `trace` (G may be 0)
        model_losses, policy_losses (R, k) (R, n) mistakes of each single model, of each policy's favourite model
        model_loss_trace, policy_loss_trace       (R, G, k) (R, G, n)

    A model's or a policy's mistakes are known in hindsight alone.
    """

    learners: list[str]
    budgets: Integers
    horizon: int
    trace: Integers
    loss: Integers
    queries: Integers
    loss_trace: Integers
    queries_trace: Integers
    model_loss_trace: Integers
    policy_loss_trace: Integers
    model_losses: Integers
    policy_losses: Integers
    seed: int
    realizations: Integers
    model_names: list[str] = field(default_factory=list)
    policy_names: list[str] = field(default_factory=list)

    @property
    def relative_loss_trace(self) -> Integers:
        """(A, B, R, G) cumulative loss less that of the classifier that is best over the whole realization."""
        best = self.model_losses.argmin(axis=1)
        of_best = np.take_along_axis(self.model_loss_trace, best[:, None, None], axis=2)[..., 0]
        relative: Integers = self.loss_trace - of_best[None, None]
        return relative

    @property
    def references(self) -> dict[str, Integers]:
        """(R,) mistakes of the best model and of the best policy of each realization, known only in hindsight."""
        found = {BEST_MODEL: self.model_losses.min(axis=1)}
        if self.policy_losses.shape[1]:
            found[BEST_POLICY] = self.policy_losses.min(axis=1)
        return found

    def summary(self) -> pd.DataFrame:
        """Return one row per learner and budget, then the best model and the best policy in hindsight.

        The band is a 90 % Student interval of the mean loss over realizations.
        """
        rows = [
            _summary_row(learner, int(budget), self.loss[a, b], self.queries[a, b])
            for a, learner in enumerate(self.learners)
            for b, budget in enumerate(self.budgets)
        ]
        rows += [_summary_row(name, 0, loss, np.zeros_like(loss)) for name, loss in self.references.items()]
        return pd.DataFrame(rows)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per learner, budget, realization and recorded round, the last round among them."""
        before = self.trace[self.trace < self.horizon]
        rounds = np.append(before, self.horizon)
        index = pd.MultiIndex.from_product(
            [self.learners, self.budgets, self.realizations, rounds],
            names=["learner", "budget", "realization", "round"],
        )
        g = len(before)
        loss = np.concatenate([self.loss_trace[..., :g], self.loss[..., None]], axis=3)
        queries = np.concatenate([self.queries_trace[..., :g], self.queries[..., None]], axis=3)
        return pd.DataFrame({"loss": loss.ravel(), "queries": queries.ravel()}, index=index).reset_index()

    @classmethod
    def joined(cls, parts: Sequence[Replay]) -> Replay:
        """Return one replay of the realizations of several, which differ in nothing else, one part after another.

        No realization may be in two parts: each is made with a `first_realization` of its own.
        """
        parts = _alike(parts)
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts], axis=axes.index("R"))
            for name, axes in _AXES.items()
        }
        return replace(parts[0], realizations=_numbers_of(parts), **joined)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one `.npz` file."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        write_archive(path, {name: _storable(name, value) for name, value in values.items()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Replay:
        """Read what `save` wrote; anything else is refused."""
        with open_archive(path) as archive:
            if "loss_trace" not in archive.names():
                raise InputError("this is not a saved replay")
            arrays = {f.name: archive.read(f.name) for f in fields(cls)}
        _check(Path(path), arrays)
        values: dict[str, Any] = {**arrays, "horizon": int(arrays["horizon"]), "seed": int(arrays["seed"].item())}
        return cls(**values | {name: arrays[name].tolist() for name in _NAMES})

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw mistakes against labels bought and return the matplotlib figure; with a path, write it there too.

        Needs matplotlib (`pip install 'cams[plot]'`).
        """
        if path is not None:
            path = as_path(path)
        # By name, so that what computes a replay does not depend on what draws it.
        import_module("cams.plotting.picture").require_matplotlib()
        plotting = import_module("cams.plotting.outcome")
        return plotting.plot_replay(self, path)


def _alike(parts: Sequence[Replay]) -> list[Replay]:
    """Return the parts, or refuse those that are not of one replay."""
    listed = list(parts) if is_listed(parts) else []
    if not listed or not all(isinstance(part, Replay) for part in listed):
        raise InputError("joined takes a list of one replay or more")
    for i, part in enumerate(listed):
        for name in ("learners", "budgets", "horizon", "trace", "seed", "model_names", "policy_names"):
            if not np.array_equal(getattr(part, name), getattr(listed[0], name)):
                raise InputError(f"part {i} differs from part 0 in its {name}, so they cannot be joined")
    return listed


def _numbers_of(parts: Sequence[Replay]) -> Integers:
    """Return the numbers of all realizations, or refuse to count one of them twice."""
    numbers = np.concatenate([part.realizations for part in parts])
    found, times = np.unique(numbers, return_counts=True)
    if times.max() > 1:
        twice = found[times.argmax()]
        raise InputError(f"realization {twice} is in several parts; each part needs a first_realization of its own")
    return numbers


def confidence_band(values: Array, confidence: float = CONFIDENCE) -> tuple[Array, Array]:
    """Return the Student interval of the mean over the last axis; a single value is its own band."""
    count = values.shape[-1]
    mean = values.mean(axis=-1)
    if count == 1:
        return mean, mean
    half = stdtrit(count - 1, (1 + confidence) / 2) * values.std(axis=-1, ddof=1) / np.sqrt(count)
    return mean - half, mean + half


def _summary_row(learner: str, budget: int, loss: Integers, queries: Integers) -> dict[str, Any]:
    low, high = confidence_band(loss)
    return {
        "learner": learner,
        "budget": budget,
        "loss_mean": loss.mean(),
        "loss_low": float(low),
        "loss_high": float(high),
        "queries_mean": queries.mean(),
        "queries_max": int(queries.max()),
    }


def _storable(name: str, value: Any) -> Array:
    return np.asarray(value, dtype=np.str_) if name in _TEXTS else np.asarray(value)


def _is_seed(text: object) -> bool:
    # No longer than what Python turns into a number.
    return isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) <= 1000


def _check(path: Path, arrays: dict[str, Array]) -> None:
    """Refuse arrays that are not those of one replay."""
    lengths = {
        "A": arrays["learners"].size,
        "B": arrays["budgets"].size,
        "R": arrays["loss"].shape[-1] if arrays["loss"].ndim else 0,
        "G": arrays["trace"].size,
        "k": arrays["model_names"].size,
        "n": arrays["policy_names"].size,
    }
    for name, axes in _AXES.items():
        expected = tuple(lengths[axis] for axis in axes)
        if arrays[name].shape != expected or arrays[name].dtype.kind not in "iu":
            found = f"{arrays[name].dtype} {arrays[name].shape}"
            raise InputError(f"{path}: array '{name}' is {found}, expected whole numbers {expected}")
    if arrays["horizon"].shape != () or arrays["horizon"].dtype.kind not in "iu":
        raise InputError(f"{path}: 'horizon' is not a whole number")
    if arrays["seed"].shape != () or not _is_seed(arrays["seed"].item()):
        raise InputError(f"{path}: 'seed' is not a whole number")
    _check_values(path, arrays)


def _check_values(path: Path, arrays: dict[str, Array]) -> None:
    """Refuse numbers that no replay could have counted."""
    for name in (*_NAMES, "budgets", "trace", "realizations"):
        kind, expected = ("U", "names") if name in _NAMES else ("iu", "whole numbers")
        if arrays[name].ndim != 1 or (arrays[name].size and arrays[name].dtype.kind not in kind):
            raise InputError(f"{path}: '{name}' is no list of {expected}")
    distinct(f"{path}: 'learners'", arrays["learners"].tolist())
    numbers = arrays["realizations"]
    if len(numbers) != arrays["loss"].shape[2] or len(np.unique(numbers)) != len(numbers) or (numbers < 0).any():
        raise InputError(f"{path}: 'realizations' does not number the {arrays['loss'].shape[2]} realizations")
    horizon, trace = int(arrays["horizon"]), arrays["trace"].astype(np.int64)
    if not arrays["loss"].size or horizon < 1 or (arrays["budgets"] < 0).any():
        raise InputError(f"{path}: there is no learner, budget, realization or round, or fewer than none")
    if trace.size and (trace[0] < 1 or trace[-1] > horizon or (np.diff(trace) <= 0).any()):
        raise InputError(f"{path}: 'trace' does not list rounds between 1 and {horizon} in ascending order")
    for name in _AXES:
        if arrays[name].size and not 0 <= arrays[name].min() <= arrays[name].max() <= horizon:
            raise InputError(f"{path}: '{name}' has counts outside 0..{horizon}")
    if (arrays["queries"] > arrays["budgets"][:, None]).any():
        raise InputError(f"{path}: 'queries' has more labels bought than a budget allows")
