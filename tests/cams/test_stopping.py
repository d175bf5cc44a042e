"""Told to stop, a command ends as after Ctrl-C, and leaves everybody else's signals alone."""

import os
import signal

import pytest

from cams.stopping import stopped_by_sigterm


def test_sigterm_ends_a_block_as_ctrl_c_does() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), stopped_by_sigterm():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
