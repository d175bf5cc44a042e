"""What conf/claims.yaml and conf/own_claims.yaml may say; anything else is refused before anything is judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from data_prep.pipeline.schema import ANYTHING, Complete, Each, Range, Words, check
from experiments.claims.rules import CONDITIONS
from experiments.claims.statistics import STATISTICS

SHARE, COUNT = Range(float, 0, 1), Range(int, 0)
SEEDS = Each([COUNT])

MEASURED = Complete(statistic=Words(*STATISTICS))
CHECK = {
    **MEASURED,
    "learner": str,
    "baseline": (str, [str]),
    "baselines": [str],
    "reference": str,
    "quantity": str,
    "cost": COUNT,
    "margin": Range(float, 0),
    "experiment": str,
    "datasets": [str],
    **dict.fromkeys(CONDITIONS, float),
    "within": [float],
}
STATED = Complete(id=int, title=str, statement=str, experiment=str, datasets=[str], checks=[CHECK])
CLAIM = {**STATED, "paper": Each(ANYTHING), "beside": [CHECK], "experiments": Each(str)}

RULES = {
    "paths": Complete(results=str),
    "seed": COUNT,
    "training_seeds": SEEDS,
    "seeds": (None, [COUNT]),
    "datasets": (None, [str]),
    "titles": Each(str),
    "n_jobs": COUNT,
    "verdict": Complete(reproduced=SHARE, partly=SHARE),
    "interval": Complete(level=SHARE, resamples=Range(int, 1), seed=COUNT),
    "equal_cost_points": Range(int, 2),
    "baselines": [str],
    "claims": [CLAIM],
    "own": Complete(judged_on=SEEDS, claims=[CLAIM]),
}


def check_rules(config: Mapping[str, Any]) -> None:
    """Refuse rules with a misspelt or missing key, or a value of the wrong kind, by its place."""
    check(config, RULES, "")
    for where, claims in (("claims", config["claims"]), ("own.claims", config.get("own", {}).get("claims", []))):
        for i, claim in enumerate(claims):
            _check_present(claim, STATED, f"{where}[{i}]")
            for kind in ("checks", "beside"):
                for j, entry in enumerate(claim.get(kind, [])):
                    _check_present(entry, MEASURED, f"{where}[{i}].{kind}[{j}]")


def _check_present(entry: Mapping[str, Any], needed: Complete, where: str) -> None:
    """Refuse an entry that lacks a key which it cannot do without; others may stand beside them."""
    check({key: value for key, value in entry.items() if key in needed}, needed, where)
