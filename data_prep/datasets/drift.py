"""DRIFT: 13910 recordings of 16 gas sensors over 36 months in 10 batches, 128 features, 6 gases.

Data card: docs/data/drift.md
"""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from data_prep.datasets.tabular.classifiers import train_classifiers
from data_prep.datasets.tabular.table import load, save_table, split, table_from
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Table
from data_prep.pipeline.sources import Mirror, Official, first_available, open_member, require
from data_prep.training.perceptron import train_policies

__all__ = ["fetch", "load", "split", "train_classifiers", "train_policies"]

NUM_FEATURES = 128
BATCH_SIZES = [445, 1244, 1586, 161, 197, 2300, 3613, 294, 470, 3600]
CLASS_COUNTS = [2565, 2926, 1641, 1936, 3009, 1833]  # ethanol, ethylene, ammonia, acetaldehyde, acetone, toluene

OFFICIAL = Official("https://archive.ics.uci.edu/static/public/224/gas+sensor+array+drift+dataset.zip")


def fetch(context: Context) -> None:
    expected = "a folder drift with batch1.dat.gz .. batch10.dat.gz, lines 'class[;ppm] 1:v .. 128:v'"
    # The official files come first: a mirror's batches 7 and 10 may be rebuilt ones (see the data card).
    candidates = [(OFFICIAL, parse_zip), (Mirror("drift"), parse_folder)]
    save_table(first_available("drift", expected, context.download_dir, candidates), context)


def parse_folder(folder: Path) -> Table:
    batches = []
    for number in range(1, 11):
        with gzip.open(folder / f"batch{number}.dat.gz") as stream:
            batches.append(read_batch(stream))
    return joined(batches)


def parse_zip(archive: Path) -> Table:
    batches = []
    for number in range(1, 11):
        with open_member(archive, f"Dataset/batch{number}.dat") as stream:
            batches.append(read_batch(stream))
    return joined(batches)


def joined(batches: list[tuple[np.ndarray, np.ndarray]]) -> Table:
    """All batches as one table whose groups are the batch numbers 1..10."""
    sizes = [len(labels) for _, labels in batches]
    require(sizes == BATCH_SIZES, f"batch sizes are {sizes}, expected {BATCH_SIZES}")
    features, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    table = table_from(features, labels, (sum(BATCH_SIZES), NUM_FEATURES), CLASS_COUNTS)
    return replace(table, groups=np.repeat(np.arange(1, 11), sizes))


def read_batch(stream: IO[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Lines `class 1:v .. 128:v`, or `class;ppm 1:v ..` where the concentration was kept, to (n, 128) and (n,)."""
    rows = list(read_lines(stream))
    return np.array([values for _, values in rows]), np.array([label for label, _ in rows]) - 1


def read_lines(stream: IO[bytes]) -> Iterator[tuple[int, list[float]]]:
    for line in stream:
        head, *pairs = line.split()
        keyed = [pair.split(b":") for pair in pairs]
        require([int(key) for key, _ in keyed] == list(range(1, NUM_FEATURES + 1)), "feature numbers are not 1..128")
        yield int(head.split(b";")[0]), [float(value) for _, value in keyed]
