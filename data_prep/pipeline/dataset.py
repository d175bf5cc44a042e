"""The contract of a data set: what `data_prep/datasets/<name>.py` must define, and what the stages pass along.

Adding a data set is one module with the five functions of `Dataset`, one `conf/dataset/<name>.yaml` and one name in
`params.yaml`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from cams.archive import open_archive
from cams.checks import distinct, in_range, integers
from cams.compact import DenseRewards, HeadRewards
from cams.errors import InputError
from data_prep.pipeline.catalogue import find_entry
from data_prep.pipeline.context import Context
from data_prep.pipeline.schema import Schema

# Of trained policies.
KINDS = ("normal", "biased")


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

    def __post_init__(self) -> None:
        require_whole("labels", self.labels)
        in_range("labels", self.labels, self.num_classes)
        if self.groups is not None:
            require_shape("groups", self.groups, self.labels.shape)


@dataclass(frozen=True)
class Split:
    """Row ids: C rows train classifiers, P train policies, N are the test pool. No row is in two."""

    classifier_rows: np.ndarray
    policy_rows: np.ndarray
    pool_rows: np.ndarray

    def __post_init__(self) -> None:
        for name, rows in vars(self).items():
            require_whole(name, rows)
        everything = np.concatenate(list(vars(self).values()))
        if len(np.unique(everything)) != len(everything):
            raise InputError("a row is in two parts of the split, or twice in one")

    def check(self, num_rows: int, sizes: Mapping[str, Any]) -> None:
        """Refuse rows that a table of `num_rows` has not, and parts of other sizes than the settings ask for."""
        for name, rows in vars(self).items():
            require_below(name, rows, num_rows)
            size = sizes.get(name.removesuffix("_rows"), len(rows))
            if len(rows) != size:
                raise InputError(f"{name} has {len(rows)} rows, expected {size}")

    def arrays(self) -> dict[str, Any]:
        return vars(self)

    @classmethod
    def load(cls, path: Path) -> "Split":
        with open_archive(path) as archive:
            return cls(**{field.name: archive.read(field.name) for field in fields(cls)})


@dataclass(frozen=True)
class Classifiers:
    """Predicted labels of the k frozen classifiers, in the order of split.policy_rows / pool_rows."""

    model_names: list[str]
    policy_predictions: np.ndarray  # (P, k)
    pool_predictions: np.ndarray  # (N, k)

    def check(self, split: Split, num_classes: int) -> None:
        """Refuse predictions that are not one class per classifier and row of the split."""
        distinct("model_names", self.model_names)
        for name, predictions, rows in (
            ("policy_predictions", self.policy_predictions, split.policy_rows),
            ("pool_predictions", self.pool_predictions, split.pool_rows),
        ):
            in_range(name, integers(name, predictions, ndim=2), num_classes)
            require_shape(name, predictions, (len(rows), len(self.model_names)))

    def arrays(self) -> dict[str, Any]:
        return vars(self)

    @classmethod
    def load(cls, path: Path) -> "Classifiers":
        with open_archive(path) as archive:
            names = texts("model_names", archive.read("model_names"))
            return cls(names, archive.read("policy_predictions"), archive.read("pool_predictions"))


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

    def check(self, split: Split, num_models: int) -> None:
        """Refuse rewards that are not one chance in 0..1 per row of the split, policy and classifier."""
        distinct("names", self.names)
        count = len(self.names)
        if len(self.kinds) != count:
            raise InputError(f"kinds has {len(self.kinds)} entries, expected {count}, as many as names")
        if unknown := set(self.kinds) - {*KINDS}:
            raise InputError(f"kinds has '{min(unknown)}', expected {' or '.join(KINDS)}")
        self.pool_rewards.check(len(split.pool_rows), num_models)
        if self.pool_rewards.count != count:
            raise InputError(f"names has {count} entries, expected one for each of {self.pool_rewards.count} policies")
        require_whole("held_out", self.held_out)
        require_below("held_out", self.held_out, len(split.policy_rows))
        require_shape("held_out_rewards", self.held_out_rewards, (len(self.held_out), count, num_models))
        # Not the other way round, which a value that is no number would pass.
        if not ((self.held_out_rewards >= 0) & (self.held_out_rewards <= 1)).all():
            raise InputError("held_out_rewards has values outside 0..1")

    def arrays(self) -> dict[str, Any]:
        plain = {name: value for name, value in vars(self).items() if name != "pool_rewards"}
        return plain | self.pool_rewards.arrays()

    @classmethod
    def load(cls, path: Path) -> "Policies":
        with open_archive(path) as archive:
            names, kinds = (texts(name, archive.read(name)) for name in ("names", "kinds"))
            if "head_features" in archive.names():
                heads = {field.name: archive.read(f"head_{field.name}") for field in fields(HeadRewards)}
                rewards: DenseRewards | HeadRewards = HeadRewards(**heads)
            else:
                rewards = DenseRewards(archive.read("rewards"))
            return cls(names, kinds, rewards, archive.read("held_out"), archive.read("held_out_rewards"))


def texts(name: str, array: np.ndarray) -> list[str]:
    if array.dtype.kind != "U" or array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape} and type {array.dtype}, expected a list of texts")
    return [str(text) for text in array]


def require_shape(name: str, array: np.ndarray, expected: tuple[int, ...]) -> None:
    """Refuse what is not numbers of exactly this shape."""
    if array.shape != expected or array.dtype.kind not in "fiu":
        raise InputError(f"{name} has shape {array.shape} and type {array.dtype}, expected numbers {expected}")


def require_whole(name: str, array: np.ndarray) -> None:
    """Refuse what is not a list of whole numbers."""
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name} has shape {array.shape} and type {array.dtype}, expected a list of whole numbers")


def require_below(name: str, rows: np.ndarray, count: int) -> None:
    """Refuse row numbers that `count` rows do not have, or that stand there twice."""
    outside = rows[(rows < 0) | (rows >= count)]
    if len(outside):
        raise InputError(f"{name} has row {outside[0]}, expected rows in 0..{count - 1}")
    if len(np.unique(rows)) != len(rows):
        raise InputError(f"{name} has a row twice")


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
