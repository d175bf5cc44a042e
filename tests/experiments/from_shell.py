"""Commands of the experiments, called as from a shell."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra


def call(monkeypatch: pytest.MonkeyPatch, module: str, *arguments: str, results: Path | None = None) -> None:
    """Call a command; what it makes goes to `results`, where its bundles are, unless its arguments say otherwise."""
    given = {argument.partition("=")[0] for argument in arguments}
    places = {"paths.results": results, "paths.bundles": results / "bundles"} if results else {}
    more = [f"{name}={path}" for name, path in places.items() if name not in given]
    monkeypatch.setattr(sys, "argv", [f"{module}.py", *arguments, *more])
    GlobalHydra.instance().clear()
    importlib.import_module(f"experiments.{module}").main()


def refusal(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    module: str,
    *arguments: str,
    results: Path | None = None,
) -> str:
    """Return what a command says when it refuses, with exit code 2."""
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, module, *arguments, results=results)
    assert stop.value.code == 2
    return capsys.readouterr().err
