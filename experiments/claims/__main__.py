"""The claims ledger: what the paper says, what was measured, and whether it holds here.

    python -m experiments.claims
    python -m experiments.claims paths.results=elsewhere

Reads the records under results/ (and under results/seeds/seed<k> for other training seeds) and conf/claims.yaml, writes
results/claims.json and results/claims.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import cams
from data_prep.pipeline.shell import CONF, entry_point
from experiments.claims.making import make_ledger, update_readme, write_ledger
from experiments.runner.jobs import say_now


@entry_point("claims")
def main(cfg: DictConfig) -> None:
    config: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True)  # type: ignore[assignment]
    results = Path(cfg.paths.results)
    if not (results / "records").exists():
        raise cams.InputError(f"{results} has no records; `python -m experiments.all` makes them")
    ledger = make_ledger(config, results, int(cfg.seed))
    for name in ledger["stale"]:
        say_now(f"claims: the record of {name} was made from another bundle than the present one")
    if results == Path("results"):
        update_readme(ledger, CONF.parent / "README.md")
    for path in write_ledger(ledger, results):
        say_now(f"claims: wrote {path}")
    say_now(f"claims: {', '.join(f'{count} {name}' for name, count in ledger['summary'].items())}")


if __name__ == "__main__":
    main()
