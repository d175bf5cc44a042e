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
from data_prep.pipeline.schema import check
from data_prep.pipeline.shell import entry_point
from experiments.claims.renewal import renew_ledger


@entry_point("claims")
def main(cfg: DictConfig) -> None:
    check(cfg.paths.results, str, "paths.results")
    config: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True)  # type: ignore[assignment]
    results = Path(cfg.paths.results)
    if not (results / "records").exists():
        raise cams.InputError(f"{results} has no records; `python -m experiments.all` makes them")
    renew_ledger(config, results)


if __name__ == "__main__":
    main()
