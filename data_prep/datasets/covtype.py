"""CovType: 581012 patches of forest, 54 cartographic features, 7 cover types.

Data card: docs/data/covtype.md
"""

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

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

CLASS_COUNTS = [211840, 283301, 35754, 2747, 9493, 17367, 20510]
TABLE_HASH = "efa7836f8df4e586851637292494a562f0b0ed58dfe8ef9367dee0b5ec63347e"

# The copy scikit-learn's fetch_covtype uses, then the archive it was made from.
FIGSHARE = Official(
    "https://ndownloader.figshare.com/files/5976039", "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771"
)
UCI = Official("https://archive.ics.uci.edu/static/public/31/covertype.zip")
WHEEL = PyPIWheel(
    "scikit-multiflow==0.4.1",
    "78d4007aa311dcea3583b1a967089638d601b507d7d07fbc4b81453b3cf1b45f",
    ("--python-version", "3.6", "--implementation", "cp", "--abi", "cp36m", "--platform", "manylinux1_x86_64"),
)


def fetch(context: Context) -> None:
    expected = "covtype.data.xz: 581012 comma-separated lines of 54 whole numbers and a label 1..7"
    candidates: list[tuple[Source, Callable[[Path], Table]]] = [
        (Mirror("covtype/covtype.data.xz"), parse_xz),
        (FIGSHARE, parse_gz),
        (UCI, parse_zip),
        (WHEEL, parse_wheel),
    ]
    save_table(first_available("covtype", expected, context.download_dir, candidates), context)


def parse_xz(path: Path) -> Table:
    with path.open("rb") as stream:
        return read_csv(stream, compression="xz")


def parse_gz(path: Path) -> Table:
    with path.open("rb") as stream:
        return read_csv(stream, compression="gzip")


def parse_zip(archive: Path) -> Table:
    with open_member(archive, "covtype.data.gz") as stream:
        return read_csv(stream, compression="gzip")


def parse_wheel(archive: Path) -> Table:
    with open_member(archive, "skmultiflow/data/datasets/covtype.csv") as stream:
        return read_csv(stream, skiprows=1)


def read_csv(stream: IO[bytes], **options: Any) -> Table:
    rows = pd.read_csv(stream, header=None, dtype=np.int16, **options).to_numpy()
    return table_from(rows[:, :-1], rows[:, -1].astype(np.int64) - 1, (581012, 54), CLASS_COUNTS, TABLE_HASH)
