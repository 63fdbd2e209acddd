"""The explorer on a file that grows."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

from leafward.base.config import Config
from leafward_tui.explorer import lost_facts
from leafward_tui.explorer.controllers import cursor_details, followed_file
from leafward_tui.ui.screens.session_watch import warn_sheet
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import usage
from tests.tui.explored import (
    Named,
    exploring,
    here,
    note,
    tree,
)
from tests.tui.session_store import HELD, reached, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


PATIENCE = HELD


class TestFollowing:
    async def test_what_is_appended_appears_and_the_cursor_goes_along(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.turn("e")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            assert here(screen) == "e"

    async def test_that_nothing_was_said_is_not_said_of_the_first_rows(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "s.jsonl")
        async with exploring(file.path) as (pilot, screen):
            assert note(screen) == "nothing was said in this session yet"
            file.turn("a")
            await until(pilot, lambda: "a prompt" in tree(screen)[0])
            await until(pilot, lambda: "nothing was said" not in note(screen))

    async def test_off_the_leaf_the_cursor_stays(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K")
            file.turn("e")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            assert here(screen) == "b"
            await until(pilot, lambda: "2 new below" in rows(pilot.app)[0])
            await pilot.press("at")
            await until(pilot, lambda: "new below" not in rows(pilot.app)[0])
            assert here(screen) == "e"

    async def test_a_sheet_says_that_the_session_has_changed_under_it(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "enter")
            sheet = await reached(pilot, ChoiceSheet)
            assert "the session has changed" not in "\n".join(rows(pilot.app))
            file.turn("e")
            await until(pilot, lambda: any("  the session has changed" in row for row in rows(pilot.app)))
            assert pilot.app.screen is sheet
            await pilot.press("escape")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))

    async def test_a_label_is_written_anyway_so_its_sheet_does_not_say_so(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "l")
            await reached(pilot, TextSheet)
            warn_sheet(screen, lambda: True)
            assert "the session has changed" not in "\n".join(rows(pilot.app))

    async def test_an_excerpt_begins_in_the_middle_and_is_not_damaged(self, file: Named) -> None:
        head, _prompt, *rest = file.path.read_text().splitlines()
        file.path.write_text("\n".join([head, *rest]))
        async with exploring(file.path) as (pilot, screen):
            await until(pilot, lambda: any("begins in the middle" in row for row in tree(screen)))
            assert "begins in the middle" in rows(pilot.app)[0]
            assert "damaged" not in rows(pilot.app)[0]
            assert not any("!" in row or "no newline" in row for row in tree(screen))

    async def test_an_agent_that_branches_changes_what_is_straight(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.turn("e", "y")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            row = next(row for row in tree(screen) if "d prompt" in row)
            assert "┃ ○" in row

    async def test_while_it_grows_the_gauge_says_how_far_the_next_compaction_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cursor_details, "FORECAST_AFTER", 0.01)
        file = Named(tmp_path / "session.jsonl")
        for number in range(60):
            file.working_turn(f"t{number}")
            file.said("leaves " * 600)
        config = Config(follow_interval=0.02, windows={"scripted-1": 200_000})
        async with exploring(file.path, config=config) as (pilot, _screen):
            assert not any("compacts in" in row for row in rows(pilot.app))
            file.turn("e")
            await until(pilot, lambda: any("compacts in" in row for row in rows(pilot.app)))
            await until(pilot, lambda: any("pi loses ~" in row for row in rows(pilot.app)))

    async def test_an_agent_that_writes_all_the_time_does_not_hide_what_it_would_lose(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cursor_details, "FORECAST_AFTER", 5.0)
        monkeypatch.setattr(cursor_details, "FORECAST_AT_LAST", 0.01)
        file = Named(tmp_path / "session.jsonl")
        for number in range(60):
            file.working_turn(f"t{number}")
            file.said("leaves " * 600)
        config = Config(follow_interval=0.02, windows={"scripted-1": 200_000})
        async with exploring(file.path, config=config) as (pilot, _screen):

            def is_told_while_it_grows() -> bool:
                file.turn("e")
                return any("pi loses ~" in row for row in rows(pilot.app))

            await until(pilot, is_told_while_it_grows)

    async def test_of_a_long_session_another_process_counts_what_it_would_lose(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cursor_details, "FORECAST_AFTER", 0.01)
        monkeypatch.setattr(lost_facts, "MOST_BYTES", 0)
        file = Named(tmp_path / "session.jsonl")
        for number in range(60):
            file.working_turn(f"t{number}")
            file.said("leaves " * 600)
        config = Config(follow_interval=0.02, windows={"scripted-1": 200_000})
        async with exploring(file.path, config=config) as (pilot, _screen):
            file.turn("e")
            await until(pilot, lambda: any("counting facts…" in row for row in rows(pilot.app)))
            # A process of lower priority than the other tests has to start and to work it out.
            await until(pilot, lambda: any("pi loses ~" in row for row in rows(pilot.app)))
            # The last count stands until there is another one.
            file.turn("f")
            await until(pilot, lambda: any("f prompt" in row for row in tree(_screen)))
            assert any("pi loses ~" in row for row in rows(pilot.app))

    async def test_a_compaction_that_would_do_nothing_is_not_said_to_come(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cursor_details, "FORECAST_AFTER", 0.01)
        file = Named(tmp_path / "session.jsonl")
        file.turn("a")
        config = Config(follow_interval=0.02, windows={"scripted-1": 200_000})
        async with exploring(file.path, config=config) as (pilot, _screen):
            file.user("e prompt")
            file.said("e answered", tokens=usage(190_000))
            await until(pilot, lambda: any("nothing to compact" in row for row in rows(pilot.app)))
            assert not any("compacts now" in row for row in rows(pilot.app))
            # The lab says the same of the same leaf, and why.
            await pilot.press("c")
            await until(
                pilot, lambda: any("nothing to compact: no message" in row for row in rows(pilot.app))
            )

    async def test_how_far_it_is_nobody_says_where_the_window_is_not_known(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "session.jsonl")
        file.turn("a")
        async with exploring(file.path) as (pilot, screen):
            file.turn("e")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            assert any("/ 200k" in row for row in rows(pilot.app))
            assert not any("compacts" in row for row in rows(pilot.app))

    async def test_the_cursor_goes_along_where_the_rows_were_laid_out_before_what_was_read_is_shown(
        self, file: Named, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Figures that were counted meanwhile lay them out: the session has the new entries by then."""
        grow, was_read, may_show = followed_file.grow, Event(), Event()

        def held(*values: Any) -> Any:
            grown = grow(*values)
            if grown.added:
                was_read.set()
                assert may_show.wait(PATIENCE)
            return grown

        monkeypatch.setattr(followed_file, "grow", held)
        async with exploring(file.path) as (pilot, screen):
            file.turn("e")
            await until(pilot, was_read.is_set)
            screen.controllers.navigation.lay_out()
            may_show.set()
            exploration = sure(screen.state.exploration)
            await until(pilot, lambda: not screen.state.growing)
            await until(pilot, lambda: "e prompt" in tree(screen)[screen.panes.tree.row])
            assert exploration.layout.row_of(exploration.layout.leaf) == screen.panes.tree.row

    async def test_it_can_be_switched_off(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("F")
            await until(pilot, lambda: "follows" not in rows(screen.app)[0])
            assert any("not following the file" in row for row in rows(screen.app))
            file.turn("e")
            for _ in range(20):
                await pilot.pause()
            assert not any("e prompt" in row for row in tree(screen))
            await pilot.press("F")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))

    async def test_bytes_read_are_bytes_appended(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            session = sure(screen.state.session)
            decoded = session.scan.decoded
            file.turn("e")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            assert session.scan.decoded == decoded
            assert session.scan.end == file.path.stat().st_size
