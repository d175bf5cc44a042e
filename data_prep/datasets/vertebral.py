"""VERTEBRAL: 310 patients, 6 biomechanical measurements of pelvis and spine, 3 diagnoses.

Data card: docs/data/vertebral.md
"""

from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from data_prep.datasets.tabular.classifiers import train_classifiers
from data_prep.datasets.tabular.policies import train_policies
from data_prep.datasets.tabular.settings import SETTINGS
from data_prep.datasets.tabular.table import load, save_table, split, table_from
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Table
from data_prep.pipeline.sources import Mirror, Official, PyPIWheel, Source, first_available, open_member

__all__ = ["SETTINGS", "fetch", "load", "split", "train_classifiers", "train_policies"]

CLASSES = ["DH", "NO", "SL"]  # disk hernia, normal, spondylolisthesis
CLASS_COUNTS = [60, 100, 150]
TABLE_HASH = "5465039df659ef7859537eb11c706149fdb6cd10f8fc3340e54902386d71b42c"

OFFICIAL = Official("https://archive.ics.uci.edu/static/public/212/vertebral+column.zip")
WHEEL = PyPIWheel("EvoCluster==1.0.5", "1e510c1e59f9f18c848a86b0fe984bec4662dfa611b71945471051e239d4e1a6")


def fetch(context: Context) -> None:
    expected = "column_3C.dat: 310 lines of 6 numbers and a label DH, NO or SL, separated by spaces"
    candidates: list[tuple[Source, Callable[[Path], Table]]] = [
        (Mirror("vertebral/column_3C.dat"), parse_dat),
        (OFFICIAL, parse_zip),
        (WHEEL, parse_wheel),
    ]
    save_table(first_available("vertebral", expected, context.download_dir, candidates), context)


def parse_dat(path: Path) -> Table:
    with path.open("rb") as stream:
        return read_dat(stream)


def parse_zip(archive: Path) -> Table:
    with open_member(archive, "column_3C.dat") as stream:
        return read_dat(stream)


def parse_wheel(archive: Path) -> Table:
    with open_member(archive, "EvoCluster/datasets/vertebral3.csv") as stream:
        rows = pd.read_csv(stream, header=None)
    return checked(rows, rows.iloc[:, -1].to_numpy())


def read_dat(stream: IO[bytes]) -> Table:
    rows = pd.read_csv(stream, sep=" ", header=None)
    return checked(rows, rows.iloc[:, -1].map({name: i for i, name in enumerate(CLASSES)}).to_numpy())


def checked(rows: pd.DataFrame, labels: np.ndarray) -> Table:
    features = rows.iloc[:, :-1].to_numpy(np.float64)
    return table_from(features, labels.astype(np.int64), (310, 6), CLASS_COUNTS, TABLE_HASH)
