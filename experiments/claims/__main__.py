"""The claims ledger: what the paper says, what was measured, and whether it holds here.

    python -m experiments.claims
    python -m experiments.claims paths.results=elsewhere

Reads the records under results/ (and under results/seeds/seed<k> for other training seeds), conf/claims.yaml and
conf/own_claims.yaml; writes results/claims.json, results/claims.md and the verdicts that README and protocol quote.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import cams
from data_prep.pipeline.shell import CONF, entry_point
from experiments.claims.ledger import (
    is_current,
    made_from,
    make_ledger,
    update_documents,
    write_ledger,
)
from experiments.claims.page import own_summary_line, summary_line
from experiments.runner.freshness import notes_on_records
from experiments.runner.jobs import say_now


@entry_point("claims")
def main(cfg: DictConfig) -> None:
    config: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True)  # type: ignore[assignment]
    results = Path(cfg.paths.results)
    if not (results / "records").exists():
        raise cams.InputError(f"{results} has no records; `python -m experiments.all` makes them")
    notes = notes_on_records(results, int(cfg.seed))
    for note in notes:
        say_now(f"claims: {note}")
    if is_current(results, made_from(config, results, notes)):
        say_now(f"claims: up to date ({results / 'claims.md'})")
        return
    ledger = make_ledger(config, results, int(cfg.seed), notes)
    for path in write_ledger(ledger, results):
        say_now(f"claims: wrote {path}")
    if results == Path("results"):
        first: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(CONF / "first_ledger.yaml"))  # type: ignore
        update_documents(ledger, first, CONF.parent)
    say_now(f"claims: {summary_line(ledger['claims'])}")
    if ledger["own"]:
        say_now(f"claims beyond the paper: {own_summary_line(ledger['own'])}")


if __name__ == "__main__":
    main()
