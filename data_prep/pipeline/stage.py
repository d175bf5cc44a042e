"""What the five entry points share: Hydra composes conf/prep.yaml; bad input is one sentence and code 2."""

import logging
import sys
import time
from collections.abc import Callable

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from cams.files import require_writable
from data_prep.pipeline import shell
from data_prep.pipeline.cluster import connected
from data_prep.pipeline.context import Context
from data_prep.pipeline.settings import check_general, check_zoo, refuse_overruled


def entry_point(*stages: Callable[[Context], None]) -> Callable[[], None]:
    """Make the `main` of a stage module from its function(s) of a Context, run in order."""

    @shell.entry_point("prep")
    def main(cfg: DictConfig) -> None:
        logging.captureWarnings(True)
        check_general(cfg)
        refuse_overruled(cfg, HydraConfig.get().overrides.task)
        context = Context.from_config(cfg)
        check_zoo(context)
        for folder in (context.work, context.results):
            require_writable(folder)
        with connected(cfg.cluster):
            for stage in stages:
                started = time.perf_counter()
                stage(context)
                name = stage.__globals__["__spec__"].name.removeprefix("data_prep.")
                print(f"{context.dataset}: {name} took {time.perf_counter() - started:.1f} s", file=sys.stderr)

    return main
