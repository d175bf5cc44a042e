"""Labels that come hours later: ask now, learn when the answer arrives, save and load in between.

    python examples/late_labels.py

A stream of 600 instances; every label that is asked for comes back after 40 to 200 rounds, one in ten never. The
selector is saved and loaded three times on the way, as a service would that restarts, and ends exactly where one ends
that never stopped. Draws outputs/late_labels.png: whom it trusts, and when labels were asked for and came.
"""

from __future__ import annotations

import heapq
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import cams

OUT = Path("outputs")
POLICIES = ["clock", "broken clock"]
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


def run(restart_at: set[int], folder: Path) -> dict[str, list]:
    """Play the stream and note what happened; save and load the selector after the rounds of `restart_at`."""
    selector = cams.Selector(models=MODELS, policies=POLICIES, num_classes=CLASSES, budget=60, seed=0)
    luck = np.random.default_rng(1)
    on_their_way: list[tuple[int, int, int]] = []  # (round of arrival, ticket, label)
    seen: dict[str, list] = {"mistakes": [], "asked": [], "came": [], "trust": []}
    for t, (y, predictions, advice) in enumerate(stream(seed=0)):
        decision = selector.step(predictions, advice)
        if decision.prediction != y:
            seen["mistakes"].append(t)
        if decision.query:
            seen["asked"].append(t)
            heapq.heappush(on_their_way, (t + int(luck.integers(40, 200)), decision.ticket, y))
        while on_their_way and on_their_way[0][0] <= t:
            _, ticket, label = heapq.heappop(on_their_way)
            if luck.random() < 0.1:
                selector.drop(ticket)  # never answered: the budget gets its label back
            else:
                selector.label(ticket, label)
                seen["came"].append(t)
        seen["trust"].append([selector.weights[name] for name in (*POLICIES, *MODELS)])
        if t in restart_at:
            selector.save(folder / "state.npz")
            selector = cams.Selector.load(folder / "state.npz", models=MODELS)
    return seen


with tempfile.TemporaryDirectory() as name:
    without = run(set(), Path(name))
    with_restarts = run({100, 250, 480}, Path(name))
mistakes, asked, came = (len(without[what]) for what in ("mistakes", "asked", "came"))
print(f"{mistakes} mistakes in {ROUNDS} rounds, {asked} labels asked for, {came} of them came")
print("with three restarts: the same" if with_restarts == without else "with three restarts: DIFFERENT")
assert with_restarts == without

figure, (top, bottom) = plt.subplots(2, 1, figsize=(6, 3.6), sharex=True, height_ratios=[3, 1], layout="constrained")
for label, share in zip((*POLICIES, *MODELS), np.transpose(without["trust"]), strict=True):
    top.plot(range(1, ROUNDS + 1), share, label=label if label in POLICIES else f"model '{label}'")
top.set(ylabel="Weight", ylim=(0, 1))
top.legend(ncols=3, fontsize="small", frameon=False)
bottom.eventplot([without["asked"], without["came"], without["mistakes"]], colors=["C0", "C2", "C3"], linelengths=0.7)
bottom.set(yticks=range(3), yticklabels=["asked for", "came", "mistake"], xlabel="Round t")
OUT.mkdir(exist_ok=True)
figure.savefig(OUT / "late_labels.png", dpi=150)
print(f"wrote {OUT / 'late_labels.png'}")
