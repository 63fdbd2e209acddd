"""The explorer on files that grow, are replaced, go away or are damaged."""

from __future__ import annotations

import json
import os
import random
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.branches import fork
from leafward.session.journal.session_operations import move
from leafward.session.journal.write import Writing
from leafward_tui.explorer import lost_facts
from leafward_tui.explorer.controllers import cursor_details, session_loader
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.keys.intents import intents_for
from leafward_tui.ui.screens.session_watch import warn_sheet
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import usage
from tests.pi_file import PiFile
from tests.trees import random_plan, write_plan
from tests.tui.explored import (
    Named,
    chosen,
    exploring,
    here,
    lines,
    note,
    ready,
    tree,
)
from tests.tui.session_store import DEADLINE, reached, rested, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.journal.write import Write
    from leafward.session.session import Session

PATIENCE = 10.0


class TestFollowing:
    async def test_what_is_appended_appears_and_the_cursor_goes_along(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.turn("e")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            assert here(screen) == "e"

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
            await until(pilot, lambda: any("pi loses ~" in row for row in rows(pilot.app)), 3 * DEADLINE)
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
        grow, was_read, may_show = session_loader.grow, Event(), Event()

        def held(*values: Any) -> Any:
            grown = grow(*values)
            if grown.added:
                was_read.set()
                assert may_show.wait(PATIENCE)
            return grown

        monkeypatch.setattr(session_loader, "grow", held)
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
            await until(pilot, lambda: screen.state.session is not None and len(screen.state.session) == 6)
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
            await until(pilot, lambda: sure(screen.panes.inspector.page).tab is Tab.CONTEXT)
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


class TestBadFiles:
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", "bad.jsonl is empty"),
            (b"nonsense\n", "bad.jsonl is not a session: no line of it is a header or an entry"),
            (b"\0" * 4000, "bad.jsonl is not a session"),
        ],
        ids=["empty", "nonsense", "NULs"],
    )
    async def test_no_session_is_one_clear_line(self, data: bytes, said: str, tmp_path: Path) -> None:
        path = tmp_path / "bad.jsonl"
        path.write_bytes(data)
        async with exploring(path, (80, 32)) as (pilot, screen):
            await until(pilot, lambda: said in note(screen))
            assert str(tmp_path) not in note(screen)
            assert all("/ 0" not in line for line in rows(screen.app))
            for intent in intents_for("explorer"):
                if intent.id not in ("app.back", "app.quit", "app.palette", "app.help", "app.themes"):
                    screen.run_intent(intent.id)
                    await pilot.pause()
            assert screen.app.screen is screen
            await pilot.press("q")
        assert pilot.app.return_code == 0

    async def test_a_header_alone_has_nothing_to_show(self, tmp_path: Path) -> None:
        async with exploring(PiFile(tmp_path / "new.jsonl").path) as (pilot, screen):
            assert "0 entries" in rows(screen.app)[0]
            await pilot.press(
                "j", "k", "enter", "escape", "l", "escape", "z", "v", "f", "escape", "A", "y", "at"
            )
            assert screen.app.screen is screen

    async def test_damage_is_shown_where_it_is(self, file: Named) -> None:
        file.raw("{nonsense")
        file.raw("null")
        file.turn("e")
        file.user("lost", "ffffffff")
        file.turn("f", "e")
        async with exploring(file.path) as (_, screen):
            drawn = tree(screen)
            assert sum("malformed" in row for row in drawn) == 2
            orphan = next(row for row in drawn if "the parent is not in this file" in row)
            assert orphan.count("!") == 1
            assert "3 damaged" in rows(screen.app)[0]
            assert here(screen) == "f"

    async def test_a_line_that_proves_broken_moves_to_the_damage(self, file: Named) -> None:
        broken = (
            '{"type":"message","id":"0000fffe","parentId":"00000001","timestamp":"2026-11-21T21:00:00.000Z",'
            '"message":{"role":"user","content":[}'
        )
        file.raw(broken)
        file.turn("e", "d")
        async with exploring(file.path) as (_, screen):
            assert any("malformed" in row for row in tree(screen))
            assert "1 damaged" in rows(screen.app)[0]

    async def test_text_of_a_session_is_neither_markup_nor_escape(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "hostile.jsonl")
        file.user("[bold]not bold[/bold] \x1b[31mred\x1b]0;title\x07 \u202eback")
        file.said("[red]no[/red]\x1b[2J")
        file.entry("session_info", name="\x1b]0;owned\x07[blink]name")
        file.entry("label", targetId="00000001", label="\x1b[31m[b]")
        async with exploring(file.path) as (_, screen):
            shown = "\n".join(rows(screen.app))
            assert "[bold]not bold" in shown
            assert "\x1b" not in shown
            assert "\x07" not in shown
            assert "\u202e" not in shown
            assert "[blink]name" in shown

    async def test_a_random_tree_takes_any_keys(self, tmp_path: Path) -> None:
        path = write_plan(
            tmp_path / "wild.jsonl", random_plan(random.Random(3), 300, jumpy=0.15, shuffled=0.02)
        )
        rng = random.Random(8)
        keys = [
            *(
                "j",
                "k",
                "J",
                "K",
                "g",
                "G",
                "left_square_bracket",
                "right_square_bracket",
                "left_curly_bracket",
            ),
            *(
                "right_curly_bracket",
                "at",
                "m",
                "apostrophe",
                "z",
                "Z",
                "v",
                "escape",
                "tab",
                "x",
                "w",
                "1",
                "4",
            ),
            *("n", "N", "pagedown", "pageup", "F", "ctrl+d", "ctrl+u", "A", "u", "U"),
        ]
        before = path.read_bytes()
        async with exploring(path) as (pilot, screen):
            for _ in range(80):
                await pilot.press(rng.choice(keys))
                assert screen.app.screen is screen
            await until(pilot, lambda: not screen.state.busy)
        after = path.read_bytes()
        assert after.startswith(before)
        assert after.endswith(b"\n")
        assert all(isinstance(line, dict) for line in lines(path))
