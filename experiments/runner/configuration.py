"""Composing conf/run.yaml, and turning whatever is wrong with it into one sentence and exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import NoReturn

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, MissingConfigException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

import cams
from cams.errors import nearest

CONF = Path(__file__).resolve().parents[2] / "conf"
BAD_INPUT = 2


def register_learners() -> None:
    """Offer every learner's constants as `learner.<name>.<constant>`, with the library's own defaults."""
    constants = {name: dict(entry.constants) for name, entry in cams.LEARNERS.items()}
    ConfigStore.instance().store(group="learner", name="all", node=constants)


def experiment_names() -> list[str]:
    """Return the id of every experiment, one per file of conf/experiment."""
    return sorted(path.stem for path in (CONF / "experiment").glob("*.yaml"))


def compose_run(overrides: Sequence[str] = ()) -> DictConfig:
    """Compose conf/run.yaml outside the runner, with overrides as on its command line."""
    register_learners()
    if GlobalHydra.instance().is_initialized():
        return compose("run", overrides=list(overrides))
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("run", overrides=list(overrides))


def run_or_explain(entry: Callable[[], None]) -> None:
    """Call a Hydra entry point; bad input becomes one sentence on stderr and exit code 2."""
    # Without this Hydra prints several lines of its own and exits with 1 before anyone can say it better.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    register_learners()
    try:
        entry()
    except cams.InputError as error:
        refuse(str(error))
    except MissingConfigException as error:
        refuse(_unknown_choice(error))
    except (HydraException, OmegaConfBaseException) as error:
        refuse(_with_hint(str(error).splitlines()[0]))
    except YAMLError as error:
        refuse(f"a configuration file is not valid YAML: {' '.join(str(error).split())}")


def explained(task: Callable[[DictConfig], None]) -> Callable[[DictConfig], None]:
    """Wrap what `hydra.main` runs, so that bad input ends in our one sentence and not also in Hydra's two.

    A job of a sweep still raises: the sweep names it at the end and keeps the others.
    """

    @wraps(task)
    def run(cfg: DictConfig) -> None:
        try:
            task(cfg)
        except cams.InputError as error:
            if HydraConfig.get().mode == RunMode.MULTIRUN:
                raise
            refuse(str(error))

    return run


def refuse(sentence: str) -> NoReturn:
    print(f"error: {sentence}", file=sys.stderr)
    raise SystemExit(BAD_INPUT)


def _with_hint(sentence: str) -> str:
    """Add to what Hydra says what to do about it."""
    hints = {
        "Could not override": "; --help lists what can be set",
        "no viable alternative": "; put an override with brackets or commas in quotes: 'budgets=[10,50]'",
        "mismatched input": "; put an override with brackets or commas in quotes: 'budgets=[10,50]'",
        "Ambiguous value": "; several values need -m, a list needs brackets",
    }
    for beginning, hint in hints.items():
        if sentence.startswith(beginning):
            return sentence.rstrip(".") + hint
    return sentence


def _unknown_choice(error: MissingConfigException) -> str:
    group, _, name = (error.missing_cfg_file or "").removesuffix(".yaml").rpartition("/")
    options = error.options or []
    return f"unknown {group or 'configuration'} '{name}', expected one of {', '.join(options)}{nearest(name, options)}"
