"""How the commands behave whatever they compute: help, interruption, an output that takes nothing."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest
from from_shell import call, refusal

from data_prep.pipeline import shell
from data_prep.pipeline.command_line import refuse_odd


@pytest.fixture
def replayed(results: Path) -> list[str]:
    """What a replay of the small bundle is called with."""
    return [f"bundle={results / 'bundles' / 'vertebral.npz'}", "budgets=[5]", f"out={results.parent / 'out'}"]


def test_who_interrupts_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path, replayed: list[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.replay.replay_in_blocks", interrupted)
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, "replay", *replayed)
    assert stop.value.code == 130
    assert capsys.readouterr().err == "stopped; what was finished stays, nothing is half-written\n"
    assert not (results.parent / "out" / "summary.csv").exists()


def test_a_reader_that_has_enough_is_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], replayed: list[str]
) -> None:
    def unread(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("experiments.replay.replay_in_blocks", unread)
    call(monkeypatch, "replay", *replayed)
    assert capsys.readouterr().err == ""


class FullOutput:
    """What `> /dev/full` is to a command."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "there is no number behind it")


@pytest.mark.parametrize(("module", "arguments"), [("run", ["--help"]), ("bench", ["--help"]), ("replay", None)])
@pytest.mark.parametrize(("output", "why"), [(FullOutput(), "No space left on device"), (None, "the output is closed")])
def test_an_output_that_takes_nothing_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    replayed: list[str],
    module: str,
    arguments: list[str] | None,
    output: FullOutput | None,
    why: str,
) -> None:
    monkeypatch.setattr(sys, "stdout", output)
    said = refusal(monkeypatch, capsys, module, *(arguments or replayed))
    assert said == f"error: cannot print: {why}\n"


def test_a_command_line_may_be_empty_or_have_flags_of_any_kind() -> None:
    for arguments in (
        [],
        ["-m"],
        ["--info"],
        ["--info", "plugins"],
        ["-c", "job", "-p", "seed"],
        ["--cfg=all", "seed=1", "++seed=1"],
    ):
        refuse_odd(arguments, shell.CONF, "run")


def test_help_fits_a_screen_or_two(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    configured = ("run", "all", "replay", "verify", "claims.__main__", "claims.training_seeds", "report.__main__")
    for module in (*configured, "bench", "bench_cluster", "bench_long", "bench_paper"):
        call(monkeypatch, module, "--help")
        said = capsys.readouterr().out
        assert f"python -m experiments.{module.removesuffix('.__main__')}" in said
        assert ("Settings (conf/" in said) == (module in configured)
        assert len(said.splitlines()) < 70
