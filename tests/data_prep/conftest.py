"""A small tabular data set and a context for it, as the shipped configuration composes them."""

from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Table

CONF = str(Path(__file__).resolve().parents[2] / "conf")


def context_for(dataset: str, folder: Path, *overrides: str, **settings) -> Context:
    """The context the entry points would make; `settings` are merged over the data set's zoo."""
    with initialize_config_dir(CONF, version_base="1.3"):
        paths = [f"paths.work={folder / 'data'}", f"paths.results={folder / 'results'}"]
        cfg = compose("prep", [f"dataset={dataset}", "n_jobs=1", *paths, *overrides])
    OmegaConf.set_struct(cfg, False)
    cfg.dataset.zoo = OmegaConf.merge(cfg.dataset.zoo, settings)
    return Context.from_config(cfg)


@pytest.fixture
def table() -> Table:
    """400 rows in 3 well separated classes and 4 groups; every tenth row is a copy of the one before."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    features = rng.normal(size=(400, 5)) + 3 * labels[:, None]
    features[9::10] = features[8::10]
    labels[9::10] = labels[8::10]
    return Table(features, labels, num_classes=3, groups=np.arange(400) % 4)
