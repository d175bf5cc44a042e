"""HIV's trained policies: one perceptron per fingerprint, from its bits to the rewards of the four classifiers.

Normal policies learn from all policy rows. Biased ones see a skewed distribution: some classes drawn more often
than others (`class_weights`), or the molecules of some regions alone (`regions`).
"""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf

from data_prep.datasets.hiv.features import FINGERPRINTS, Molecules, num_bytes, unpack
from data_prep.datasets.hiv.regions import regions_of
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table
from data_prep.training.cross_fit import Lesson, Member, cross_fit
from data_prep.training.perceptron import learn_rewards


def train_policies(table: Table, split: Split, classifiers: Classifiers, context: Context) -> Policies:
    inputs = side_by_side(table.inputs, regions_of(table.inputs, split, context))
    return cross_fit(fit_predict, replace(table, inputs=inputs), split, classifiers, with_perceptron(context))


def with_perceptron(context: Context) -> Context:
    """Every member carries the shared settings of its network, so that they too name its checkpoint."""
    settings: Any = OmegaConf.to_container(context.settings)
    policies = settings["policies"]
    policies["members"] = [policies["perceptron"] | member for member in policies["members"]]
    return replace(context, settings=OmegaConf.create(settings))


def side_by_side(molecules: Molecules, regions: np.ndarray) -> np.ndarray:
    """All packed fingerprints in one matrix of bytes (N, bytes + 1), the region number last."""
    columns = [molecules.fingerprints[name] for name in FINGERPRINTS]
    return np.concatenate([*columns, regions[:, None].astype(np.uint8)], axis=1)


def bits_of(inputs: np.ndarray, fingerprint: str) -> torch.Tensor:
    """The (M, bits) zeros and ones of one fingerprint, from rows of `side_by_side`."""
    widths = [num_bytes(name) for name in FINGERPRINTS]
    position = FINGERPRINTS.index(fingerprint)
    start = sum(widths[:position])
    return torch.from_numpy(unpack(inputs[:, start : start + widths[position]], fingerprint))


def fit_predict(member: Member, lesson: Lesson, inputs: np.ndarray, seed: int) -> np.ndarray:
    """Train one policy and return the rewards (M, k) it predicts for `inputs`."""
    bits, rated = (bits_of(rows, member["fingerprint"]) for rows in (lesson.features, inputs))
    weights = drawing_weights(member, lesson)
    # A biased policy's epoch is as many rows as its distribution favours, so that one region is not seen too often.
    skewed = weights.min() < weights.max()
    rows_per_epoch = round(1 / np.square(weights).sum()) if skewed else len(weights)
    return learn_rewards(bits, torch.from_numpy(lesson.rewards), rated, member, seed, weights, rows_per_epoch)


def drawing_weights(member: Member, lesson: Lesson) -> np.ndarray:
    """How likely each row is to be drawn for training, (P,), summing to 1."""
    weights = np.ones(len(lesson.labels))
    if "class_weights" in member:
        weights *= np.asarray(member["class_weights"], dtype=float)[lesson.labels]
    if "regions" in member:
        weights *= np.isin(lesson.features[:, -1], member["regions"])
    return weights / weights.sum()
