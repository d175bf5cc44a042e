"""What stages hand on, kept and read and checked in one place: a stage computes with nothing else.

Whatever does not fit is refused in the name of its file, with the stage that makes it anew.
"""

from pathlib import Path

from cams.archive import write_archive
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Classifiers, Policies, Split, Table, get_dataset
from data_prep.pipeline.stamps import require_made_with, stamp


def keep(made: Split | Classifiers | Policies, artefact: str, context: Context) -> Path:
    """Write what a stage hands on, and return where it is."""
    path = context.artefact(artefact)
    write_archive(path, made.arrays() | stamp(artefact, context))
    return path


def load_rows(context: Context) -> tuple[Table, Split]:
    """The data set and how its rows are divided."""
    table = get_dataset(context.dataset).load(context)
    with context.made("splits") as path:
        require_made_with("splits", path, context)
        split = Split.load(path)
        split.check(len(table.labels), context.settings.split)
    return table, split


def load_classifiers(table: Table, split: Split, context: Context) -> Classifiers:
    with context.made("classifiers") as path:
        require_made_with("classifiers", path, context)
        classifiers = Classifiers.load(path)
        classifiers.check(split, table.num_classes)
    return classifiers


def load_policies(split: Split, classifiers: Classifiers, context: Context) -> Policies:
    with context.made("policies") as path:
        require_made_with("policies", path, context)
        policies = Policies.load(path)
        policies.check(split, len(classifiers.model_names))
    return policies
