"""ImageNet: the 50000 validation images, each in the folder of its class; classifiers come ready from torchvision.

The images may not be redistributed. Put them under $CAMS_DATA_MIRROR/imagenet/val/<wnid>/*.JPEG.
Data card: docs/data/imagenet.md
"""

from pathlib import Path

import numpy as np

from cams.archive import open_archive, write_archive
from cams.errors import InputError
from cams.files import visible
from data_prep.datasets.imagenet.policies import train_policies
from data_prep.datasets.imagenet.zoo import predict
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Split, Table, texts
from data_prep.pipeline.schema import Schema
from data_prep.pipeline.settings import policies
from data_prep.pipeline.sources import Mirror, first_available, require
from data_prep.training.perceptron import LEARNING

__all__ = ["SETTINGS", "fetch", "load", "split", "train_classifiers", "train_policies"]

SETTINGS: Schema = {
    "classes": int,
    "weights": (str, None),
    "image_size": int,
    "batch_size": int,
    "workers": int,
    "split": {"policy": int},
    "classifiers": {"members": [str]},
    "policies": policies({"backbone": str, "hidden": [int], **LEARNING}),
}

IMAGE_SUFFIXES = {".jpeg", ".jpg", ".png"}


def fetch(context: Context) -> None:
    """List the images; they stay where they are."""
    classes = context.settings.classes
    expected = f"a folder of {classes} folders of images, one per class"
    candidates = [(Mirror("imagenet/val"), lambda folder: list_images(folder, classes))]
    paths, labels, names = first_available("imagenet", expected, context.download_dir, candidates)
    write_archive(context.raw_dir / "index.npz", {"paths": paths, "labels": labels, "class_names": names})


def list_images(folder: Path, num_classes: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Paths (M,), labels (M,) and class names; classes are numbered by the order of their names, as in torchvision."""
    names = [entry.name for entry in visible(folder, "*") if entry.is_dir()]
    require(len(names) == num_classes, f"{folder} has {len(names)} folders, expected {num_classes}")
    paths, labels = [], []
    for label, name in enumerate(names):
        images = [path for path in visible(folder / name, "*") if path.suffix.lower() in IMAGE_SUFFIXES]
        require(len(images) > 0, f"{folder / name} has no images")
        paths += [str(path.resolve()) for path in images]
        labels += [label] * len(images)
    return np.array(paths, dtype=np.str_), np.array(labels, dtype=np.int64), names


def load(context: Context) -> Table:
    with context.raw_file("index.npz") as path, open_archive(path) as archive:
        paths, names = (np.array(texts(name, archive.read(name))) for name in ("paths", "class_names"))
        archive.shape("labels", paths.shape)
        return Table(paths, archive.read("labels"), num_classes=len(names))


def split(table: Table, context: Context) -> Split:
    """Policies learn from some validation images, the rest are the pool; no classifier has seen either."""
    num_policy_rows = context.settings.split.policy
    if not 0 < num_policy_rows < len(table.labels):
        raise InputError(f"split.policy is {num_policy_rows}, expected in 1..{len(table.labels) - 1}")
    order = context.rng("split").permutation(len(table.labels))
    policy_rows, pool_rows = np.split(order, [num_policy_rows])
    return Split(np.empty(0, dtype=np.int64), np.sort(policy_rows), np.sort(pool_rows))


def train_classifiers(table: Table, split: Split, context: Context) -> Classifiers:
    """Nothing to train: ask every model of the zoo for its labels."""
    names = list(context.settings.classifiers.members)
    predictions = np.stack([predict(name, table, context) for name in names], axis=1)
    return Classifiers(names, predictions[split.policy_rows], predictions[split.pool_rows])
