"""ImageNet's policies: one perceptron per backbone, from its features to the rewards of the zoo."""

from dataclasses import replace

import numpy as np

from data_prep.datasets.imagenet.zoo import features
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table
from data_prep.training import perceptron
from data_prep.training.cross_fit import Lesson, Member, cross_fit


def train_policies(table: Table, split: Split, classifiers: Classifiers, context: Context) -> Policies:
    """Backbones lie side by side in one matrix, and every member reads its own columns."""
    backbones = sorted({member.backbone for member in context.settings.policies.members})
    blocks = [features(name, table, context) for name in backbones]
    ends = np.cumsum([block.shape[1] for block in blocks])
    columns = {
        name: (int(end - block.shape[1]), int(end)) for name, block, end in zip(backbones, blocks, ends, strict=True)
    }

    def fit_predict(member: Member, lesson: Lesson, inputs: np.ndarray, seed: int) -> np.ndarray:
        start, end = columns[member["backbone"]]
        own = replace(lesson, features=lesson.features[:, start:end])
        layers = [end - start, *member["hidden"], lesson.rewards.shape[1]]
        return perceptron.fit_predict({**member, "layers": layers}, own, inputs[:, start:end], seed)

    side_by_side = replace(table, inputs=np.concatenate(blocks, axis=1))
    return cross_fit(fit_predict, side_by_side, split, classifiers, context)
