"""The command `cams` under people who mean it no good: one sentence, exit code 2, and nothing of theirs overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cams
from cams.shell import main


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle in the current folder, and what is no bundle beside it."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 30)
    cams.Bundle(predictions=rng.integers(0, 3, (30, 2)), labels=labels).save(tmp_path / "mine.npz")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "table.npz").write_text("a,b\n1,2\n")
    (tmp_path / "empty.npz").touch()
    (tmp_path / "loop.npz").symlink_to("loop.npz")
    (tmp_path / "link.png").symlink_to("mine.npz")
    monkeypatch.chdir(tmp_path)
    return tmp_path


REPLAY = ["replay", "mine.npz", "--budgets", "5", "--realizations", "2"]
REFUSED = [
    (["check", "empty.npz"], "empty.npz is not a readable .npz file"),
    (["check", "table.npz"], "table.npz is not a readable .npz file"),
    (["check", "folder.npz"], "folder.npz is not a readable .npz file"),
    (["check", "loop.npz"], "loop.npz is not a readable .npz file"),
    (["check", "/dev/null"], "/dev/null is not a readable .npz file"),
    ([*REPLAY, "--out", "folder.npz"], "cannot write folder.npz: it is a folder"),
    ([*REPLAY, "--out", "."], "cannot write .: it is a folder"),
    ([*REPLAY, "--out", "mine.npz"], "--out is mine.npz, which is the bundle or the picture"),
    ([*REPLAY, "--out", "../{here}/mine.npz"], "which is the bundle or the picture"),
    ([*REPLAY, "--out", "a.png", "--plot", "a.png"], "--out is a.png, which is the bundle or the picture"),
    ([*REPLAY, "--plot", "link.png"], "the picture link.png leads to mine.npz, expected a file of its own"),
    (["plot", "mine.npz", "link.png"], "the picture link.png leads to mine.npz"),
    ([*REPLAY, "--out", "x" * 300], "error: " + "x" * 300 + ": File name too long"),
    ([*REPLAY, "--plot", "x" * 300 + ".png"], "x.png: File name too long"),
    ([*REPLAY, "--realizations", "9999999999999"], "realizations at 1 budgets and 1 rounds do not fit into memory"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=lambda value: str(value)[-50:])
def test_refused_in_one_sentence(
    mine: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    before = {path.name: path.lstat().st_size for path in mine.iterdir()}
    assert main([argument.format(here=mine.name) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert words in said.err
    assert {path.name: path.lstat().st_size for path in mine.iterdir()} == before


@pytest.mark.parametrize("flag", ["--budget", "--real", "--nope"])
def test_no_flag_is_taken_for_another(mine: Path, capsys: pytest.CaptureFixture[str], flag: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*REPLAY, flag, "7"])
    assert stop.value.code == 2
    assert f"unrecognized arguments: {flag} 7" in capsys.readouterr().err


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in which `cams` is this installation."""
    line = f'set -o pipefail; cams() {{ "{sys.executable}" -m cams.shell "$@"; }}; {command}'
    where = {**os.environ, **environment}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=where, check=False)


def test_a_reader_that_has_enough_is_no_error(mine: Path) -> None:
    # A pipe whose reader is gone before the first line is written.
    done = shell("cams learners | true")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is a Linux device")
def test_a_full_disk_is_named_and_what_was_asked_for_is_kept(mine: Path) -> None:
    done = shell("cams replay mine.npz --budgets 5 --realizations 2 --out kept.npz > /dev/full")
    # Before that it may have said that the engine is compiled first.
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, "error: cannot print: No space left on device")
    assert cams.Replay.load(mine / "kept.npz").budgets.tolist() == [5]


@pytest.mark.parametrize("command", ["--help", "learners"])
@pytest.mark.parametrize(
    ("output", "why"), [(">&-", "standard output is closed"), (">/dev/full", "No space left on device")]
)
def test_what_cannot_be_printed_is_said(command: str, output: str, why: str) -> None:
    done = shell(f"cams {command} {output}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"error: cannot print: {why}\n")


def test_no_home_and_a_plain_locale_change_nothing(mine: Path) -> None:
    usual = shell("cams check mine.npz")
    odd = shell("cams check mine.npz", HOME="/nonexistent", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (usual.returncode, usual.stdout) == (odd.returncode, odd.stdout)
    assert usual.returncode == 0


def test_letters_that_an_output_does_not_have_are_spelt_out(mine: Path) -> None:
    bundle = cams.Bundle.load(mine / "mine.npz")
    cams.Bundle(predictions=bundle.predictions, labels=bundle.labels, model_names=["modèle", "é"]).save(mine / "é.npz")
    plain, odd = shell("cams check é.npz"), shell("cams check é.npz", PYTHONIOENCODING="ascii")
    assert (plain.returncode, odd.returncode, odd.stderr) == (0, 0, "")
    assert odd.stdout == plain.stdout.encode("ascii", "backslashreplace").decode()


def test_nobody_needs_an_error_output(mine: Path) -> None:
    arguments = "mine.npz --budgets 5 --realizations 2"
    usual, silent = shell(f"cams replay {arguments}"), shell(f"cams replay {arguments} 2>&-")
    assert (silent.returncode, silent.stdout) == (0, usual.stdout)
    assert shell("cams check nowhere.npz 2>&-").returncode == 2


def test_nor_does_any_process_that_is_started() -> None:
    child = "import sys; sys.exit(sys.stderr is None)"
    parent = (
        "import subprocess, sys; from cams.stopping import prepare_output; prepare_output(); "
        f"sys.exit(subprocess.call([sys.executable, '-c', '{child}'], close_fds=True))"
    )
    assert shell(f'"{sys.executable}" -c "{parent}" 2>&-').returncode == 0
