"""The screen of the operation log: taking operations back, searching."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from textual.geometry import Size

from leafward.base.config import Config
from leafward.session.journal.session_operations import label, move, redo, undo
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.log.screen import LogScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.tui.explored import NARROW, WIDE, Named, exploring
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.tui.logged import Hands


@asynccontextmanager
async def logging(path: Path, size: tuple[int, int] = WIDE) -> AsyncIterator[tuple[Pilot[int], LogScreen]]:
    """The log of a session, opened from the explorer."""
    async with exploring(path, size, Config(follow_interval=0.02)) as (pilot, _):
        await pilot.press("o")
        screen = await reached(pilot, LogScreen)
        await until(pilot, lambda: screen.log_list.operations is not None)
        await pilot.pause()
        yield pilot, screen


def note(screen: LogScreen) -> str:
    return rows(screen.app)[screen.view.note.region.y].strip()


def lines(path: Path) -> int:
    return len(path.read_bytes().splitlines())


async def asked(pilot: Pilot[int], key: str) -> str:
    """Presses a key that asks, and returns what stands on the screen then."""
    await pilot.press(key)
    await reached(pilot, ChoiceSheet)
    await until(pilot, lambda: "esc cancel" in "\n".join(rows(pilot.app)))
    return "\n".join(rows(pilot.app))


class TestScreen:
    async def test_the_cursor_is_on_the_newest_at_the_bottom(self, hands: Hands) -> None:
        for number in range(40):
            label(hands.session, hands.prompt("c"), f"label {number}", hands.writing())
        for size in (WIDE, NARROW, (60, 16)):
            async with logging(hands.file.path, size) as (pilot, screen):
                shown = rows(screen.app)
                at = next(y for y, row in enumerate(shown) if row.startswith("▌"))
                assert "[label 39]" in shown[at]
                assert "42 operations" in shown[0]
                await pilot.press("g")
                assert sure(screen.log_list.operation).agent
                await pilot.press("j", "G", "k", "pageup", "pagedown", "ctrl+u", "ctrl+d", "tab")
                assert screen.log_list.cursor == 40

    async def test_the_columns_fit_before_the_scrollbar_is_laid_out(self, demo: Path) -> None:
        async with logging(demo, NARROW) as (pilot, screen):
            shown = screen.log_list
            await until(pilot, lambda: shown.operations is not None and shown.show_vertical_scrollbar)
            every = sure(shown.operations)
            shown.operations, shown.virtual_size = None, Size(0, 0)
            await until(pilot, lambda: not shown.show_vertical_scrollbar)
            shown.show(every, "pi", 0)
            at_once = shown.cells
            await until(pilot, lambda: shown.show_vertical_scrollbar)
            assert at_once == shown.cells == shown.scrollable_content_region.width

    async def test_each_says_who_did_it_and_what_is_undone_in_words(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        undo(hands.session, None, hands.writing())
        async with logging(hands.file.path) as (_, screen):
            listed = [row for row in rows(screen.app)[: screen.log_list.region.bottom] if " prompt " in row][
                1:
            ]
            assert [row.split()[-1] for row in listed] == ["pi", "pi", "Leafward", "Leafward"]
            assert "undone" in listed[2]
            assert "undone" not in listed[3]
            assert "1h" in listed[2]

    async def test_the_title_counts_as_undone_what_the_rows_call_so(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        undo(hands.session, None, hands.writing())
        redo(hands.session, hands.writing())
        undo(hands.session, None, hands.writing())
        async with logging(hands.file.path) as (_, screen):
            shown = rows(screen.app)
            marked = sum("undone" in row for row in shown[1 : screen.log_list.region.bottom])
            assert marked == 2
            assert f"{marked} undone" in shown[0]

    @pytest.mark.parametrize("undone", [False, True])
    async def test_a_column_says_what_is_undone_where_something_is(self, hands: Hands, undone: bool) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        if undone:
            undo(hands.session, None, hands.writing())
        async with logging(hands.file.path) as (pilot, screen):
            await until(pilot, lambda: any(" moved " in row for row in rows(screen.app)))
            assert any(" state " in row for row in rows(screen.app)) is undone

    async def test_an_operation_is_taken_back_after_it_was_shown(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        label(hands.session, hands.prompt("c"), "one", hands.writing())
        before = lines(hands.file.path)
        async with logging(hands.file.path) as (pilot, screen):
            await pilot.press("k")
            shown = await asked(pilot, "u")
            assert "Undo it" in shown
            assert "append 1 line to the session's file" in shown
            assert "the leaf goes back to" in shown
            await pilot.press("escape")
            await until(pilot, lambda: lines(hands.file.path) == before)
            await asked(pilot, "u")
            await pilot.press("u")
            await until(pilot, lambda: lines(hands.file.path) == before + 1 and not screen.state.writing)
            await until(
                pilot, lambda: screen.log_list.operations is not None and len(screen.log_list.operations) == 5
            )
            assert "undid: move to" in note(screen)
            written = json.loads(hands.file.path.read_bytes().splitlines()[-1])
            assert written["parentId"] == hands.file.ends["d"]
            assert written["data"]["undoes"]
            assert screen.log_list.cursor == 4
            await pilot.press("k", "k", "u")
            await until(pilot, lambda: "already undone" in note(screen))
            await pilot.press("G")
            details = "\n".join(rows(screen.app))
            assert "in effect" not in details
            await asked(pilot, "U")
            await pilot.press("U")
            await until(pilot, lambda: lines(hands.file.path) == before + 2)
            await until(
                pilot, lambda: screen.log_list.operations is not None and len(screen.log_list.operations) == 6
            )
            await pilot.press("k")
            await until(
                pilot, lambda: any("redone" in row and "by entry #" in row for row in rows(screen.app))
            )
            assert not any("undo this" in row for row in rows(screen.app)), "an undo that was redone is over"
            await pilot.press("u")
            await until(pilot, lambda: "already redone, by entry #" in note(screen))

    async def test_what_is_written_after_the_log_was_left_is_shown_in_the_tree(self, hands: Hands) -> None:
        async with logging(hands.file.path) as (pilot, screen):
            await pilot.press("escape")
            await reached(pilot, ExplorerScreen)
            label(screen.state.session, hands.prompt("c"), "pears", hands.writing())
            await until(pilot, lambda: "[pears]" in "\n".join(rows(pilot.app)))

    async def test_an_agent_s_move_is_taken_back_too(self, hands: Hands) -> None:
        before = lines(hands.file.path)
        async with logging(hands.file.path) as (pilot, screen):
            await asked(pilot, "u")
            await pilot.press("enter")
            await until(pilot, lambda: lines(hands.file.path) == before + 1)
            await until(
                pilot, lambda: screen.log_list.operations is not None and len(screen.log_list.operations) == 3
            )
            written = json.loads(hands.file.path.read_bytes().splitlines()[-1])
            assert written["parentId"] == hands.file.ends["z"]

    async def test_nothing_to_redo_is_said(self, hands: Hands) -> None:
        async with logging(hands.file.path) as (pilot, screen):
            await pilot.press("U")
            await until(pilot, lambda: "nothing to redo" in note(screen))
            await pilot.press("k")
            assert note(screen) == ""

    async def test_a_refusal_is_said_in_place(self, hands: Hands) -> None:
        async with logging(hands.file.path) as (pilot, screen):
            await asked(pilot, "u")
            other = Named(hands.file.path.with_name("other.jsonl"))
            other.turn("q")
            other.path.replace(hands.file.path)
            before = hands.file.path.read_bytes()
            await pilot.press("u")
            await until(pilot, lambda: note(screen).startswith("! "))
            assert "replaced" in note(screen)
            assert hands.file.path.read_bytes() == before

    async def test_what_is_appended_meanwhile_appears(self, hands: Hands) -> None:
        async with logging(hands.file.path) as (pilot, screen):
            hands.file.entry("label", targetId=hands.file.prompts["c"], label="by the agent")
            await until(pilot, lambda: "[by the agent]" in "\n".join(rows(screen.app)))

    async def test_leaving_goes_back_to_the_explorer_as_it_was(self, hands: Hands) -> None:
        for key in ("q", "escape"):
            async with logging(hands.file.path) as (pilot, screen):
                await pilot.press(key)
                await until(pilot, lambda: screen.app.screen.NAME == "explorer")  # type: ignore[attr-defined]  # a screen of ours

    async def test_without_operations_one_sentence_stands_there(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "quiet.jsonl")
        file.turn("a")
        async with logging(file.path) as (pilot, screen):
            shown = [row.strip() for row in rows(screen.app) if row.strip()]
            assert any(row.startswith("No operation yet") and row.endswith("archived.") for row in shown)
            await pilot.press("enter", "u", "U", "y", "j", "g")
            assert screen.app.screen is screen

    async def test_copies_what_is_known(self, hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        copied: list[str] = []
        async with logging(hands.file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "copy", copied.append)
            await pilot.press("y")
            assert copied[0].startswith("Moved the leaf  2026-03-02T13:05:00.000Z\nfrom  d answered")

    async def test_a_click_moves_the_cursor_and_a_double_click_shows_the_entry(self, hands: Hands) -> None:
        label(hands.session, hands.prompt("x"), "one", hands.writing())
        async with logging(hands.file.path) as (pilot, screen):
            await pilot.click("#operations", offset=(30, 1))
            assert screen.log_list.cursor == 1
            await pilot.click("#operations", offset=(30, 2), times=2)
            await until(pilot, lambda: screen.app.screen is not screen)


class TestSearching:
    async def test_it_goes_to_the_nearest_hit_while_one_types(self, hands: Hands) -> None:
        for name in ("apple", "pear", "apple pie", "plum"):
            label(hands.session, hands.prompt("c"), name, hands.writing())
        async with logging(hands.file.path) as (pilot, screen):
            await pilot.press("slash")
            await until(pilot, lambda: pilot.app.screen is not screen)
            await pilot.press(*"apple")
            assert "[apple pie]" in rows(pilot.app)[screen.log_list.region.y + screen.log_list.cursor]
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen is screen)
            # The change from a label names it as the change to it does.
            assert note(screen).startswith("4 of 4 with “apple”")
            newest = screen.log_list.cursor
            await pilot.press("n")
            assert screen.log_list.cursor == newest - 3
            await pilot.press("N", "N")
            assert screen.log_list.cursor == newest - 1
            await pilot.press("escape")
            assert note(screen) == ""
            await pilot.press("n")
            assert screen.log_list.cursor == newest - 1

    async def test_leaving_the_search_goes_back(self, hands: Hands) -> None:
        async with logging(hands.file.path) as (pilot, screen):
            before = screen.log_list.cursor
            await pilot.press("slash", "y", "space", *"prompt")
            assert screen.log_list.cursor != before
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is screen)
            assert screen.log_list.cursor == before

    async def test_nothing_found_is_said(self, hands: Hands) -> None:
        async with logging(hands.file.path) as (pilot, screen):
            await pilot.press("slash", *"zebra", "enter")
            await until(pilot, lambda: pilot.app.screen is screen)
            assert "nothing found" in note(screen)
