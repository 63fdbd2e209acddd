"""A terminal that goes away while the application runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from select import select
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = 60
"""Seconds until the application counts as not ending."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")


@contextmanager
def running(temporary: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The application on the demo, once its tree is drawn, and our end of its terminal."""
    import pty

    ours, theirs = pty.openpty()
    app = subprocess.Popen(
        [sys.executable, "-m", "leafward_tui", "demo"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        # No shell stands behind it that the signal of a closed terminal could end.
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", "TMPDIR": str(temporary)},
    )
    os.close(theirs)
    try:
        seen = b""
        while b"hopper" not in seen:
            seen += os.read(ours, 1 << 16)
        yield app, ours
    finally:
        app.kill()
        app.wait()


def test_it_ends_when_the_terminal_is_gone(tmp_path: Path) -> None:
    with running(tmp_path) as (app, ours):
        os.close(ours)
        assert app.wait(LIMIT) == 0
    assert not list(tmp_path.glob("leafward-demo-*"))


def test_it_ends_when_the_terminal_goes_while_much_is_still_to_be_written(tmp_path: Path) -> None:
    with running(tmp_path) as (app, ours):
        # Nobody reads any more: Textual's writer waits in the middle of a frame, and behind it frames queue up.
        for _ in range(60):
            os.write(ours, b"jjjkkk")
            time.sleep(0.05)
        os.close(ours)
        assert app.wait(LIMIT) == 0


@pytest.mark.parametrize("name", ["SIGHUP", "SIGTERM"])
def test_a_signal_to_end_leaves_nothing(tmp_path: Path, name: str) -> None:
    with running(tmp_path) as (app, ours):
        assert list(tmp_path.glob("leafward-demo-*"))
        app.send_signal(getattr(signal, name))
        # The screen is put back, which somebody has to read.
        with suppress(OSError):
            while select([ours], [], [], LIMIT)[0] and os.read(ours, 1 << 16):
                pass
        assert app.wait(LIMIT) == 0
        os.close(ours)
    assert not list(tmp_path.glob("leafward-demo-*"))
