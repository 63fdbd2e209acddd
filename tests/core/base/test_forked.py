"""Work in a child process, where the system may have none to give."""

from __future__ import annotations

import os
import pickle
import threading

import pytest

from leafward.base.forked import Forked, forked

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


def test_a_piece_is_ready_once_it_begins_to_arrive() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe, os.fdopen(writing, "wb") as sink:
        child = Forked[str](0, pipe)
        assert not child.is_ready()
        pickle.dump("a piece", sink)
        sink.flush()
        assert child.is_ready()
        assert child.is_ready()
        assert child.take() == "a piece"
        assert not child.is_ready()
