"""From a command line to a function: Hydra composes conf/<name>.yaml, and bad input is one sentence and exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from yaml import YAMLError

from cams.errors import InputError, nearest
from cams.stopping import INTERRUPTED, forget_output, stopped_by_sigterm

CONF = Path(__file__).resolve().parents[2] / "conf"
BAD_INPUT = 2
# What Hydra takes beside overrides; of anything else it prints all its usage.
FLAGS = {"-m", "--multirun", "-r", "--run", "-c", "--cfg", "--resolve", "-p", "--package", "-i", "--info"} | {
    *("-cp", "--config-path", "-cn", "--config-name", "-cd", "--config-dir", "-sc", "--shell-completion"),
    *("--experimental-rerun", "--hydra-help", "--version"),
}
# Those without a value; Hydra takes them before or after all overrides, and people write them anywhere.
ALONE = {"-m", "--multirun", "-r", "--run", "--resolve", "-sc", "--shell-completion", "--hydra-help", "--version"}
Task = Callable[[DictConfig], None]


def entry_point(config: str) -> Callable[[Task], Callable[[], None]]:
    """Decorate a function of a configuration: called without arguments it reads conf/<config>.yaml and sys.argv."""

    def decorate(task: Task) -> Callable[[], None]:
        begun: list[Task] = []
        composed = hydra.main(version_base="1.3", config_path=str(CONF), config_name=config)(_explained(task, begun))

        @wraps(task)
        def main() -> None:
            # Without this Hydra prints several lines of its own and exits with 1 before anyone can say it better.
            os.environ["HYDRA_FULL_ERROR"] = "1"
            if {"--help", "-h"} & set(sys.argv[1:]):
                print(_help(task, config))
                return
            sys.argv[1:] = sorted(map(_quoted, sys.argv[1:]), key=_is_override)
            begun.clear()
            try:
                _refuse_odd(sys.argv[1:])
                with stopped_by_sigterm():
                    composed()
                sys.stdout.flush()
            except BrokenPipeError:
                forget_output()
            except (InputError, HydraException, OmegaConfBaseException) as error:
                refuse(_sentence(error))
            except YAMLError as error:
                refuse(f"a configuration file is not valid YAML: {' '.join(str(error).split())}")
            except (ValueError, OSError) as error:
                # Hydra's words for groups that are numbers, flags that do not go together, endless names.
                if begun:
                    raise
                refuse(_with_hint(error))
            except KeyboardInterrupt:
                _say_stopped()

        return main

    return decorate


def plain_entry_point(task: Callable[[list[str]], None]) -> Callable[[], None]:
    """Decorate a function of the shell's words, for a command without configuration; its module says how it is used."""

    @wraps(task)
    def main() -> None:
        if {"--help", "-h"} & set(sys.argv[1:]):
            print((sys.modules[task.__module__].__doc__ or "").strip())
            return
        try:
            with stopped_by_sigterm():
                task(sys.argv[1:])
        except InputError as error:
            refuse(str(error))
        except KeyboardInterrupt:
            _say_stopped()

    return main


def _say_stopped() -> NoReturn:
    print("stopped; what was finished stays, nothing is half-written", file=sys.stderr)
    raise SystemExit(INTERRUPTED) from None


def refuse(sentence: str) -> NoReturn:
    print(f"error: {sentence}", file=sys.stderr)
    raise SystemExit(BAD_INPUT)


def _explained(task: Task, begun: list[Task]) -> Task:
    """Wrap what `hydra.main` runs, so that bad input ends in our one sentence and not also in Hydra's two.

    A job of a sweep still raises: the sweep names it at the end and keeps the others. What has `begun` is noted, to
    tell what goes wrong in a task from what Hydra says of a command line.
    """

    @wraps(task)
    def run(cfg: DictConfig) -> None:
        begun.append(task)
        try:
            task(cfg)
        except BrokenPipeError:
            # Whoever read has enough (`| head -1`).
            forget_output()
        except (InputError, OmegaConfBaseException, MissingConfigException) as error:
            if HydraConfig.get().mode == RunMode.MULTIRUN:
                raise
            refuse(_sentence(error))

    return run


def _sentence(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    return _unknown_choice(error) if isinstance(error, MissingConfigException) else _with_hint(error)


def _help(task: Task, config: str) -> str:
    """Return the usage on top of the module and the settings of its configuration; Hydra's own help has no end."""
    usage = sys.modules[task.__module__].__doc__ or ""
    sections = (CONF / f"{config}.yaml").read_text(encoding="utf-8").split("\n\n")
    # A list that goes on after a blank line, as that of all claims, is for reading in its file.
    listed = {i for i, section in enumerate(sections) if section.startswith(" ")}
    shown = [
        section
        for i, section in enumerate(sections)
        if "defaults:" not in section and not section.startswith("hydra:") and not {i, i + 1} & listed
    ]
    return f"{usage.strip()}\n\nSettings (conf/{config}.yaml), each as name=value:\n\n" + "\n\n".join(shown).strip()


def _refuse_odd(arguments: list[str]) -> None:
    """Refuse what Hydra would answer with a page, or take for something that nobody means."""
    groups = {path.name for path in CONF.iterdir() if path.is_dir()}
    for argument in arguments:
        key, sign, value = argument.partition("=")
        if key.startswith("-") and key not in FLAGS:
            raise InputError(f"unknown flag '{key}'; settings are given as name=value, --help lists them")
        if sign and not key:
            raise InputError(f"'{argument}' has no name before the '='")
        # Two experiments in brackets would be laid over one another.
        if key in groups and (value == "null" or value.startswith("[")):
            raise InputError(f"{key} is {value}, expected one name; several need -m {key}=one,other")


def _is_override(word: str) -> bool:
    return not (word in ALONE or (word.startswith("--") and "=" in word))


def _quoted(argument: str) -> str:
    """Quote a path with characters that Hydra reads as something else: a blank, a bracket, an umlaut."""
    key, _, value = argument.partition("=")
    if "/" not in value or key.startswith("-"):
        return argument
    try:
        OverridesParser.create().parse_override(argument)
    except HydraException:
        escaped = value.replace("'", "\\'")
        return f"{key}='{escaped}'"
    return argument


def _with_hint(error: Exception) -> str:
    """Add to what Hydra says what to do about it."""
    sentence = str(error).splitlines()[0].rstrip(".")
    if isinstance(error.__cause__, ConfigKeyError | ConfigAttributeError):
        parent, key = error.__cause__.parent_node, str(error.__cause__.key)
        known = [str(name) for name in parent] if isinstance(parent, DictConfig) else []
        return sentence + (nearest(key, known) or "; --help lists what can be set")
    quotes = "; an override with brackets, commas or spaces needs quotes: 'budgets=[10,50]', bundle='\"my file.npz\"'"
    hints = {
        "no viable alternative": quotes,
        "mismatched input": quotes,
        "LexerNoViableAltException": quotes,
        "Ambiguous value": "; several values need -m, a list needs brackets",
    }
    return sentence + next((hint for beginning, hint in hints.items() if sentence.startswith(beginning)), "")


def _unknown_choice(error: MissingConfigException) -> str:
    group, _, name = (error.missing_cfg_file or "").removesuffix(".yaml").rpartition("/")
    options = error.options or []
    return f"unknown {group or 'configuration'} '{name}', expected one of {', '.join(options)}{nearest(name, options)}"
