"""One report for all tests of a process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from small_bundle import make_bundle
from small_report import EXPERIMENTS, report_config

from data_prep.pipeline.shell import CONF
from experiments.claims.ledger import make_ledger, write_ledger
from experiments.figures.compose import draw_composed
from experiments.report.render import write_report
from experiments.runner.configuration import compose_run
from experiments.runner.jobs import ensure_record
from experiments.runner.places import Places
from experiments.runner.resolve import make_plan
from experiments.tables.write import write_tables


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Results at smoke scale of one small bundle, and the page made from them."""
    results = tmp_path_factory.mktemp("report") / "results"
    (results / "bundles").mkdir(parents=True)
    make_bundle().save(results / "bundles" / "vertebral.npz")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        rules: dict[str, Any] = OmegaConf.to_container(compose("claims"), resolve=True)  # type: ignore[assignment]
    rules["claims"] = [claim for claim in rules["claims"] if claim["experiment"] in EXPERIMENTS]
    for name in EXPERIMENTS:
        cfg = compose_run([f"experiment={name}", "scale=smoke", "dataset=vertebral"])
        ensure_record(make_plan(cfg), Places(results / "bundles", results), 1, lambda _: None)
        draw_composed(cfg, results)
    write_tables(results, lambda _: None)
    write_ledger(make_ledger(rules, results, 0, []), results)
    # Far from results/: the page must not depend on anything beside it.
    page = tmp_path_factory.mktemp("page") / "report.html"
    return results, write_report(report_config(results, page), page)
