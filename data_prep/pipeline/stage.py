"""What the five entry points share: Hydra composes conf/prep.yaml; bad input is one sentence and code 2."""

import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path

import hydra
from omegaconf import DictConfig

from cams.errors import InputError
from data_prep.pipeline.context import Context

CONF_DIR = str(Path(__file__).resolve().parents[2] / "conf")


def entry_point(*stages: Callable[[Context], None]) -> Callable[[], None]:
    """Make the `main` of a stage module from its function(s) of a Context, run in order."""

    @hydra.main(config_path=CONF_DIR, config_name="prep", version_base="1.3")
    def main(cfg: DictConfig) -> None:
        logging.captureWarnings(True)
        try:
            context = Context.from_config(cfg)
            for stage in stages:
                started = time.perf_counter()
                stage(context)
                name = stage.__globals__["__spec__"].name.removeprefix("data_prep.")
                seconds = time.perf_counter() - started
                print(f"{context.dataset}: {name} took {seconds:.1f} s", file=sys.stderr)
        except InputError as error:
            print(error, file=sys.stderr)
            sys.exit(2)

    return main
