"""Work in a child process, where the system may have none to give."""

from __future__ import annotations

import os
import threading

import pytest

from leafward.base.forked import forked

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def test_work_is_left_to_the_caller_where_no_process_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    pipes: list[int] = []

    def pipe() -> tuple[int, int]:
        pipes.extend(made := before())
        return made

    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    before = os.pipe
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(os, "pipe", pipe)
    monkeypatch.setattr(os, "fork", refuse)
    assert forked(lambda _send: None) is None
    assert len(pipes) == 2
    for one in pipes:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(one)
