"""Clocks that were set: what was done, and in which order, does not depend on what time it is said to be."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import agent_named
from leafward.session.journal.operation_log import operations
from leafward.session.journal.session_operations import label, move, redo, undo
from leafward.session.journal.write import RECENT, Writing
from leafward.session.session import Session
from tests.core.random_operations import kinds
from tests.foreign_sessions import texts
from tests.foreign_stores import AGENTS, said, same_anew, watched
from tests.forks import at_home, made
from tests.opencode_forks import imported

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.journal.lines import Clock
    from tests.pi_file import PiFile

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FUTURE = datetime(2200, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def at(moment: datetime) -> Writing:
    clock: Clock = lambda: moment  # noqa: E731
    return Writing(now=clock)


class TestOperations:
    def test_their_order_is_that_of_the_file(self, session: Session) -> None:
        move(session, 1, at(FUTURE))
        label(session, 0, "first", at(NOW))
        label(session, 0, "second", at(EPOCH))
        assert undo(session, writing=at(FUTURE)).changed
        assert session.labels == {0: "first"}
        undo(session, writing=at(EPOCH))
        assert session.labels == {}
        redo(session, at(EPOCH - timedelta(days=9)))
        assert session.labels == {0: "first"}
        undo(session, writing=at(FUTURE))
        undo(session, writing=at(NOW))
        assert session.place == 5
        assert kinds(session)[:3] == ["move", "label", "label"]
        session.reload()
        assert (session.place, session.labels) == (5, {})

    @pytest.mark.parametrize("agent", AGENTS)
    def test_so_is_what_is_kept_beside_other_agents_sessions(self, agent: str, tmp_path: Path) -> None:
        with watched(agent, tmp_path / "store") as store:
            session = store.open()
            label(session, said(session, "one"), "first", at(FUTURE))
            move(session, said(session, "two"), at(EPOCH))
            label(session, said(session, "one"), "second", at(NOW))
            undo(session, writing=at(EPOCH))
            assert session.labels == {said(session, "one"): "first"}
            undo(session, writing=at(FUTURE))
            assert session.place == said(session, "three")
            same_anew(store, session)
            assert len(operations(session)) == 5


class TestRecentWrites:
    @pytest.mark.parametrize(
        ("written", "recent"),
        [
            (NOW.timestamp() - RECENT.total_seconds() - 1, False),
            (NOW.timestamp() - 1, True),
            # The clock was set back since: nobody knows how long ago that was.
            (NOW.timestamp() + 86_400, True),
            (FUTURE.timestamp(), True),
            (0, False),
        ],
    )
    def test_a_time_that_is_still_to_come_may_be_a_moment_ago(
        self, file: PiFile, written: float, recent: bool
    ) -> None:
        os.utime(file.path, (written, written))
        session = Session.open(file.path)
        assert label(session, 0, "x", at(NOW)).recent is recent
        session.close()

    @pytest.mark.parametrize("written", [-99_999_999_999, 9_999_999_999_999])
    def test_a_time_beyond_the_calendar_stops_no_write(self, file: PiFile, written: int) -> None:
        try:
            os.utime(file.path, (written, written))
        except (OSError, OverflowError):
            pytest.skip("this file system has no such times")
        session = Session.open(file.path)
        assert label(session, 0, "x", at(NOW)).changed
        session.close()


def test_what_is_put_in_comes_last_for_opencode_though_the_clock_was_set_back(
    tmp_path: Path, file: PiFile
) -> None:
    """opencode orders messages by time."""
    with closing(agent_named("pi").open(file.path)) as source:
        terms = at_home("what was left behind", HOME=str(tmp_path), cwd=str(tmp_path))
        fork = made(source, source.leaf, "opencode", replace(terms, now=EPOCH))
    document = json.loads(fork.draft.file.read_bytes())
    stamps = [message["info"]["time"]["created"] for message in document["messages"]]
    assert stamps == sorted(stamps)
    assert len(set(stamps)) == len(stamps)
    copy = imported(document, tmp_path / "copy")
    assert not copy.is_native
    assert "what was left behind" in texts(copy)[-1]
