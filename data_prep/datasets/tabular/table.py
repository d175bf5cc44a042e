"""What the tabular data sets share: the parsed table as one file, and the random split."""

from collections.abc import Sequence

import numpy as np

from cams.archive import read_archive, write_archive
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
    stored = read_archive(context.raw_file("table.npz"))
    return Table(stored["features"], stored["labels"], int(stored["num_classes"]), stored.get("groups"))


def split(table: Table, context: Context) -> Split:
    """Uniform random parts of the sizes in `split:`; copies of one row stay together."""
    sizes = context.settings.split
    clusters = duplicate_clusters(table.inputs)
    pool, policy, classifier = divide(clusters, [sizes.pool, sizes.policy, sizes.classifier], context.rng("split"))
    return Split(classifier_rows=classifier, policy_rows=policy, pool_rows=pool)
