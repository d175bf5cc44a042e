"""Sensors that age: DRIFT's test pool in time order. Whom does CAMS trust, and where does it buy labels?

    python examples/sensors.py

Ten batches of gas recordings over 36 months, classifiers that each know one stretch of time, policies that see the
sensors. Prints one line per batch and draws outputs/sensors.png: mistakes so far, whose answers were used, labels
bought. Uses results/bundles/drift.npz of this repository.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import cams

ROOT = Path(__file__).resolve().parents[1]
OUT = Path("outputs")
BUDGET = 100

bundle = cams.Bundle.load(ROOT / "results/bundles/drift.npz")
assert bundle.labels is not None
assert bundle.groups is not None
# Within a batch the order of recordings is not known, so it is drawn.
order = np.lexsort([np.random.default_rng(0).random(bundle.num_rows), bundle.groups])

selector = cams.Selector(
    models=bundle.model_names,
    policies=bundle.policy_names,
    num_classes=bundle.num_classes,
    budget=BUDGET,
    horizon=len(order),
    scaled=True,
    seed=0,
)
rows = []
for row in order:
    decision = selector.step(bundle.predictions[row], bundle.advice[row])
    label = int(bundle.labels[row])
    if decision.query:
        selector.label(decision.ticket, label)
    rows.append((bundle.groups[row], decision.model, decision.prediction != label, decision.query, selector.trusted))
history = pd.DataFrame(rows, columns=["batch", "model", "mistake", "bought", "trusted"])

wrong = bundle.predictions[order] != bundle.labels[order, None]
best = int(wrong.sum(axis=0).argmin())
history["best_mistake"] = wrong[:, best]
used = pd.crosstab(history["batch"], history["model"], normalize="index")
by_batch = history.groupby("batch").agg(
    rounds=("mistake", "size"), mistakes=("mistake", "sum"), best=("best_mistake", "sum"), labels=("bought", "sum")
)
by_batch["most used"] = used.idxmax(axis=1)
by_batch["trusted at its end"] = history.groupby("batch")["trusted"].last()
print(by_batch.to_string())
print(
    f"CAMS: {history['mistake'].sum()} mistakes with {history['bought'].sum()} labels; "
    f"the best single model in hindsight ({bundle.model_names[best]}): {history['best_mistake'].sum()}"
)

figure, (top, middle, bottom) = plt.subplots(
    3, 1, figsize=(6.4, 5.6), sharex=True, height_ratios=[2, 2, 1], layout="constrained"
)
rounds = np.arange(1, len(history) + 1)
top.plot(rounds, history["mistake"].cumsum(), color="#D55E00", label="CAMS")
top.plot(rounds, history["best_mistake"].cumsum(), color="black", linestyle=":", label="best single model in hindsight")
top.set(ylabel="mistakes so far")
top.legend(frameon=False)
window = 60
shares = pd.get_dummies(history["model"])[bundle.model_names].rolling(window, min_periods=1).mean()
middle.stackplot(rounds, shares.T.to_numpy(), labels=shares.columns, colors=plt.get_cmap("tab10").colors)
middle.set(ylabel=f"share of answers\n(last {window} rounds)", ylim=(0, 1))
middle.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=7, title="model", title_fontsize=8)
bottom.plot(rounds, history["bought"].cumsum(), color="#0072B2")
bottom.set(ylabel="labels bought", xlabel="recording, in time order; lines: batches")
for end in by_batch["rounds"].cumsum()[:-1]:
    for ax in (top, middle, bottom):
        ax.axvline(end, color="#bbbbbb", linewidth=0.6)
OUT.mkdir(exist_ok=True)
figure.savefig(OUT / "sensors.png", dpi=150)
