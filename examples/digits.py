"""Your own models in one file: train six digit classifiers and three routers, replay them, then run CAMS live.

    python examples/digits.py

Each model has seen five of the ten digits only, so no single one is good everywhere. Three routers learn, on rows that
no model was trained on, which models are right where. Writes outputs/digits.png and prints what a replay and a live run
give. Needs `pip install 'cams[routing,plot]'`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

import cams

OUT = Path("outputs")

X, y = load_digits(return_X_y=True)
shuffled = np.random.default_rng(0).permutation(len(y))
X, y = X[shuffled], y[shuffled]
for_models, for_routers, pool = slice(0, 500), slice(500, 1000), slice(1000, None)

# Six models, each a specialist on half of the digits.
untrained = {
    "logistic 0-4": (LogisticRegression(max_iter=1000), [0, 1, 2, 3, 4]),
    "bayes 5-9": (GaussianNB(), [5, 6, 7, 8, 9]),
    "tree even": (DecisionTreeClassifier(random_state=0), [0, 2, 4, 6, 8]),
    "forest odd": (RandomForestClassifier(30, random_state=0), [1, 3, 5, 7, 9]),
    "logistic 2,3,5,7,8": (LogisticRegression(max_iter=1000), [2, 3, 5, 7, 8]),
    "tree 0,1,4,6,9": (DecisionTreeClassifier(random_state=1), [0, 1, 4, 6, 9]),
}
models = {}
for name, (model, digits) in untrained.items():
    known = np.isin(y[for_models], digits)
    models[name] = model.fit(X[for_models][known], y[for_models][known])

# Three routers, fitted where the models were not: they learn who is right at x.
predictions = {name: model.predict(X[for_routers]) for name, model in models.items()}
routers = [
    cams.Router(RandomForestRegressor(100, random_state=0), name="forest"),
    cams.Router(ExtraTreesRegressor(100, random_state=0), name="extra trees"),
    cams.Router(KNeighborsRegressor(5), name="neighbours"),
]
for router in routers:
    router.fit(X[for_routers], predictions, y[for_routers])
    print(f"router {router.name}: sharpness {router.sharpness_:g}")

# What would have happened? Twenty streams of 700 digits at several budgets.
bundle = cams.Bundle.from_models(models, routers, X[pool], y[pool])
result = cams.replay(
    bundle, ["cams", "cqbc", "mp", "rs"], horizon=700, budgets=[0, 5, 10, 20, 50, 100, 200], realizations=20, seed=0
)
print(result.summary().round(1).to_string(index=False))
result.plot(OUT / "digits.png")

# And live: one digit at a time, at most 50 labels.
selector = cams.Selector(models=bundle.model_names, policies=bundle.policy_names, classes=range(10), budget=50, seed=0)
mistakes = 0
for x, truth in zip(X[pool], y[pool], strict=True):
    answers = [model.predict(x[None])[0] for model in models.values()]
    advice = [router.advise(x[None])[0] for router in routers]
    decision = selector.step(answers, advice)
    mistakes += decision.prediction != truth
    if decision.query:
        selector.label(decision.ticket, truth)
best_model = result.model_losses.mean(axis=0).min() / result.horizon
print(
    f"live: {mistakes} mistakes in {selector.rounds} rounds with {selector.spent:.0f} labels; "
    f"it trusts {selector.trusted}; the best single model errs on {best_model:.0%}"
)
