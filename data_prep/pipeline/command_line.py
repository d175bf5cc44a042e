"""The words of a command line before Hydra reads them: what it would misread is quoted or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Override
from hydra.errors import HydraException

from cams.errors import InputError, nearest
from data_prep.pipeline.catalogue import read_mapping

# The settings that say where a job writes, and of each which others decide what it writes there.
Places = Mapping[str, Callable[[str], bool]]
# What Hydra takes beside overrides; of anything else it prints all its usage.
FLAGS = {"-m", "--multirun", "-r", "--run", "-c", "--cfg", "--resolve", "-p", "--package", "-i", "--info"} | {
    *("-cp", "--config-path", "-cn", "--config-name", "-cd", "--config-dir", "-sc", "--shell-completion"),
    *("--experimental-rerun", "--hydra-help", "--version"),
}
# Those without a value; Hydra takes them before or after all overrides, and people write them anywhere.
ALONE = {"-m", "--multirun", "-r", "--run", "--resolve", "-sc", "--shell-completion", "--hydra-help", "--version"}
CHOICES = {
    **dict.fromkeys(("-c", "--cfg"), ("job", "hydra", "all")),
    **dict.fromkeys(("-i", "--info"), ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")),
}


def refuse_odd(arguments: list[str], conf: Path, config: str) -> None:
    """Refuse what Hydra would answer with a page, or take for something that nobody means."""
    settings = read_mapping(conf / f"{config}.yaml")
    groups = {path.name for path in conf.iterdir() if path.is_dir()}
    swept = {"-m", "--multirun"} & set(arguments)
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=False):
        key, sign, value = argument.partition("=")
        if key.startswith("-"):
            _refuse_odd_flag(key, value if sign else following)
            _refuse_other_files(key, Path(value if sign else following), conf)
            continue
        if sign and not key:
            raise InputError(f"'{argument}' has no name before the '='")
        # Hydra allows it where the setting is null.
        if key.startswith("+") and key[1:] in settings:
            raise InputError(f"'{argument}' adds what is there already, expected '{argument[1:]}'")
        # Two experiments in brackets would be laid over one another.
        if key in groups and (value == "null" or value.startswith("[")):
            raise InputError(f"{key} is {value}, expected one name; several need -m {key}=one,other")
        if swept and _stands_for_nothing(argument, conf):
            raise InputError(f"{key} is {value}, which stands for no value at all, expected one or more")


def _refuse_odd_flag(flag: str, value: str) -> None:
    if flag not in FLAGS:
        raise InputError(f"unknown flag '{flag}'; settings are given as name=value, --help lists them")
    given = "" if value.startswith("-") else value
    if not given and flag not in ALONE | {"-i", "--info"}:
        raise InputError(f"{flag} needs a value")
    if given and given not in CHOICES.get(flag, (given,)):
        expected = ", ".join(CHOICES[flag])
        raise InputError(f"{flag} is '{given}', expected one of {expected}{nearest(given, CHOICES[flag])}")


def _refuse_other_files(flag: str, folder: Path, conf: Path) -> None:
    """Refuse files of somebody's own that would not be read, or be read where only some of conf is."""
    if flag in ("-cp", "--config-path") and folder.is_dir() and folder.resolve() != conf.resolve():
        raise InputError(
            f"{flag} is {folder}, expected {conf}, for not all of it would be read; --config-dir adds files"
        )
    if flag in ("-cd", "--config-dir"):
        for own in sorted(folder.rglob("*.yaml")):
            shipped = conf / own.relative_to(folder)
            if shipped.is_file() and shipped.read_bytes() != own.read_bytes():
                raise InputError(f"{own} would not be read, for {shipped} is; expected a file of another name")


def refuse_shared(arguments: list[str], places: Places, conf: Path) -> None:
    """Refuse a sweep whose jobs would write to one place, each over what the one before it wrote."""
    parsed = list(filter(None, map(_parsed, arguments))) if {"-m", "--multirun"} & set(arguments) else []
    given = {override.key_or_group: str(override.get_value_string()) for override in parsed}
    swept = [override.key_or_group for override in parsed if override.is_sweep_override()]
    for place, decides in places.items():
        named = given.get(place, "${hydra")
        for key in swept:
            told_apart = any(part in named for part in ("${hydra", f"${{{key}}}", f"${{{key}."))
            if key != place and decides(key) and not told_apart:
                # A group is a mapping, of which only the name can name a folder.
                name = f"{key}.name" if (conf / key).is_dir() else key
                raise InputError(
                    f"{place} is {named}, which every {key} of the sweep would overwrite; "
                    f"expected a place for each, such as {place}='{key}/${{{name}}}'"
                )


def _parsed(override: str) -> Override | None:
    try:
        return OverridesParser.create().parse_override(override)
    except HydraException:
        return None


def _stands_for_nothing(override: str, conf: Path) -> bool:
    """Tell whether an override is a sweep over no values, which would run nothing."""
    parsed = _parsed(override)
    if parsed is None:
        return False
    if isinstance(glob := parsed.value(), Glob):
        return not glob.filter([path.stem for path in (conf / parsed.key_or_group).glob("*.yaml")])
    return parsed.is_sweep_override() and not any(True for _ in parsed.sweep_iterator())


def is_override(word: str) -> bool:
    return not (word in ALONE or (word.startswith("--") and "=" in word))


def quoted(argument: str) -> str:
    """Quote a path with characters that Hydra reads as something else: a blank, a bracket, an umlaut."""
    key, _, value = argument.partition("=")
    if "/" not in value or key.startswith("-"):
        return argument
    if _parsed(argument):
        return argument
    escaped = value.replace("'", "\\'")
    return f"{key}='{escaped}'"
