"""What models and policies are called, and what kind a policy is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cams.checks import as_array, distinct
from cams.classes import is_missing
from cams.errors import InputError

POLICY_KINDS = ("normal", "malicious", "random", "biased")


class Described:
    """What a bundle says of its classes, models and policies. Lists are copies: nothing changes what was checked."""

    _num_classes: int
    _model_names: list[str]
    _policy_names: list[str]
    _policy_kinds: list[str]

    @property
    def num_classes(self) -> int:
        return self._num_classes

    @property
    def model_names(self) -> list[str]:
        return list(self._model_names)

    @property
    def policy_names(self) -> list[str]:
        return list(self._policy_names)

    @property
    def policy_kinds(self) -> list[str]:
        return list(self._policy_kinds)


def listed_names(array_name: str, names: Sequence[str] | None, count: int, prefix: str) -> list[str]:
    if names is None:
        return [f"{prefix}_{i}" for i in range(count)]
    _require_list(array_name, names)
    if len(names) != count:
        raise InputError(f"{array_name} has {len(names)} names, expected {count}")
    return words(array_name, names)


def words(what: str, names: Iterable[Any]) -> list[str]:
    """Return names as text, each once; what is no name by itself does not become one."""
    listed = list(names)
    for i, name in enumerate(listed):
        named = isinstance(name, str | int | float | np.generic) and not isinstance(name, bytes)
        if not named or is_missing(name):
            raise InputError(f"{what}[{i}] is {name!r}, expected a name")
    texts = [text_of(name) for name in listed]
    for i, text in enumerate(texts):
        require_writable_text(f"{what}[{i}]", text)
    distinct(what, texts)
    return texts


def text_of(name: Any) -> str:
    """Return a name as plain text; of a word in an enum the word, not what the enum calls it."""
    return str.__str__(name) if isinstance(name, str) else str(name)


def require_writable_text(what: str, text: str) -> None:
    """Refuse text that a file would give back as another: numpy drops zero bytes, and half a character has no bytes."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(f"{what} is {text!r}, expected text that can be written to a file")


def _require_list(array_name: str, values: Sequence[str]) -> None:
    ndim = as_array(array_name, values).ndim
    if ndim != 1:
        raise InputError(f"{array_name} has {ndim} dimension(s), expected 1")


def listed_kinds(kinds: Sequence[str] | None, count: int) -> list[str]:
    if kinds is not None:
        _require_list("policy_kinds", kinds)
    found = ["normal"] * count if kinds is None else [text_of(kind) for kind in kinds]
    if len(found) != count:
        raise InputError(f"policy_kinds has {len(found)} entries, expected {count}")
    for i, kind in enumerate(found):
        if kind not in POLICY_KINDS:
            raise InputError(f"policy_kinds[{i}] is '{kind}', expected one of {', '.join(POLICY_KINDS)}")
    return found
