"""The report: one HTML page with every result, which opens from disk without a network.

    python -m experiments.report
    python -m experiments.report paths.results=elsewhere

Reads the records, figures, tables and the claims ledger under results/ and the data cards under docs/data;
computes nothing that they do not hold. The page's own parts are in experiments/report/.
"""

from __future__ import annotations

from omegaconf import DictConfig

from data_prep.pipeline.schema import check
from data_prep.pipeline.shell import entry_point
from experiments.report.render import write_report
from experiments.runner.jobs import say_now


@entry_point("report")
def main(cfg: DictConfig) -> None:
    check(cfg.paths.results, str, "paths.results")
    page = write_report(cfg)
    say_now(f"report: wrote {page} ({page.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
