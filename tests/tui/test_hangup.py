"""A terminal that goes away while the application runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LIMIT = 60
"""Seconds until the application counts as not ending."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")


def test_it_ends_when_the_terminal_is_gone() -> None:
    import pty

    ours, theirs = pty.openpty()
    app = subprocess.Popen(
        [sys.executable, "-m", "leafward_tui", "demo"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        # No shell stands behind it that the signal of a closed terminal could end.
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(theirs)
    try:
        seen = b""
        while b"hopper" not in seen:
            seen += os.read(ours, 1 << 16)
        os.close(ours)
        assert app.wait(LIMIT) == 0
    finally:
        app.kill()
        app.wait()
