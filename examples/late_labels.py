"""Labels that come hours later: ask now, learn when the answer arrives, save and load in between.

    python examples/late_labels.py

A stream of 600 instances; every label that is asked for comes back after 40 to 200 rounds, one in ten never. The
selector is saved and loaded three times on the way, as a service would that restarts, and ends exactly where one ends
that never stopped.
"""

from __future__ import annotations

import heapq
import tempfile
from pathlib import Path

import numpy as np

import cams

MODELS, ROUNDS, CLASSES = ["day", "night", "always"], 600, 3


def stream(seed: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Return (label, predictions, advice) per round: a model for the day, one for the night, a router that knows."""
    rng = np.random.default_rng(seed)
    rounds = []
    for t in range(ROUNDS):
        by_day = (t // 50) % 2 == 0
        y = int(rng.integers(CLASSES))
        skill = np.array([0.9, 0.4, 0.7]) if by_day else np.array([0.4, 0.9, 0.7])
        predictions = np.where(rng.random(3) < skill, y, rng.integers(0, CLASSES, 3))
        router = [0.8, 0.1, 0.1] if by_day else [0.1, 0.8, 0.1]
        rounds.append((y, predictions, np.array([router, router[::-1]])))
    return rounds


def run(restart_at: set[int], folder: Path) -> tuple[int, float, list[int]]:
    """Play the stream; save and load the selector after the rounds of `restart_at`."""
    selector = cams.Selector(models=MODELS, policies=["clock", "broken clock"], num_classes=CLASSES, budget=60, seed=0)
    luck = np.random.default_rng(1)
    on_their_way: list[tuple[int, int, int]] = []  # (round of arrival, ticket, label)
    mistakes = 0
    for t, (y, predictions, advice) in enumerate(stream(seed=0)):
        decision = selector.step(predictions, advice)
        mistakes += decision.prediction != y
        if decision.query:
            heapq.heappush(on_their_way, (t + int(luck.integers(40, 200)), decision.ticket, y))
        while on_their_way and on_their_way[0][0] <= t:
            _, ticket, label = heapq.heappop(on_their_way)
            if luck.random() < 0.1:
                selector.drop(ticket)  # never answered: the budget gets its label back
            else:
                selector.label(ticket, label)
        if t in restart_at:
            selector.save(folder / "state.npz")
            selector = cams.Selector.load(folder / "state.npz", models=MODELS)
    return mistakes, selector.spent, selector.pending


with tempfile.TemporaryDirectory() as name:
    without = run(set(), Path(name))
    with_restarts = run({100, 250, 480}, Path(name))
mistakes, spent, pending = without
print(f"{mistakes} mistakes in {ROUNDS} rounds, {spent:.0f} labels came, {len(pending)} still on their way")
print("with three restarts: the same" if with_restarts == without else "with three restarts: DIFFERENT")
assert with_restarts == without
