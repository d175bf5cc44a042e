"""Told to stop, a command ends as after Ctrl-C, leaves everybody else's signals alone, and prints no more."""

import errno
import io
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from cams import shell
from cams.stopping import flush_output, forget_output, stopped_by_sigterm


def test_sigterm_ends_a_block_as_ctrl_c_does() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), stopped_by_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_another_thread_than_the_main_one_handles_no_signals() -> None:
    # Python lets only the main thread do so, and would raise.
    ended = []

    def work() -> None:
        with stopped_by_sigterm():
            ended.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [signal.getsignal(signal.SIGTERM)]


def test_what_is_printed_once_nobody_reads_goes_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "printed.txt").open("w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        print("read", flush=True)
        forget_output()
        print("not read", flush=True)
    assert (tmp_path / "printed.txt").read_text() == "read\n"


def test_a_closed_output_is_an_error_to_print_to_and_none_to_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    forget_output()
    with pytest.raises(OSError, match=r"standard output is closed$"):
        flush_output()


def test_an_output_without_a_file_of_its_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", output := io.StringIO())
    forget_output()
    print("still here")
    assert output.getvalue() == "still here\n"


@pytest.mark.parametrize("command", ["learners", "--help"])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError("standard output is closed"), "standard output is closed"),
    ],
)
def test_what_cannot_be_printed_is_said_in_one_sentence(
    command: str, error: OSError, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(shell, "flush_output", fail)
    assert shell.main([command]) == 2
    assert capsys.readouterr().err == f"error: cannot print: {said}\n"
