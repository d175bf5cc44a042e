"""The one error a caller can cause."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


# What is said of a value too long to be read.
LONGEST_SENTENCE = 2000


class InputError(ValueError):
    """Something the caller passed cannot be used; the message is one sentence that says what and why."""

    def __init__(self, sentence: str) -> None:
        # A value shown in it may have several lines, or a million entries.
        line = " ".join(part.strip() for part in sentence.splitlines())
        half = LONGEST_SENTENCE // 2
        super().__init__(line if len(line) <= LONGEST_SENTENCE else f"{line[:half]} ... {line[-half:]}")


def in_one_line(error: Exception) -> str:
    """Return what somebody else's error says, for a sentence of ours: `too few columns`, `KeyError: 'age'`."""
    said = " ".join(str(error).split()).rstrip(".:")
    if said and isinstance(error, ValueError | TypeError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def nearest(name: object, known: Iterable[str]) -> str:
    """Return a hint such as `; did you mean 'cams'?` for a misspelt name, or an empty string."""
    # In small letters: who writes DRIFT means drift.
    spelt = {each.lower(): each for each in known}
    close = difflib.get_close_matches(str(name).lower(), spelt, n=1)
    return f"; did you mean '{spelt[close[0]]}'?" if close else ""


def lookup(table: Mapping[str, T], name: str, what: str) -> T:
    """Return table[name], or refuse a name that is not there with the nearest one that is."""
    if not isinstance(name, str) or name not in table:
        raise InputError(f"there is no {what} '{name}'{nearest(name, table)}")
    return table[name]
