"""The CIFAR10 zoo: specialists of four CNN families, trained on class-skewed subsamples, several snapshots each."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from cams.errors import InputError
from data_prep.datasets.cifar10.networks import build_network
from data_prep.datasets.cifar10.runs import divided_classes, in_parallel, kept_weights, setup_from, skewed_rows
from data_prep.datasets.cifar10.training import CLASSES, Setup, outputs_of, train
from data_prep.pipeline.checkpoints import Checkpoints
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Split, Table
from data_prep.pipeline.hashes import fingerprint
from data_prep.training.seeding import seeded


@dataclass(frozen=True)
class Specialist:
    """One training run: a network, the rows it sees (drawn with its favoured classes in front), a seed."""

    name: str
    network: dict[str, Any]
    favoured: list[int]
    rows: np.ndarray
    seed: int


def train_classifiers(table: Table, split: Split, context: Context) -> Classifiers:
    """Train on split.classifier_rows alone and predict the policy rows and the pool."""
    settings = context.settings.classifiers
    setup = setup_from(context.settings.training, settings.schedule)
    evaluated = np.concatenate([split.policy_rows, split.pool_rows])
    specialists = declared_specialists(table, split, context)
    data = fingerprint(table.inputs, table.labels)
    jobs = [(one, table, evaluated, setup, data, context.checkpoints("classifiers")) for one in specialists]
    predictions = np.concatenate(in_parallel(predictions_of, jobs, context.n_jobs, "classifiers"), axis=1)
    names = [name for one in specialists for name in setup.schedule.snapshot_names(one.name)]
    if not settings.allow_twins:
        require_distinct(predictions, names)
    num_policy_rows = len(split.policy_rows)
    return Classifiers(names, predictions[:num_policy_rows], predictions[num_policy_rows:])


def declared_specialists(table: Table, split: Split, context: Context) -> list[Specialist]:
    """The runs that `classifiers:` in the configuration asks for, family by family."""
    settings = context.settings.classifiers
    specialists = []
    families: Any = OmegaConf.to_container(settings.networks)
    for family, networks in families.items():
        rng = context.rng(f"favoured_classes/{family}")
        per_run = divided_classes(table.num_classes, settings.favoured, settings.runs_per_family, rng)
        for run, favoured in enumerate(per_run):
            name = f"{family}_{run:02d}"
            draw = context.rng(f"classifier_rows/{name}")
            rows = skewed_rows(
                table.labels, split.classifier_rows, favoured, settings.other_weight, settings.sample, draw
            )
            network = {"family": family, **networks[run % len(networks)]}
            seed = context.integer_seed(f"classifier/{name}")
            specialists.append(Specialist(name, network, favoured, rows, seed))
    return specialists


def predictions_of(
    one: Specialist, table: Table, evaluated: np.ndarray, setup: Setup, data: str, checkpoints: Checkpoints
) -> np.ndarray:
    """Predicted labels (evaluated rows, snapshots) uint8 of one specialist, trained here unless it is on disk."""
    key = ({"data": data, "network": one.network, "seed": one.seed, "setup": asdict(setup)}, one.rows)
    weights = checkpoints.path(one.name, key, ".pt")
    stored = checkpoints.arrays(
        f"{one.name}_predictions", (*key, evaluated), lambda: predict(one, table, evaluated, setup, weights)
    )
    return stored["predictions"]


def predict(one: Specialist, table: Table, evaluated: np.ndarray, setup: Setup, weights: Path) -> dict[str, np.ndarray]:
    with seeded(one.seed, setup.threads):
        network = build_network(one.network, table.num_classes)
        snapshots = kept_weights(
            weights,
            lambda: train(network, table.inputs[one.rows], table.labels[one.rows], CLASSES, setup, one.name),
        )
        columns, pixels = [], table.inputs[evaluated]
        for number in sorted(snapshots):
            network.load_state_dict(snapshots[number])
            columns.append(outputs_of(network, pixels, setup).argmax(axis=1).astype(np.uint8))
    return {"predictions": np.stack(columns, axis=1)}


def require_distinct(predictions: np.ndarray, names: list[str]) -> None:
    """Two classifiers that agree on every image would be one classifier counted twice."""
    _, first, counts = np.unique(predictions, axis=1, return_index=True, return_counts=True)
    if (counts > 1).any():
        twin = names[first[counts.argmax()]]
        raise InputError(f"classifier '{twin}' has a twin with the same prediction for every image")
