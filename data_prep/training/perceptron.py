"""Perceptrons that predict the rewards of all classifiers at once, for policies of any data set."""

from itertools import pairwise

import numpy as np
import torch
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table
from data_prep.pipeline.schema import Schema
from data_prep.training.cross_fit import Lesson, Member, cross_fit
from data_prep.training.seeding import reproducible

# What the configuration of a policy may say.
LEARNING: Schema = {"epochs": int, "batch_size": int, "learning_rate": float}
MEMBER: Schema = {"layers": [int], "class_weights": [float], **LEARNING}


def train_policies(table: Table, split: Split, classifiers: Classifiers, context: Context) -> Policies:
    """For a table of features: every member names its `layers`, from the features to the classifiers."""
    return cross_fit(fit_predict, table, split, classifiers, context)


def fit_predict(member: Member, lesson: Lesson, features: np.ndarray, seed: int) -> np.ndarray:
    """Rewards (M, k) for standardised `features`. A member with `class_weights` is biased: its training rows are
    drawn by the weight of their class."""
    weights = None
    if "class_weights" in member:
        weights = np.asarray(member["class_weights"], dtype=float)[lesson.labels]
        weights /= weights.sum()
    scaler = StandardScaler().fit(lesson.features)
    inputs, rated = to_tensor(scaler.transform(lesson.features)), to_tensor(scaler.transform(features))
    settings = {"hidden": member["layers"][1:-1], **member}
    return learn_rewards(inputs, to_tensor(lesson.rewards), rated, settings, seed, weights)


def learn_rewards(
    inputs: Tensor,
    rewards: Tensor,
    rated: Tensor,
    settings: Member,
    seed: int,
    weights: np.ndarray | None = None,
    rows_per_epoch: int | None = None,
) -> np.ndarray:
    """Train on inputs (P, d) with rewards (P, k), then predict the rewards (M, k) of `rated` (M, d).

    settings: `hidden` widths, `epochs`, `batch_size`, `learning_rate`; `dropout` and `weight_decay` where wanted.
    weights: how likely each row is to be drawn, (P,), summing to 1; where they differ rows are drawn with replacement.
    """
    with reproducible(seed):
        widths = [inputs.shape[1], *settings["hidden"], rewards.shape[1]]
        network = perceptron(widths, settings.get("dropout", 0.0))
        batches = Batches(len(inputs), rows_per_epoch or len(inputs), settings["batch_size"], weights, seed)
        fit(network, inputs, rewards, batches, settings)
        with torch.inference_mode():
            predicted: np.ndarray = network.eval()(rated).sigmoid().numpy()
            return predicted


def perceptron(widths: list[int], dropout: float = 0.0) -> nn.Sequential:
    """Linear layers of the given widths, ReLU and dropout between them; the outputs are logits of being right."""
    between: list[nn.Module] = [nn.ReLU(), nn.Dropout(dropout)] if dropout else [nn.ReLU()]
    layers: list[nn.Module] = []
    for width_in, width_out in pairwise(widths):
        layers += [nn.Linear(width_in, width_out), *between]
    return nn.Sequential(*layers[: -len(between)])


class Batches:
    """Rows of one epoch after the other, in batches; drawn with replacement where the weights favour some rows."""

    def __init__(self, rows: int, per_epoch: int, batch_size: int, weights: np.ndarray | None, seed: int) -> None:
        self.rows, self.per_epoch, self.batch_size, self.weights = rows, per_epoch, batch_size, weights
        self.skewed = weights is not None and weights.min() < weights.max()
        self.rng = np.random.default_rng(seed)

    def epoch(self) -> tuple[Tensor, ...]:
        order = self.rng.choice(self.rows, size=self.per_epoch, replace=self.skewed, p=self.weights)
        return torch.from_numpy(order).split(self.batch_size)


def fit(network: nn.Sequential, inputs: Tensor, rewards: Tensor, batches: Batches, settings: Member) -> None:
    """AdamW on the cross-entropy of right or wrong, every classifier an output of its own."""
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=settings["learning_rate"], weight_decay=settings.get("weight_decay", 0.0)
    )
    network.train()
    for _ in range(settings["epochs"]):
        for rows in batches.epoch():
            loss = nn.functional.binary_cross_entropy_with_logits(network(inputs[rows]), rewards[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def to_tensor(array: np.ndarray) -> Tensor:
    return torch.from_numpy(np.asarray(array, dtype=np.float32))
