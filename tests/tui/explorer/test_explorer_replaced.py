"""The explorer on a file that is replaced, shrinks or goes away while it is on show."""

from __future__ import annotations

import json
import os
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.branches import fork
from leafward.session.journal.session_operations import move
from leafward.session.journal.write import Writing
from leafward_tui.explorer.controllers import cursor_details, session_loader
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.tui.explored import (
    Named,
    chosen,
    exploring,
    here,
    note,
    ready,
    tree,
)
from tests.tui.session_store import HELD, reached, rested, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.journal.write import Write
    from leafward.session.session import Session

PATIENCE = HELD


class TestReplaced:
    async def test_a_file_that_is_replaced_is_read_anew(self, file: Named, tmp_path: Path) -> None:
        async with exploring(file.path) as (pilot, screen):
            other = Named(tmp_path / "other.jsonl")
            other.turn("q")
            os.replace(other.path, file.path)
            await until(pilot, lambda: any("q prompt" in row for row in tree(screen)))
            assert not any("d prompt" in row for row in tree(screen))
            await until(pilot, lambda: ready(screen))
            await pilot.press("j", "k", "v")

    async def test_nothing_of_the_session_before_stays_where_the_new_one_is_empty(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K")
            await until(pilot, lambda: screen.state.price is not None)
            other = file.path.with_name("other.jsonl")
            other.write_bytes(file.path.read_bytes().partition(b"\n")[0] + b"\n")
            os.replace(other, file.path)
            await until(pilot, lambda: "nothing was said" in note(screen) and ready(screen))
            await rested(pilot)
            assert sure(screen.panes.inspector).page is None
            assert not any(word in row for row in rows(pilot.app) for word in ("Turn", "→", "prompt"))

    async def test_the_strip_is_empty_until_a_replaced_session_is_measured(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its turns would be entries of the file as it was."""
        may_measure, survey = Event(), cursor_details.survey

        def held(*values: Any) -> Any:
            assert may_measure.wait(PATIENCE)
            return survey(*values)

        async with exploring(file.path) as (pilot, screen):
            await pilot.press("v")
            monkeypatch.setattr(cursor_details, "survey", held)
            other = Named(tmp_path / "other.jsonl")
            other.working_turn("q")
            os.replace(other.path, file.path)
            await until(pilot, lambda: screen.state.is_read and len(sure(screen.state.session)) == 6)
            await until(pilot, lambda: screen.panes.tree.row >= 0)
            before = screen.panes.tree.row
            strip = screen.panes.strip
            assert all(strip.entry_at(x, 1) < 0 for x in range(strip.size.width))
            await pilot.click(strip, offset=(strip.size.width - 4, 0))
            assert screen.panes.tree.row == before
            may_measure.set()
            await until(pilot, lambda: screen.state.overview is not None)

    async def test_a_sheet_that_is_being_prepared_gets_the_session_that_it_was_asked_for(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Else its entry is another one of the rewritten file, or none."""
        may_look = Event()
        cuts = fork.cuts

        def held(*values: Any) -> Any:
            assert may_look.wait(PATIENCE)
            return cuts(*values)

        monkeypatch.setattr(fork, "cuts", held)
        async with exploring(file.path, config=Config(follow_interval=0.02)) as (pilot, screen):
            session = sure(screen.state.session)
            total = len(session)
            await pilot.press("b")
            await until(pilot, lambda: "finding" in note(screen))
            other = Named(tmp_path / "other.jsonl")
            other.turn("q")
            os.replace(other.path, file.path)
            await pilot.pause(0.3)
            assert len(session) == total
            may_look.set()
            await reached(pilot, ChoiceSheet)
            await pilot.press("escape")
            await until(pilot, lambda: any("q prompt" in row for row in tree(screen)))

    async def test_a_change_of_the_session_that_was_replaced_meanwhile_is_none_of_the_new_one(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        may_read, may_end = Event(), Event()
        read = session_loader.open_session

        def held(*values: Any) -> Any:
            assert may_read.wait(PATIENCE)
            return read(*values)

        async with exploring(file.path) as (pilot, screen):
            old = sure(screen.state.session)
            moved = move(old, 0, Writing(dry_run=True))

            def change(_session: Session, _writing: Writing) -> Write:
                assert may_end.wait(PATIENCE)
                return moved

            monkeypatch.setattr(session_loader, "open_session", held)
            other = Named(tmp_path / "other.jsonl")
            other.turn("q")
            os.replace(other.path, file.path)
            await until(pilot, lambda: "read again" in note(screen))
            screen.controllers.write.start("moved far away", change)
            may_read.set()
            await until(pilot, lambda: screen.state.session is not old and ready(screen))
            before = note(screen)
            may_end.set()
            await until(pilot, lambda: not screen.state.writing)
            await until(pilot, lambda: note(screen) == before)
            await chosen(pilot, "l", "h", "e", "r", "e", "enter")
            await until(pilot, lambda: "here" in file.path.read_text())

    async def test_a_row_that_is_drawn_while_a_replaced_file_is_read_again_is_empty(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        may_read = Event()
        read = session_loader.open_session

        def held(*values: Any) -> Any:
            assert may_read.wait(PATIENCE)
            return read(*values)

        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(session_loader, "open_session", held)
            other = Named(tmp_path / "other.jsonl")
            other.turn("q")
            os.replace(other.path, file.path)
            await until(pilot, lambda: sure(screen.panes.tree.painter).is_outdated)
            screen.panes.tree.painted.clear()
            assert not any(tree(screen))
            may_read.set()
            await until(pilot, lambda: ready(screen) and "q prompt" in tree(screen)[0])

    @pytest.mark.parametrize("key", ["enter", "b", "y", "tab"])
    async def test_keys_wait_while_a_replaced_file_is_read_again(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
    ) -> None:
        """The rows are of entries that the session has no more, and so are the messages of the pane."""
        may_read = Event()
        read = session_loader.open_session

        def held(*values: Any) -> Any:
            assert may_read.wait(PATIENCE)
            return read(*values)

        async with exploring(file.path) as (pilot, screen):
            await pilot.press("2")
            inspector = screen.panes.inspector
            await until(pilot, lambda: inspector.page is not None and inspector.page.tab is Tab.CONTEXT)
            monkeypatch.setattr(session_loader, "open_session", held)
            other = Named(tmp_path / "other.jsonl")
            other.user("q")
            os.replace(other.path, file.path)
            await until(pilot, lambda: sure(screen.panes.tree.painter).is_outdated)
            await pilot.press(key)
            view = screen.panes.inspector.view
            assert all(view.render_line(y).cell_length for y in range(view.size.height))
            assert "is still being read" in rows(pilot.app)[-1] or key == "tab"
            may_read.set()
            await until(pilot, lambda: ready(screen) and "q" in tree(screen)[0])
            await until(pilot, lambda: "is still being read" not in rows(pilot.app)[-1])

    async def test_a_file_that_another_screen_read_anew_as_it_was_closed_is_read_again(
        self, file: Named, tmp_path: Path
    ) -> None:
        async with exploring(file.path) as (pilot, screen):
            other = Named(tmp_path / "other.jsonl")
            other.turn("q")
            os.replace(other.path, file.path)
            sure(screen.state.session).refresh()
            await until(
                pilot, lambda: screen.state.is_read and any("q prompt" in row for row in tree(screen))
            )

    async def test_what_was_set_outlasts_that_the_file_is_replaced(self, file: Named, tmp_path: Path) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", "p", "r", "o", "m", "p", "t", "enter")
            await chosen(pilot, "ampersand", "p")
            await pilot.press("g", "j", "m")
            marked = here(screen)
            assert screen.state.session is not None
            old = screen.state.session
            text = file.path.read_bytes()
            other = tmp_path / "other.jsonl"
            head, _, rest = text.partition(b"\n")
            label = {"type": "session_info", "id": "99999999", "parentId": None, "name": "first of all"}
            other.write_bytes(head + b"\n" + json.dumps(label).encode() + b"\n" + rest)
            os.replace(other, file.path)
            await until(pilot, lambda: screen.state.session is not old and ready(screen))
            await pilot.pause()
            exploration = sure(screen.state.exploration)
            assert exploration.filter is Filter.PROMPTS
            assert exploration.session.columns.id(exploration.mark) == file.prompts[marked]
            assert here(screen) == marked
            await until(pilot, lambda: bool(screen.state.search.rows))

    async def test_folds_outlast_that_the_file_is_replaced(self, file: Named, tmp_path: Path) -> None:
        async with exploring(file.path) as (pilot, screen):
            while here(screen) != "x":
                await pilot.press("k")
            await pilot.press("z", "g")
            # The ghost of a move to the branch, with its own signs, goes once the cursor has rested.
            await until(pilot, lambda: any("┠─▸" in row for row in tree(screen)))
            folded = tree(screen)
            old = screen.state.session
            other = tmp_path / "other.jsonl"
            other.write_bytes(file.path.read_bytes())
            os.replace(other, file.path)
            await until(pilot, lambda: screen.state.session is not old and ready(screen))
            await until(pilot, lambda: tree(screen) == folded)

    async def test_a_file_that_shrinks_is_read_anew(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            whole = file.path.read_bytes().splitlines(keepends=True)
            file.path.write_bytes(b"".join(whole[:3]))
            await until(pilot, lambda: not any("d prompt" in row for row in tree(screen)))
            await until(pilot, lambda: ready(screen) and any("a prompt" in row for row in tree(screen)))

    async def test_a_file_that_turns_into_something_else_is_said(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.path.write_bytes(b"")
            await until(pilot, lambda: "is empty" in note(screen))
            await pilot.press("j", "k", "enter", "escape")

    async def test_a_file_that_goes_away_stays_on_show(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.path.unlink()
            for _ in range(10):
                await pilot.pause()
            await pilot.press("K")
            assert here(screen) == "c"
