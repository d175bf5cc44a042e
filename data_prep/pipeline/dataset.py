"""The contract of a data set: what `data_prep/datasets/<name>.py` must define, and what the stages pass along.

Adding a data set is one module with the five functions of `Dataset`, one `conf/dataset/<name>.yaml` and one name in
`params.yaml`.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from cams.archive import read_archive, write_archive
from cams.compact import DenseRewards, HeadRewards
from data_prep.pipeline.catalogue import find_entry
from data_prep.pipeline.context import Context
from data_prep.pipeline.schema import Schema


@dataclass(frozen=True)
class Table:
    """All M rows of a data set as parsed; row ids are positions in it.

    inputs: whatever the data set's own training code wants, M entries: features (M, d), images, SMILES.
    labels: (M,) int, 0..num_classes-1. groups: (M,) int batch or time id, if the data set has one.
    """

    inputs: Any
    labels: np.ndarray
    num_classes: int
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Split:
    """Row ids: C rows train classifiers, P train policies, N are the test pool. No row is in two."""

    classifier_rows: np.ndarray
    policy_rows: np.ndarray
    pool_rows: np.ndarray

    def __post_init__(self) -> None:
        rows = np.concatenate([self.classifier_rows, self.policy_rows, self.pool_rows])
        if len(np.unique(rows)) != len(rows):
            raise ValueError("a row is in two parts of the split, or twice in one")

    def save(self, path: Path) -> None:
        write_archive(path, vars(self))

    @classmethod
    def load(cls, path: Path) -> "Split":
        return cls(**read_archive(path))


@dataclass(frozen=True)
class Classifiers:
    """Predicted labels of the k frozen classifiers, in the order of split.policy_rows / pool_rows."""

    model_names: list[str]
    policy_predictions: np.ndarray  # (P, k)
    pool_predictions: np.ndarray  # (N, k)

    def save(self, path: Path) -> None:
        write_archive(path, vars(self))

    @classmethod
    def load(cls, path: Path) -> "Classifiers":
        stored = read_archive(path)
        return cls(**{**stored, "model_names": stored["model_names"].tolist()})


@dataclass(frozen=True)
class Policies:
    """The s trained policies (kinds "normal" or "biased"); malicious and random ones are derived in `bundle`.

    A trained policy predicts a reward in [0, 1] per classifier: its chance of being right at x.

    pool_rewards: rewards on the pool as the bundle stores them: DenseRewards (N, s, k), float16 or uint8, or
        HeadRewards (small integer features and logistic heads) where that would be too large.
    held_out: (H,) positions in split.policy_rows of rows the policies below were not trained on.
    held_out_rewards: (H, s, k) rewards on those rows, for the check that context pays.
    """

    names: list[str]
    kinds: list[str]
    pool_rewards: DenseRewards | HeadRewards
    held_out: np.ndarray
    held_out_rewards: np.ndarray

    def save(self, path: Path) -> None:
        plain = {name: value for name, value in vars(self).items() if name != "pool_rewards"}
        write_archive(path, plain | self.pool_rewards.arrays())

    @classmethod
    def load(cls, path: Path) -> "Policies":
        stored = read_archive(path)
        names, kinds = stored.pop("names").tolist(), stored.pop("kinds").tolist()
        held_out, held_out_rewards = stored.pop("held_out"), stored.pop("held_out_rewards")
        if "rewards" in stored:
            rewards: DenseRewards | HeadRewards = DenseRewards(stored["rewards"])
        else:
            rewards = HeadRewards(**{name.removeprefix("head_"): value for name, value in stored.items()})
        return cls(names, kinds, rewards, held_out, held_out_rewards)


class Dataset(Protocol):
    """A module `data_prep/datasets/<name>.py` satisfies this by defining the five functions and SETTINGS.

    SETTINGS: what the data set's `zoo` may say (see data_prep.pipeline.schema); anything else is refused as misspelt.

    Settings come from `context.settings` (`zoo` of conf/dataset/<name>.yaml at the chosen scale), randomness from
    `context.rng(purpose, index)`, and models that take long keep checkpoints in `context.checkpoints(stage)`.
    """

    SETTINGS: Schema

    def fetch(self, context: Context) -> None:
        """Get the raw data through `data_prep.pipeline.sources`, check its content, write it under context.raw_dir."""

    def load(self, context: Context) -> Table:
        """Read what fetch wrote."""

    def split(self, table: Table, context: Context) -> Split:
        """Divide the rows; duplicates of one row must land in one part (see data_prep.pipeline.partition)."""

    def train_classifiers(self, table: Table, split: Split, context: Context) -> Classifiers:
        """Train specialists on split.classifier_rows alone and predict the policy rows and the pool."""

    def train_policies(self, table: Table, split: Split, classifiers: Classifiers, context: Context) -> Policies:
        """Train policies on split.policy_rows (which classifiers are right there) and rate the pool."""


def get_dataset(name: str) -> Dataset:
    """The module of a data set, imported on use: the tabular sets need neither torch-geometric nor torchvision."""
    find_entry(name)
    return cast(Dataset, import_module(f"data_prep.datasets.{name}"))
