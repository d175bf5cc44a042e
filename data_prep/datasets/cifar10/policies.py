"""CIFAR10 policies: CNNs that see an image and predict, for each classifier of the zoo, the chance that it is right.

Each ends in a narrow layer of whole numbers, so its rewards can be stored exactly in a few bytes per image:
reward = sigmoid(scale * features @ weights + bias). Normal policies are snapshots of one network per family; biased
ones start from the last snapshot and are tuned for a while on a class-skewed part of the policy rows.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf
from torch import Tensor, nn

from cams.compact import HeadRewards
from data_prep.datasets.cifar10.networks import build_network
from data_prep.datasets.cifar10.runs import divided_classes, in_parallel, kept_weights, setup_from, skewed_rows
from data_prep.datasets.cifar10.training import RewardObjective, Setup, StateDict, outputs_of, train
from data_prep.pipeline.checkpoints import Checkpoints
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table
from data_prep.pipeline.hashes import fingerprint
from data_prep.training.seeding import seeded
from data_prep.training.weights import load_weights

# Features are normalised, so all but one in 160 lie within this many standard deviations.
FEATURE_RANGE = 2.5


class RewardNetwork(nn.Module):
    """A CNN, a narrow layer of whole numbers in -levels..levels, and a linear head with one logit per classifier.

    A second head asks the same features for the class. It only helps training along: which classifiers are right is
    mostly a matter of what the image shows, and the class is the clearer signal. No policy uses it afterwards.
    """

    def __init__(
        self, network: dict[str, Any], num_features: int, num_models: int, num_classes: int, levels: int
    ) -> None:
        super().__init__()
        self.backbone = build_network(network, num_features)
        self.norm = nn.BatchNorm1d(num_features)
        self.head = nn.Linear(num_features, num_models)
        self.class_head = nn.Linear(num_features, num_classes)
        self.levels = levels

    @property
    def scale(self) -> float:
        return FEATURE_RANGE / self.levels

    def features(self, images: Tensor) -> Tensor:
        """Whole numbers (B, d); gradients pass through the rounding as if it were not there."""
        exact = torch.clamp(self.norm(self.backbone(images)) / self.scale, -self.levels, self.levels)
        return exact + (exact.round() - exact).detach()

    def forward(self, images: Tensor) -> Tensor:
        """Logits (B, num_models + num_classes): first the rewards, then the class."""
        features = self.features(images) * self.scale
        return torch.cat([self.head(features), self.class_head(features)], dim=1)


class FeaturesOf(nn.Module):
    """The part of a reward network that is evaluated per image."""

    def __init__(self, network: RewardNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        return self.network.features(images)


@dataclass(frozen=True)
class PolicyRun:
    """One training run; `start` is the file of the run whose last snapshot it continues, if any."""

    name: str
    network: dict[str, Any]
    rows: np.ndarray
    seed: int
    start: Path | None = None


@dataclass(frozen=True)
class Trained:
    """The snapshots of one run: features (rows, snapshots, d) int8 and the heads on them."""

    weights: np.ndarray
    bias: np.ndarray
    features: np.ndarray
    file: Path


@dataclass(frozen=True)
class Rating:
    """What every policy run shares: the images, which classifiers are right where, the rows to rate in the end."""

    table: Table
    rows: np.ndarray  # row ids that have a target
    correct: np.ndarray  # (len(rows), k) float32
    reward_weight: float
    rated: np.ndarray
    num_features: int
    levels: int
    key: str
    checkpoints: Checkpoints


def train_policies(table: Table, split: Split, classifiers: Classifiers, context: Context) -> Policies:
    """Train on the policy rows that are not held out; rate the pool and the held-out rows."""
    settings = context.settings.policies
    held_out = context.rng("held_out").choice(len(split.policy_rows), settings.held_out, replace=False)
    held_out.sort()
    training_rows = np.delete(split.policy_rows, held_out)
    rating = shared_rating(table, split, classifiers, held_out, context)
    normal_setup = setup_from(context.settings.training, settings.schedule)
    biased_setup = setup_from(context.settings.training, settings.biased.schedule)

    normal_runs = declared_runs(training_rows, context)
    jobs = [(run, rating, normal_setup) for run in normal_runs]
    normal = in_parallel(train_run, jobs, context.n_jobs, "policies")
    starts = [trained.file for trained in normal]
    biased_runs = declared_biased_runs(table, training_rows, normal_runs, starts, context)
    jobs = [(run, rating, biased_setup) for run in biased_runs]
    biased = in_parallel(train_run, jobs, context.n_jobs, "biased policies")

    names = [name for run in normal_runs for name in normal_setup.schedule.snapshot_names(run.name)]
    kinds = ["normal"] * len(names) + ["biased"] * len(biased_runs)
    heads = joined_heads([*normal, *biased], rating.levels)
    num_held_out = len(held_out)
    return Policies(
        names=names + [run.name for run in biased_runs],
        kinds=kinds,
        pool_rewards=with_features(heads, heads.features[num_held_out:]),
        held_out=held_out,
        held_out_rewards=with_features(heads, heads.features[:num_held_out]).rows(0, num_held_out),
    )


def shared_rating(
    table: Table, split: Split, classifiers: Classifiers, held_out: np.ndarray, context: Context
) -> Rating:
    settings = context.settings.policies
    correct = classifiers.policy_predictions == table.labels[split.policy_rows, None]
    return Rating(
        table=table,
        rows=split.policy_rows,
        correct=correct.astype(np.float32),
        reward_weight=settings.reward_weight,
        rated=np.concatenate([split.policy_rows[held_out], split.pool_rows]),
        num_features=settings.features,
        levels=settings.levels,
        key=fingerprint(table.inputs, table.labels, split.policy_rows, correct),
        checkpoints=context.checkpoints("policies"),
    )


def declared_runs(training_rows: np.ndarray, context: Context) -> list[PolicyRun]:
    networks: Any = OmegaConf.to_container(context.settings.policies.networks)
    runs = []
    for family, declarations in networks.items():
        for number, declaration in enumerate(declarations):
            name = f"{family}_{number}"
            seed = context.integer_seed(f"policy/{name}")
            runs.append(PolicyRun(name, {"family": family, **declaration}, training_rows, seed))
    return runs


def declared_biased_runs(
    table: Table, training_rows: np.ndarray, normal: list[PolicyRun], starts: list[Path], context: Context
) -> list[PolicyRun]:
    """A few continuations of every normal run, each on rows that favour a few classes."""
    settings = context.settings.policies.biased
    runs = []
    for parent, start in zip(normal, starts, strict=True):
        rng = context.rng(f"biased_classes/{parent.name}")
        for number, favoured in enumerate(divided_classes(table.num_classes, settings.favoured, settings.per_run, rng)):
            name = f"biased_{parent.name}_{number}"
            draw = context.rng(f"policy_rows/{name}")
            rows = skewed_rows(table.labels, training_rows, favoured, settings.other_weight, settings.sample, draw)
            runs.append(PolicyRun(name, parent.network, rows, context.integer_seed(f"policy/{name}"), start))
    return runs


def train_run(run: PolicyRun, rating: Rating, setup: Setup) -> Trained:
    """Features and heads of every snapshot of one run, trained here unless it is on disk."""
    settings = {
        "network": run.network,
        "seed": run.seed,
        "setup": asdict(setup),
        "start": None if run.start is None else run.start.name,
        "features": rating.num_features,
        "levels": rating.levels,
        "reward_weight": rating.reward_weight,
    }
    key = (settings, rating.key, run.rows)
    file = rating.checkpoints.path(run.name, key, ".pt")
    stored = rating.checkpoints.arrays(
        f"{run.name}_features", (*key, rating.rated), lambda: features_and_heads(run, rating, setup, file)
    )
    return Trained(file=file, **stored)


def features_and_heads(run: PolicyRun, rating: Rating, setup: Setup, file: Path) -> dict[str, np.ndarray]:
    with seeded(run.seed, setup.threads):
        sizes = (rating.num_features, rating.correct.shape[1], rating.table.num_classes)
        network = RewardNetwork(run.network, *sizes, rating.levels)
        snapshots = kept_weights(file, lambda: trained_snapshots(run, network, rating, setup))
        features, pixels = [], rating.table.inputs[rating.rated]
        for number in sorted(snapshots):
            network.load_state_dict(snapshots[number])
            features.append(outputs_of(FeaturesOf(network), pixels, setup))
    heads = [snapshots[number] for number in sorted(snapshots)]
    return {
        "features": np.stack(features, axis=1).round().astype(np.int8),
        "weights": np.stack([state["head.weight"].numpy().T for state in heads]),
        "bias": np.stack([state["head.bias"].numpy() for state in heads]),
    }


def trained_snapshots(run: PolicyRun, network: RewardNetwork, rating: Rating, setup: Setup) -> dict[int, StateDict]:
    if run.start is not None:
        parent = load_weights(run.start)
        network.load_state_dict(parent[max(parent)])
    position = np.argsort(rating.rows)
    correct = rating.correct[position[np.searchsorted(rating.rows, run.rows, sorter=position)]]
    classes = np.eye(rating.table.num_classes, dtype=np.float32)[rating.table.labels[run.rows]]
    objective = RewardObjective(correct.shape[1], rating.reward_weight)
    pixels, targets = rating.table.inputs[run.rows], np.concatenate([correct, classes], axis=1)
    return train(network, pixels, targets, objective, setup, run.name)


def joined_heads(trained: list[Trained], levels: int) -> HeadRewards:
    """All policies of all runs, in order, as one set of linear heads."""
    features = np.concatenate([one.features for one in trained], axis=1)
    return HeadRewards(
        features=features,
        scale=np.full(features.shape[1], FEATURE_RANGE / levels, dtype=np.float32),
        weights=np.concatenate([one.weights for one in trained]),
        bias=np.concatenate([one.bias for one in trained]),
    )


def with_features(heads: HeadRewards, features: np.ndarray) -> HeadRewards:
    return HeadRewards(features=features, scale=heads.scale, weights=heads.weights, bias=heads.bias)
