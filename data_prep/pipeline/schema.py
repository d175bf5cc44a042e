"""What a configuration may say: misspelt keys and values of the wrong kind are refused by name and place.

A schema is written the way the configuration is:

    {"key": ..., "other": ...}    a mapping with no keys but these, any of them may be missing
    Complete({...})               a mapping with all of these keys and no others
    Each(...)                     a mapping with keys of any name
    [...]                         a list, every entry like the one given
    Some(...)                     such a list with one entry or more
    int, float, str, bool, None   a value of that kind; a whole number is also a number
    Range(int, 1)                 a number within limits
    Words("rows", "columns")      one of these words
    FOLDER                        a text that is not empty
    (..., ...)                    one of several
    ANYTHING                      not looked into
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from omegaconf import OmegaConf

from cams.errors import InputError, nearest

Schema = Any
ANYTHING = object
FEW = 4
WORDS: dict[type | None, str] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    None: "null",
}


@dataclass(frozen=True)
class Each:
    """A mapping from any name to entries of one kind."""

    entry: Schema


@dataclass(frozen=True)
class Some:
    """A list of one entry or more."""

    entry: Schema


class Complete(dict[str, Schema]):
    """A mapping of which no key may be missing."""


@dataclass(frozen=True)
class Range:
    """A number from `least` to `most`, whole if `kind` is int."""

    kind: type
    least: float = -inf
    most: float = inf

    def __contains__(self, value: Any) -> bool:
        return fits(value, self.kind) and self.least <= value <= self.most

    def __str__(self) -> str:
        limits = f"of at least {self.least}" if self.most == inf else f"from {self.least} to {self.most}"
        return f"{WORDS[self.kind]} {limits}"


class Words:
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __contains__(self, value: Any) -> bool:
        return value in self.words

    def __str__(self) -> str:
        return " or ".join(self.words) if len(self.words) < FEW else f"one of {', '.join(self.words)}"


class _Folder:
    """The name of a folder; an empty one would be the folder where one happens to stand."""

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, str) and bool(value.strip())

    def __str__(self) -> str:
        return "a text that names a folder"


FOLDER = _Folder()


def check(node: Any, schema: Schema, where: str) -> None:
    """Refuse a configuration that its schema does not allow; `where` names its place (empty: the whole)."""
    plain = OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
    options = schema if isinstance(schema, tuple) else (schema,)
    for option in options:
        if fits(plain, option):
            check_inside(plain, option, where)
            return
    known = [word for option in options if isinstance(option, Words) for word in option.words]
    expected = " or ".join(words(option) for option in options)
    raise InputError(f"{where} is {shown(plain)}, expected {expected}{nearest(str(plain), known)}")


def check_inside(node: Any, schema: Schema, where: str) -> None:
    if isinstance(schema, Each):
        for key, value in node.items():
            check(value, schema.entry, inside(where, key))
    elif isinstance(schema, Mapping):
        for key, value in node.items():
            if key not in schema:
                raise InputError(f"{where or 'the configuration'} has no key '{key}'{nearest(str(key), schema)}")
            check(value, schema[key], inside(where, key))
        missing = [key for key in schema if key not in node] if isinstance(schema, Complete) else []
        if missing:
            raise InputError(f"{where or 'the configuration'} lacks the key '{missing[0]}'")
    elif isinstance(schema, list | Some):
        entry = schema.entry if isinstance(schema, Some) else schema[0]
        for i, value in enumerate(node):
            check(value, entry, f"{where}[{i}]")


def inside(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)


def fits(node: Any, schema: Schema) -> bool:
    """Whether a value is of the schema's kind, whatever is inside it."""
    if schema is ANYTHING:
        return True
    if isinstance(schema, Range | Words | _Folder):
        return node in schema
    if isinstance(schema, Mapping | Each):
        return isinstance(node, Mapping)
    if isinstance(schema, list | Some):
        return isinstance(node, list) and (bool(node) or isinstance(schema, list))
    if schema is None or node is None:
        return schema is None and node is None
    # Python counts True as a whole number; a configuration does not.
    if isinstance(node, bool):
        return bool(schema is bool)
    return isinstance(node, (int, float) if schema is float else schema)


def words(schema: Schema) -> str:
    if isinstance(schema, Mapping):
        return f"a mapping with {', '.join(schema)}"
    if isinstance(schema, Each):
        return "a mapping"
    if isinstance(schema, list | Some):
        return "a list in brackets" if isinstance(schema, list) else "a list of one entry or more"
    if isinstance(schema, Range | Words | _Folder):
        return str(schema)
    return WORDS.get(schema, "anything")


def shown(node: Any) -> str:
    return f"'{node}'" if isinstance(node, str) else "null" if node is None else str(node)
