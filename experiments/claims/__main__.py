"""The claims ledger: what the paper says, what was measured, and whether it holds here.

    python -m experiments.claims
    python -m experiments.claims paths.results=elsewhere
    python -m experiments.claims interval.level=0.95

Reads the records under results/ (and under results/seeds/seed<k> for other training seeds), conf/claims.yaml and
conf/own_claims.yaml; writes results/claims.json, results/claims.md and the verdicts that README and protocol quote.
With overridden settings it writes a ledger under results/variants/<overrides>/ and nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from data_prep.pipeline.shell import entry_point
from data_prep.pipeline.variants import variant_name
from experiments.claims.planned import refuse_unread, require_records
from experiments.claims.renewal import renew_ledger
from experiments.claims.shape import check_rules

# Overrides that say where records are or how fast they are judged, not what comes out.
NEUTRAL = ("n_jobs", "paths.results", "seed=0")


@entry_point("claims")
def main(cfg: DictConfig) -> None:
    config: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True)  # type: ignore[assignment]
    overrides = list(HydraConfig.get().overrides.task)
    check_rules(config)
    refuse_unread(overrides)
    results = Path(config["paths"]["results"])
    require_records(config, results, overrides)
    renew_ledger(config, results, variant_name(overrides, NEUTRAL))


if __name__ == "__main__":
    main()
