"""The ledger on disk, made anew where anything that it depends on has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from data_prep.pipeline.shell import CONF
from data_prep.pipeline.variants import variant_folder
from experiments.claims.ledger import is_current, made_from, make_ledger, update_documents, write_ledger
from experiments.claims.page import own_summary_line, summary_line
from experiments.claims.shape import check_rules
from experiments.runner.freshness import notes_on_records
from experiments.runner.jobs import say_now


def renew_ledger(config: dict[str, Any], results: Path, variant: str = "") -> None:
    """Judge the records under `results` as conf/claims.yaml says, unless that was done, and say what came out.

    A `variant` of what that file says, called after its overrides, is kept apart and quoted nowhere.
    """
    check_rules(config)
    seed = int(config["seed"])
    notes = notes_on_records(results, seed)
    for note in notes:
        say_now(f"claims: {note}")
    folder = variant_folder(results, variant)
    if is_current(folder, made_from(config, results, notes)):
        say_now(f"claims: up to date ({folder / 'claims.md'})")
        return
    ledger = make_ledger(config, results, seed, notes)
    for path in write_ledger(ledger, folder, results):
        say_now(f"claims: wrote {path}")
    if folder == Path("results"):
        first: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(CONF / "first_ledger.yaml"))  # type: ignore
        update_documents(ledger, first, CONF.parent)
    say_now(f"claims: {summary_line(ledger['claims'])}")
    if ledger["own"]:
        say_now(f"claims beyond the paper: {own_summary_line(ledger['own'])}")
