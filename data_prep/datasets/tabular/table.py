"""What the tabular data sets share: the parsed table as one file, and the random split."""

from collections.abc import Sequence

import numpy as np

from cams.archive import open_archive, write_archive
from cams.checks import whole_number
from cams.errors import InputError
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Split, Table
from data_prep.pipeline.hashes import fingerprint
from data_prep.pipeline.partition import divide, duplicate_clusters
from data_prep.pipeline.sources import require


def table_from(
    features: np.ndarray, labels: np.ndarray, shape: tuple[int, int], class_counts: Sequence[int], table_hash: str = ""
) -> Table:
    """Check a parsed table against what is known of the data set.

    table_hash: fingerprint of (features, labels) where all sources hold the same rows in the same order.
    """
    require(features.shape == shape, f"shape is {features.shape}, expected {shape}")
    require(bool(np.isfinite(features).all()), "a feature is missing or not finite")
    require(bool(((labels >= 0) & (labels < len(class_counts))).all()), "a label is out of range")
    counts = np.bincount(labels, minlength=len(class_counts)).tolist()
    require(counts == list(class_counts), f"class counts are {counts}, expected {list(class_counts)}")
    if table_hash:
        found = fingerprint(features, labels)
        require(found == table_hash, f"the table's hash is {found}, expected {table_hash}")
    return Table(features, labels, num_classes=len(class_counts))


def save_table(table: Table, context: Context) -> None:
    groups = {} if table.groups is None else {"groups": table.groups}
    arrays = {"features": table.inputs, "labels": table.labels, "num_classes": table.num_classes}
    write_archive(context.raw_dir / "table.npz", arrays | groups)


def load(context: Context) -> Table:
    with context.raw_file("table.npz") as path, open_archive(path) as archive:
        features = archive.read("features")
        if features.ndim != 2 or features.dtype.kind not in "fiu":
            found = f"shape {features.shape} and type {features.dtype}"
            raise InputError(f"features has {found}, expected numbers (any, any)")
        if not np.isfinite(features).all():
            raise InputError("features has a value that is not finite")
        archive.shape("labels", features.shape[:1])
        archive.shape("num_classes", ())
        num_classes = whole_number("num_classes", archive.read("num_classes").item(), least=1)
        groups = archive.read("groups") if "groups" in archive.names() else None
        return Table(features, archive.read("labels"), num_classes, groups)


def split(table: Table, context: Context) -> Split:
    """Uniform random parts of the sizes in `split:`; copies of one row stay together."""
    sizes = context.settings.split
    clusters = duplicate_clusters(table.inputs)
    pool, policy, classifier = divide(clusters, [sizes.pool, sizes.policy, sizes.classifier], context.rng("split"))
    return Split(classifier_rows=classifier, policy_rows=policy, pool_rows=pool)
