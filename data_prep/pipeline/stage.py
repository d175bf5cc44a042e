"""What the five entry points share: Hydra composes conf/prep.yaml; bad input is one sentence and code 2."""

import logging
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from cams.files import require_writable
from data_prep.pipeline import shell
from data_prep.pipeline.cluster import connected
from data_prep.pipeline.context import Context
from data_prep.pipeline.settings import (
    DECIDED_BY,
    check_general,
    check_zoo,
    decides,
    refuse_overruled,
    require_own_places,
)

Stage = Callable[[Context], Path]


def entry_point(*stages: Stage) -> Callable[[], None]:
    """Make the `main` of a stage module from its function(s) of a Context, run in order; each returns what it wrote."""

    # Now, for a worker of a sweep is sent the function without its module.
    named = [(stage.__globals__["__spec__"].name.removeprefix("data_prep."), stage) for stage in stages]

    def task(cfg: DictConfig) -> None:
        logging.captureWarnings(True)
        check_general(cfg)
        overrides = list(HydraConfig.get().overrides.task)
        refuse_overruled(cfg, overrides)
        require_own_places(cfg, overrides)
        context = Context.from_config(cfg)
        check_zoo(context)
        for folder in (context.work, context.results):
            require_writable(folder)
        with connected(cfg.cluster):
            for name, stage in named:
                started = time.perf_counter()
                written = stage(context)
                seconds = time.perf_counter() - started
                print(f"{context.dataset}: {name} took {seconds:.1f} s ({written})", file=sys.stderr)

    # The module that says how it is used is that of the stage.
    task.__module__ = sys._getframe(1).f_globals["__name__"]
    places = {f"paths.{place}": partial(decides, place) for place in DECIDED_BY}
    return shell.entry_point("prep", places=places)(task)
