"""What models and policies are called, and what kind a policy is."""

from __future__ import annotations

from collections.abc import Sequence

from cams.checks import as_array, distinct
from cams.errors import InputError

POLICY_KINDS = ("normal", "malicious", "random", "biased")


def listed_names(array_name: str, names: Sequence[str] | None, count: int, prefix: str) -> list[str]:
    if names is None:
        return [f"{prefix}_{i}" for i in range(count)]
    _require_list(array_name, names)
    if len(names) != count:
        raise InputError(f"{array_name} has {len(names)} names, expected {count}")
    if any(isinstance(name, bytes) for name in names):
        raise InputError(f"{array_name} holds bytes, expected text")
    listed = [str(name) for name in names]
    distinct(array_name, listed)
    return listed


def _require_list(array_name: str, values: Sequence[str]) -> None:
    ndim = as_array(array_name, values).ndim
    if ndim != 1:
        raise InputError(f"{array_name} has {ndim} dimension(s), expected 1")


def listed_kinds(kinds: Sequence[str] | None, count: int) -> list[str]:
    if kinds is not None:
        _require_list("policy_kinds", kinds)
    found = ["normal"] * count if kinds is None else [str(kind) for kind in kinds]
    if len(found) != count:
        raise InputError(f"policy_kinds has {len(found)} entries, expected {count}")
    for i, kind in enumerate(found):
        if kind not in POLICY_KINDS:
            raise InputError(f"policy_kinds[{i}] is '{kind}', expected one of {', '.join(POLICY_KINDS)}")
    return found
