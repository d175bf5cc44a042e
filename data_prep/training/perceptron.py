"""DRIFT's policies: multi-layer perceptrons from 128 sensor features to the rewards of the 10 classifiers."""

from itertools import pairwise

import numpy as np
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table
from data_prep.training.cross_fit import Lesson, Member, cross_fit


def train_policies(table: Table, split: Split, classifiers: Classifiers, context: Context) -> Policies:
    return cross_fit(rate, table, split, classifiers, context)


def rate(member: Member, lesson: Lesson, features: np.ndarray, seed: int) -> np.ndarray:
    """Train one perceptron and return the rewards (M, k) it predicts for `features`.

    A member with `class_weights` is biased: its training rows are drawn by the weight of their class.
    """
    # One thread: sums in a fixed order, and no contention between members trained side by side.
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    weights = np.asarray(member["class_weights"], dtype=float)[lesson.labels] if "class_weights" in member else None
    scaler = StandardScaler().fit(lesson.features)
    network = perceptron([*member["layers"][:-1], lesson.rewards.shape[1]], seed)
    fit(network, to_tensor(scaler.transform(lesson.features)), to_tensor(lesson.rewards), weights, member, rng)
    with torch.inference_mode():
        return network.eval()(to_tensor(scaler.transform(features))).sigmoid().numpy()


def perceptron(widths: list[int], seed: int) -> nn.Sequential:
    """Linear layers of the given widths, ReLU between them; the outputs are logits of being right."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers: list[nn.Module] = []
        for width_in, width_out in pairwise(widths):
            layers += [nn.Linear(width_in, width_out), nn.ReLU()]
        return nn.Sequential(*layers[:-1])


def fit(
    network: nn.Sequential,
    features: torch.Tensor,
    rewards: torch.Tensor,
    weights: np.ndarray | None,
    member: Member,
    rng: np.random.Generator,
) -> None:
    """Adam on the cross-entropy of right or wrong, every classifier an output of its own."""
    optimizer = torch.optim.Adam(network.parameters(), lr=member["learning_rate"])
    probabilities = None if weights is None else weights / weights.sum()
    for _ in range(member["epochs"]):
        order = rng.choice(len(features), size=len(features), replace=weights is not None, p=probabilities)
        for rows in torch.from_numpy(order).split(member["batch_size"]):
            loss = nn.functional.binary_cross_entropy_with_logits(network(features[rows]), rewards[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def to_tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(array, dtype=np.float32))
