"""Which of the records on disk are not what they would be if they were made now."""

from __future__ import annotations

from pathlib import Path

import cams
from experiments.runner.configuration import compose_experiment, experiment_names
from experiments.runner.places import Places, record_state
from experiments.runner.plan import Plan
from experiments.runner.resolve import make_plan


def notes_on_records(results: Path, seed: int) -> list[str]:
    """Return a sentence on every stale record of a seed; a damaged one is refused.

    Whoever makes a figure, table, verdict or page from such a record shows these sentences with it.
    """
    places = Places(results / "bundles", results)
    notes = []
    for name in experiment_names():
        datasets = sorted(path.parent.name for path in (results / "records" / name).glob(f"*/seed{seed}.parquet"))
        for plan in _plans(name, datasets, seed):
            state = record_state(plan, places)
            if state.word == "damaged":
                raise cams.InputError(
                    f"the record {places.record(plan)} is damaged; `python -m experiments.run experiment={name} "
                    f"dataset={plan.dataset}` makes it anew"
                )
            if not state.is_current:
                notes.append(f"the record of {name} on {plan.dataset} is {state}")
    return notes


def _plans(experiment: str, datasets: list[str], seed: int) -> list[Plan]:
    if not datasets:
        return []
    cfg = compose_experiment(experiment, seed=seed)
    return [make_plan(cfg, dataset) for dataset in datasets]
