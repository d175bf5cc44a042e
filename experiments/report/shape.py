"""What conf/report.yaml and the ledger that a report reads may say; anything else is refused before a page is made."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig

import cams
from cams.errors import lookup
from cams.files import visible
from data_prep.pipeline.schema import ANYTHING, FOLDER, Complete, Each, check
from experiments.runner.configuration import experiment_names
from experiments.runner.shape import SEED

REPORT = Complete(
    title=str,
    seed=SEED,
    order=[str],
    paths=Complete(results=FOLDER, cards=FOLDER, page=str),
)
LEDGER = Complete(
    summary=Each(int),
    claims=[Each(ANYTHING)],
    notes=[str],
    made_from=str,
    training_seeds=[int],
    robustness=[Each(ANYTHING)],
    own=[Each(ANYTHING)],
    own_summary=Each(int),
)


def check_report(cfg: DictConfig) -> None:
    """Refuse misspelt keys and names, values of the wrong kind, and places where nothing is."""
    check(cfg, REPORT, "")
    known = {name: name for name in experiment_names()}
    for name in cfg.order:
        lookup(known, name, "experiment, in order,")
    # Anything else that has a name is something else.
    if Path(cfg.paths.page).suffix != ".html":
        raise cams.InputError(f"paths.page is '{cfg.paths.page}', expected the name of a file that ends in .html")
    if not visible(Path(cfg.paths.cards), "*.md"):
        raise cams.InputError(f"paths.cards is '{cfg.paths.cards}', which has no data cards (*.md)")
