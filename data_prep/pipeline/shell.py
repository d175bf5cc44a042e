"""From a command line to a function: Hydra composes conf/<name>.yaml, and bad input is one sentence and exit code 2."""

from __future__ import annotations

import ast
import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, MissingConfigException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from cams.errors import InputError, nearest
from cams.files import visible
from cams.stopping import INTERRUPTED, forget_output, prepare_output, stopped_by_sigterm
from data_prep.pipeline.catalogue import read_mapping
from data_prep.pipeline.command_line import Places, is_override, quoted, refuse_odd, refuse_shared

CONF = Path(__file__).resolve().parents[2] / "conf"
BAD_INPUT = 2
# What is said of bad input in one sentence; anything else is a fault of ours and keeps its traceback.
REFUSED = (InputError, HydraException, OmegaConfBaseException)
Task = Callable[[DictConfig], None]


def entry_point(
    config: str, before: Callable[[], None] = lambda: None, places: Places = MappingProxyType({})
) -> Callable[[Task], Callable[[], None]]:
    """Decorate a function of a configuration: called without arguments it reads conf/<config>.yaml and sys.argv.

    `before` offers what conf/<config>.yaml refers to and no file of conf has. The jobs of a sweep must not share
    `places`.
    """

    def decorate(task: Task) -> Callable[[], None]:
        begun: list[Task] = []
        composed = hydra.main(version_base="1.3", config_path=str(CONF), config_name=config)(
            _explained(task, config, begun)
        )

        @wraps(task)
        def main() -> None:
            # Without this Hydra prints several lines of its own and exits with 1 before anyone can say it better.
            os.environ["HYDRA_FULL_ERROR"] = "1"
            begun.clear()
            with _guarded(begun):
                if _help_wanted():
                    print(_help(task, config))
                    return
                sys.argv[1:] = sorted(map(quoted, sys.argv[1:]), key=is_override)
                refuse_odd(sys.argv[1:], CONF, config)
                refuse_shared(sys.argv[1:], places, CONF)
                before()
                composed()

        return main

    return decorate


def plain_entry_point(task: Callable[[list[str]], None]) -> Callable[[], None]:
    """Decorate a function of the shell's words, for a command without configuration; its module says how it is used."""

    @wraps(task)
    def main() -> None:
        with _guarded([task]):
            if _help_wanted():
                print(_usage(task))
                return
            task(sys.argv[1:])

    return main


@contextmanager
def _guarded(begun: Sequence[Any]) -> Iterator[None]:
    """Let a command end in order: bad input in one sentence, and whoever stops it or has read enough in peace.

    Before anything has `begun`, Hydra's errors of any kind are about the command line.
    """
    prepare_output()
    if sys.stdout is None:
        refuse("cannot print: the output is closed")
    try:
        with _printing(), stopped_by_sigterm():
            yield
    except KeyboardInterrupt:
        _say_stopped()
    except Exception as error:
        _refuse_bad_input(error)
        # Hydra's words for groups that are numbers, flags that do not go together, endless names.
        if begun or not isinstance(error, ValueError | OSError):
            raise
        refuse(_with_hint(error))
    except SystemExit as stop:
        # Hydra has said that there is no such package, and calls that 1.
        raise SystemExit(BAD_INPUT if {"-p", "--package"} & set(sys.argv) else stop.code) from None


@contextmanager
def _printing() -> Iterator[None]:
    """Be quiet where a reader has enough (`| head -1`), and say so where nothing can be printed."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        forget_output()
    except OSError as error:
        # Of a file it would know the name, and of a connection it would be of another kind.
        if error.filename is not None or type(error) is not OSError:
            raise
        forget_output()
        raise InputError(f"cannot print: {error.strerror or error}") from None


def _help_wanted() -> bool:
    return bool({"--help", "-h"} & set(sys.argv[1:]))


def _say_stopped() -> NoReturn:
    print("stopped; what was finished stays, nothing is half-written", file=sys.stderr)
    raise SystemExit(INTERRUPTED) from None


def refuse(sentence: str) -> NoReturn:
    print(f"error: {sentence}", file=sys.stderr)
    raise SystemExit(BAD_INPUT)


def _explained(task: Task, config: str, begun: list[Task]) -> Task:
    """Wrap what `hydra.main` runs, so that bad input ends in our one sentence and not also in Hydra's two.

    A job of a sweep still raises: the sweep names it at the end and keeps the others. What has `begun` is noted, to
    tell what goes wrong in a task from what Hydra says of a command line.
    """

    @wraps(task)
    def run(cfg: DictConfig) -> None:
        begun.append(task)
        try:
            # What it says would not count as overrides, which have places of their own.
            if (name := HydraConfig.get().job.config_name) != config:
                raise InputError(f"--config-name is {name}, expected {config}")
            with _printing():
                task(cfg)
        except Exception as error:
            if HydraConfig.get().mode != RunMode.MULTIRUN:
                _refuse_bad_input(error)
            raise

    return run


def _refuse_bad_input(error: Exception) -> None:
    """Refuse what is wrong with an input, or a configuration file that is damaged; a fault of ours comes back."""
    if isinstance(error, REFUSED):
        refuse(sentence_of(error))
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        refuse(f"{error.filename}: {error.strerror}")
    if damaged := damaged_file(CONF):
        refuse(damaged)


def sentence_of(error: Exception) -> str:
    """Say what is wrong with an input, and which configuration file is damaged if one is."""
    if isinstance(error, InputError):
        said = str(error)
    else:
        said = _unknown_choice(error) if isinstance(error, MissingConfigException) else _with_hint(error)
    damaged = damaged_file(CONF)
    return said if not damaged or damaged in said else f"{damaged} ({said})"


def damaged_file(folder: Path) -> str:
    """Say which configuration file is none, if one is; looked for only when something has gone wrong."""
    for path in visible(folder, "**/*.yaml"):
        try:
            read_mapping(path)
        except InputError as error:
            return str(error)
    return ""


def _usage(task: Callable[..., None]) -> str:
    """Return how a command is used, from the top of its module; `python -OO` leaves that in the file alone."""
    module = sys.modules[task.__module__]
    source = Path(module.__file__ or "")
    return (module.__doc__ or ast.get_docstring(ast.parse(source.read_bytes()), clean=False) or "").strip()


def _help(task: Task, config: str) -> str:
    """Return the usage on top of the module and the settings of its configuration; Hydra's own help has no end."""
    sections = (CONF / f"{config}.yaml").read_text(encoding="utf-8").split("\n\n")
    # A list that goes on after a blank line, as that of all claims, is for reading in its file.
    listed = {i for i, section in enumerate(sections) if section.startswith(" ")}
    shown = [
        section
        for i, section in enumerate(sections)
        if "defaults:" not in section and not section.startswith("hydra:") and not {i, i + 1} & listed
    ]
    return f"{_usage(task)}\n\nSettings (conf/{config}.yaml), each as name=value:\n\n" + "\n\n".join(shown).strip()


def _with_hint(error: Exception) -> str:
    """Add to what Hydra says what to do about it."""
    sentence = str(error).splitlines()[0].rstrip(".")
    if isinstance(error.__cause__, ConfigKeyError | ConfigAttributeError):
        parent, key = error.__cause__.parent_node, str(error.__cause__.key)
        known = [str(name) for name in parent] if isinstance(parent, DictConfig) else []
        return sentence + (nearest(key, known) or "; --help lists what can be set")
    quotes = (
        "; an override with brackets, commas, spaces or letters beyond a to z needs quotes: "
        "'budgets=[10,50]', bundle='\"my file.npz\"'"
    )
    if sentence.startswith("Error merging override") and error.__cause__:
        return f"{sentence}: {str(error.__cause__).splitlines()[0]}"
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
    if not options:
        missing = f"; there is no {CONF / name}.yaml" if name else ""
        return " ".join(str(error).splitlines()[: 1 if name else 2]).rstrip(".") + missing
    return f"unknown {group or 'configuration'} '{name}', expected one of {', '.join(options)}{nearest(name, options)}"
