"""What conf/claims.yaml and conf/own_claims.yaml may say; anything else is refused before anything is judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cams
from cams.errors import lookup
from data_prep.pipeline.catalogue import catalogue, find_entry
from data_prep.pipeline.schema import ANYTHING, FOLDER, WORDS, Complete, Each, Range, Some, Words, check
from experiments.claims.rules import CONDITIONS
from experiments.claims.statistics import STATISTICS
from experiments.runner.configuration import experiment_names
from experiments.runner.shape import SEED


class Between(Range):
    """A number between two limits that it does not reach."""

    def __contains__(self, value: Any) -> bool:
        return super().__contains__(value) and self.least < value < self.most

    def __str__(self) -> str:
        return f"{WORDS[self.kind]} above {self.least} and below {self.most}"


SHARE, COUNT = Range(float, 0, 1), Range(int, 0)
SEEDS = Each([SEED])

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
STATED = Complete(id=int, title=str, statement=str, experiment=str, datasets=Some(str), checks=Some(CHECK))
CLAIM = {**STATED, "paper": Each(ANYTHING), "beside": [CHECK], "experiments": Each(str)}

NEEDED = Complete(
    {
        "paths": Complete(results=FOLDER),
        "seed": SEED,
        "training_seeds": SEEDS,
        "titles": Each(str),
        "n_jobs": COUNT,
        "verdict": Complete(reproduced=SHARE, partly=SHARE),
        "interval": Complete(level=Between(float, 0, 1), resamples=Range(int, 1), seed=SEED),
        "equal_cost_points": Range(int, 2),
        "claims": Some(CLAIM),
    }
)
RULES = {
    **NEEDED,
    "seeds": (None, Some(SEED)),
    "datasets": (None, Some(str)),
    "baselines": [str],
    "own": Complete(judged_on=SEEDS, claims=Some(CLAIM)),
}


def check_rules(config: Mapping[str, Any]) -> None:
    """Refuse rules with a misspelt or missing key, or a value of the wrong kind, by its place."""
    check(config, RULES, "")
    _check_present(config, NEEDED, "")
    own = config.get("own", {"judged_on": {}, "claims": []})
    for where, claims in (("claims", config["claims"]), ("own.claims", own["claims"])):
        for i, claim in enumerate(claims):
            _check_present(claim, STATED, f"{where}[{i}]")
            for kind in ("checks", "beside"):
                for j, entry in enumerate(claim.get(kind, [])):
                    _check_present(entry, MEASURED, f"{where}[{i}].{kind}[{j}]")
    _check_names(config, own)


def _check_names(config: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse seeds and titles of what nobody knows, and claims of our own on data sets without planned seeds."""
    for dataset in (*config["training_seeds"], *own["judged_on"]):
        find_entry(dataset)
    claimed = {part for claim in (*config["claims"], *own["claims"]) for part in claim["datasets"]}
    others = {part: part for part in claimed if part not in catalogue()}
    for part in config["titles"]:
        lookup(others, part, "part of a claim, data sets apart,")
    # A record of an experiment that there is not would merely be missing, and its claim not measured.
    known = dict.fromkeys(experiment_names())
    for claim in (*config["claims"], *own["claims"]):
        for experiment in _experiments_of(claim):
            lookup(known, experiment, f"experiment of claim {claim['id']},")
    for i, claim in enumerate(own["claims"]):
        for dataset in claim["datasets"]:
            if dataset not in own["judged_on"]:
                raise cams.InputError(f"own.judged_on lacks the key '{dataset}', a data set of own.claims[{i}]")


def _experiments_of(claim: Mapping[str, Any]) -> list[str]:
    entries = (claim, *claim["checks"], *claim.get("beside", []))
    return [entry["experiment"] for entry in entries if "experiment" in entry] + list(
        claim.get("experiments", {}).values()
    )


def _check_present(entry: Mapping[str, Any], needed: Complete, where: str) -> None:
    """Refuse an entry that lacks a key which it cannot do without; others may stand beside them."""
    check({key: value for key, value in entry.items() if key in needed}, needed, where)
