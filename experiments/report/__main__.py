"""The report: one HTML page with every result, which opens from disk without a network.

    python -m experiments.report
    python -m experiments.report paths.results=elsewhere

Reads the records, figures, tables and the claims ledger under results/ and the data cards under docs/data;
computes nothing that they do not hold. The page's own parts are in experiments/report/. With overridden settings the
page goes to results/variants/<overrides>/, unless paths.page says where.
"""

from __future__ import annotations

from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from data_prep.pipeline.shell import entry_point
from data_prep.pipeline.variants import overridden_keys, variant_folder, variant_name
from experiments.report.render import write_report
from experiments.report.shape import check_report
from experiments.runner.jobs import say_now

# Overrides that say where records are, not what is said of them.
NEUTRAL = ("paths.results", "seed=0")


def page_path(cfg: DictConfig, overrides: list[str]) -> Path:
    """Return where the page goes: one with other settings than the shipped has a place of its own."""
    page = Path(cfg.paths.page)
    if "paths.page" in overridden_keys(overrides):
        return page
    return variant_folder(page.parent, variant_name(overrides, NEUTRAL)) / page.name


@entry_point("report")
def main(cfg: DictConfig) -> None:
    check_report(cfg)
    page = write_report(cfg, page_path(cfg, list(HydraConfig.get().overrides.task)))
    say_now(f"report: wrote {page} ({page.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
