"""The controllers of the operation log, without a terminal."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from leafward.session.session import Session
from leafward_tui.log.controllers.cursor import Cursor
from leafward_tui.log.controllers.operations import Operations
from leafward_tui.log.state import LogState
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.keys.key_overrides import Keymap
from leafward_tui.ui.screens.screen_controller import Means
from tests.tui.explored import Named
from tests.tui.waiting_jobs import WaitingJobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward.session.journal.operation_log import Operation
    from leafward_tui.log.display import LogDisplay
    from leafward_tui.ui.services import AppServices
    from leafward_tui.ui.words.operation_text import OperationText


class Screen:
    """The screen as the controllers see it."""

    on_top = True

    def __init__(self) -> None:
        self.operations: OperationText | None = None
        self.cursor = -1
        self.said: list[str] = []
        self.closed_with: int | None = -1
        self.answer: Callable[[str | None], None] | None = None

    @property
    def operation(self) -> Operation | None:
        return self.operations.log[self.cursor] if self.operations is not None and self.cursor >= 0 else None

    def show_operations(self, operations: OperationText, cursor: int) -> None:
        self.operations, self.cursor = operations, cursor

    def move_by(self, step: int) -> None:
        self.cursor += step

    def focus_list(self) -> None: ...

    def show_hints(self) -> None: ...

    def tell(self, text: str, _tone: str = "", _keys: object = ()) -> None:
        self.said.append(text)

    def open_sheet(self, sheet: Any, done: Callable[[str | None], None] | None = None) -> None:
        self.answer = done or sheet.take

    def close(self, entry: int | None = None) -> None:
        self.closed_with = entry


class Parts:
    """A log without a screen, over a session with a label and a name."""

    def __init__(self, session: Session) -> None:
        self.state, self.screen, self.jobs = LogState(session), Screen(), WaitingJobs()
        self.copied: list[str] = []
        services = SimpleNamespace(
            glyphs=UNICODE,
            keymap=Keymap.of({}),
            clock=lambda: datetime(2026, 3, 2, 12, tzinfo=UTC),
            copy=self.copied.append,
        )
        view = cast("LogDisplay", self.screen)
        means = Means(self.state, view, cast("AppServices", services), self.jobs)
        self.cursor = Cursor(means)
        self.operations = Operations(means, self.cursor.operations_changed)


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    from leafward.session.journal.session_operations import label, rename
    from leafward.session.journal.write import Writing

    file = Named(tmp_path / "session.jsonl")
    file.turn("one")
    with closing(Session.open(file.path)) as session:
        label(session, session.leaf, "apple", Writing())
        rename(session, "pears", Writing())
        parts = Parts(session)
        parts.operations.load()
        parts.jobs.run("log")
        yield parts


def test_the_cursor_is_on_the_newest_and_stays_where_it_was_put(parts: Parts) -> None:
    assert parts.screen.cursor == 1
    parts.screen.cursor = 0
    parts.operations.load()
    parts.jobs.run("log")
    assert parts.screen.cursor == 0


def test_a_session_that_grows_faster_than_its_operations_are_read_shows_them(parts: Parts) -> None:
    parts.operations.load()
    reading = parts.jobs.waiting["log"]
    parts.operations._refreshed(None)
    assert parts.jobs.waiting["log"] is reading
    parts.jobs.run("log")
    assert parts.jobs.running("log"), "what came meanwhile counts, too"


def test_an_operation_is_taken_back_after_an_answer_and_only_once_at_a_time(parts: Parts) -> None:
    known = len(parts.state.session)
    parts.operations.actions["operation.undo"]()
    parts.jobs.run("rehearsal")
    assert len(parts.state.session) == known, "nothing is written before the answer"
    assert parts.screen.answer is not None
    parts.screen.answer("u")
    parts.operations.actions["operation.undo"]()
    assert parts.screen.said[-1] == "the last change is still being written"
    parts.jobs.run("write")
    assert len(parts.state.session) == known + 1
    assert parts.screen.said[-1].startswith("undid: ")
    assert not parts.state.writing
    parts.jobs.run("log")
    assert parts.screen.operations is not None
    assert len(parts.screen.operations) == 3


def test_a_change_that_waits_for_a_look_at_the_file_says_so(parts: Parts) -> None:
    parts.operations.actions["operation.undo"]()
    parts.jobs.run("rehearsal")
    assert parts.screen.answer is not None
    parts.state.writing = True
    parts.screen.answer("u")
    assert parts.screen.said == ["the last change is still being written"]
    assert "write" not in parts.jobs.waiting


def test_nothing_is_asked_over_another_screen(parts: Parts) -> None:
    parts.operations.actions["operation.undo"]()
    parts.screen.on_top = False
    parts.jobs.run("rehearsal")
    assert parts.screen.answer is None


def test_a_session_that_cannot_be_written_says_why(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(parts.state.session), "read_only", property(lambda _session: "a kept copy"))
    parts.operations.actions["operation.undo"]()
    assert parts.screen.said == ["read only: a kept copy"]
    assert not parts.jobs.waiting


def test_the_search_goes_up_from_the_cursor_and_escape_ends_it_first(parts: Parts) -> None:
    assert not parts.cursor.enabled("find.next")
    parts.cursor.search.search("apple")
    assert list(parts.cursor.search.hits) == [0]
    assert parts.cursor.enabled("find.next")
    parts.cursor.actions["find.next"]()
    assert parts.screen.cursor == 0
    parts.cursor.actions["mode.leave"]()
    assert (parts.cursor.search.words, parts.screen.closed_with) == ("", -1)
    parts.cursor.actions["mode.leave"]()
    assert parts.screen.closed_with is None


def test_what_is_known_of_an_operation_is_copied(parts: Parts) -> None:
    parts.cursor.actions["copy.text"]()
    assert "pears" in cast("Any", parts.copied[0])
