"""What conf/run.yaml, conf/all.yaml, conf/replay.yaml and an experiment file may say; anything else is refused."""

from __future__ import annotations

from typing import Any

import cams
from data_prep.pipeline.catalogue import DATASET, SCALE
from data_prep.pipeline.schema import ANYTHING, FOLDER, Complete, Each, Range, Some, Words
from experiments.runner.computations import COMPUTATIONS
from experiments.runner.preparation import CONTRARIES

COUNT, AT_LEAST_ONE, SHARE = Range(int, 0), Range(int, 1), Range(float, 0, 1)
# What the engine takes: 64 bits with a sign.
SEED = Range(int, 0, 2**63 - 1)
# A grid is a list in memory and a curve on paper; a misplaced power of ten would fill the one and blacken the other.
MOST_POINTS = 10_000
# Models added to a zoo: more than any zoo has, and not so many that nobody waits for the end.
CROWD = Range(int, 0, 1000)
STEPS = ("replay", "figures", "tables", "claims")

PATHS = Complete(results=FOLDER, bundles=FOLDER)
STREAM = {"title": str, "horizon": AT_LEAST_ONE, "budget": COUNT, "realizations": AT_LEAST_ONE}
POLICIES = (Words("all", "none"), [Words("normal", "malicious", "random", "biased")])
SOME_BUDGETS = [(Words("budget"), COUNT)]
# A name, or a mapping with a name, a label and settings, which are the learner's own.
LEARNER = (str, Each(ANYTHING))

CASE = {
    "label": str,
    "policies": POLICIES,
    "regularize": bool,
    "scaled": bool,
    "temper": Range(float, 0),
    "malicious": (None, SHARE),
    "contrary": Words(*CONTRARIES),
    "copies": CROWD,
    "different": CROWD,
}
PANEL = {
    "kind": str,
    "title": str,
    "x_label": str,
    "references": [str],
    "series": [str],
    "learners": [str],
    "budget": COUNT,
    "order": COUNT,
    "cases": str,
}

EXPERIMENT = Complete(
    {
        "name": str,
        "title": str,
        "datasets": [str],
        "learners": [LEARNER],
        "streams": Each(STREAM),
        "policies": POLICIES,
        "regularize": bool,
        "scaled": bool,
        "budgets": Complete(points=Range(int, 1, MOST_POINTS), power=Range(float, 0)),
        "trace": Complete(points=Range(int, 0, MOST_POINTS), budgets=(SOME_BUDGETS, Each(SOME_BUDGETS))),
        "cases": [CASE],
        "compute": Words(*COMPUTATIONS),
        "needs_bundle": bool,
        # These depend on the computation.
        "options": Each(ANYTHING),
        "panels": [PANEL],
        "panels_as": Words("rows", "columns"),
        "compose": [{"experiment": str, "dataset": str, "panel": COUNT, "title": str}],
        "columns": AT_LEAST_ONE,
    }
)

OPTIONS: dict[str, dict[str, Any]] = {
    "replay": {"oracle_drawn": bool},
    "adversarial": Complete({"orders": Each(Some(str)), "blocks": AT_LEAST_ONE, "choices": AT_LEAST_ONE}),
    "theory_stochastic": Complete(
        {
            "models": Range(int, 2),
            "classes": Range(int, 2),
            "policies": AT_LEAST_ONE,
            "pools": Each({"gap": SHARE, "best_rate": SHARE, "softness": SHARE, "regularize": bool}),
            "compared": [str],
            "failure": SHARE,
            "horizons": Some(AT_LEAST_ONE),
        }
    ),
    "theory_adversarial": Complete(
        {
            "models": AT_LEAST_ONE,
            "classes": Range(int, 2),
            "cases": Some(Words("even draws", "adaptive")),
            "horizons": Some(AT_LEAST_ONE),
        }
    ),
}

RUN = Complete(
    {
        "seed": SEED,
        "bundle": (str, None),
        "horizon": (AT_LEAST_ONE, None),
        "budget": (COUNT, None),
        "budgets": ([COUNT], None),
        "realizations": (AT_LEAST_ONE, None),
        "n_jobs": COUNT,
        "fresh": bool,
        "paths": PATHS,
        "streams": Each(STREAM),
        "experiment": EXPERIMENT,
        "learner": {name: dict.fromkeys(entry.constants, ANYTHING) for name, entry in cams.LEARNERS.items()},
        "dataset": DATASET,
        "scale": SCALE,
    }
)

ALL = Complete(
    {
        "steps": Some(Words(*STEPS)),
        "fresh": bool,
        "experiments": ([str], None),
        "datasets": ([str], None),
        "n_jobs": COUNT,
        "cluster": (str, None),
        "paths": PATHS,
        "scale": SCALE,
    }
)

REPLAY = Complete(
    {
        "bundle": str,
        "learners": ([LEARNER], LEARNER),
        "horizon": (AT_LEAST_ONE, None),
        "budgets": ([COUNT], COUNT),
        "realizations": AT_LEAST_ONE,
        "seed": SEED,
        "out": str,
        "plot": (str, None),
        "regularize": bool,
        "scaled": bool,
        "n_jobs": COUNT,
        "cluster": (str, None),
    }
)

VERIFY = Complete(
    {
        "experiments": ([str], None),
        "datasets": ([str], None),
        "n_jobs": COUNT,
        "paths": PATHS,
    }
)
