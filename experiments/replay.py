r"""Replay any bundle from the shell.

    python -m experiments.replay bundle=results/bundles/drift.npz 'learners=[cams,mp]' horizon=3000 \
        'budgets=[100,500]' realizations=50 seed=0 out=outputs/drift

writes outputs/drift/summary.csv, one row per learner and budget; plot=drift.png draws it as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import cams
from cams.files import require_writable, write_text
from cams.plotting.picture import require_picture
from data_prep.pipeline.cluster import connected
from data_prep.pipeline.schema import check
from data_prep.pipeline.shell import entry_point
from experiments.runner.blocks import replay_in_blocks
from experiments.runner.jobs import say_now
from experiments.runner.shape import REPLAY


def _decides(key: str) -> bool:
    """Tell whether a setting decides what comes out, and not how fast or where."""
    return key not in ("n_jobs", "cluster", "out", "plot")


@entry_point("replay", places={"out": _decides, "plot": _decides})
def main(cfg: DictConfig) -> None:
    for needed in ("bundle", "budgets", "out"):
        if OmegaConf.is_missing(cfg, needed):
            raise cams.InputError(f"{needed}= is missing, see --help")
    check(cfg, REPLAY, "")
    if not cfg.out:
        raise cams.InputError("out is empty, expected a folder")
    out = Path(cfg.out)
    require_writable(out)
    if cfg.plot is not None:
        require_picture(Path(cfg.plot), Path(cfg.bundle))
    bundle = cams.Bundle.load(cfg.bundle)
    with connected(cfg.cluster):
        result = replay_bundle(bundle, cfg)
    summary = result.summary()
    write_text(out / "summary.csv", summary.to_csv(index=False))
    print(summary.to_string(index=False))
    say_now(f"replay: wrote {out / 'summary.csv'}")
    if cfg.plot is not None:
        result.plot(cfg.plot)
        say_now(f"replay: drew {cfg.plot}")


def replay_bundle(bundle: cams.Bundle, cfg: DictConfig) -> cams.Replay:
    """Replay a bundle as conf/replay.yaml and the command line say."""
    return replay_in_blocks(
        bundle,
        [_plain(learner) for learner in _listed(cfg.learners)],
        horizon=bundle.num_rows if cfg.horizon is None else cfg.horizon,
        budgets=[_plain(budget) for budget in _listed(cfg.budgets)],
        realizations=cfg.realizations,
        seed=cfg.seed,
        n_jobs=cfg.n_jobs or os.cpu_count() or 1,
        regularize=cfg.regularize,
        scaled=cfg.scaled,
    )


def _listed(value: Any) -> list[Any]:
    """Take `budgets=100` for `budgets=[100]`."""
    return list(value) if OmegaConf.is_list(value) else [value]


def _plain(value: Any) -> Any:
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value


if __name__ == "__main__":
    main()
