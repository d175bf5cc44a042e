"""A report of small results: what it is made from and where it is written."""

from __future__ import annotations

from pathlib import Path

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from data_prep.pipeline.shell import CONF

# Lines, levels, named ticks, logarithmic axes with bounds: one experiment of each kind of panel.
EXPERIMENTS = ("main", "outperform", "sharpness", "theory_stochastic")


def report_config(results: Path, page: Path) -> DictConfig:
    overrides = [f"paths.results={results}", f"paths.page={page}", f"paths.cards={CONF.parent / 'docs' / 'data'}"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("report", overrides=overrides)
