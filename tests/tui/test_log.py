"""The operation log: words for every kind of operation, taking any of them back, the path as it was then."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from textual.geometry import Size

from leafward.base.config import Config
from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits
from leafward.context.price import price_of_move
from leafward.session.journal.operation_log import operations
from leafward.session.journal.session_operations import archive, label, move, redo, rename, undo
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from leafward_tui.log.path_then import PathThen
from leafward_tui.log.screen import LogScreen
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.words.operation_text import OperationText
from tests.tui.explored import NARROW, WIDE, Named, exploring, forked
from tests.tui.session_store import NOW, reached, rows, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.ui.appearance.glyphs import Glyphs


class Hands:
    """Does things to a session, a minute apart."""

    def __init__(self, file: Named) -> None:
        self.file = file
        self.session = Session.open(file.path)
        self.time = NOW - timedelta(hours=2)

    def writing(self) -> Writing:
        self.time += timedelta(minutes=1)
        return Writing(now=lambda: self.time)

    def prompt(self, name: str) -> int:
        return self.session.columns.index(self.file.prompts[name])

    def end(self, name: str) -> int:
        return self.session.columns.index(self.file.ends[name])

    def deeds(self, glyphs: Glyphs = UNICODE) -> OperationText:
        return OperationText(self.session, operations(self.session), glyphs)

    def last(self) -> tuple[str, str, str, str]:
        deeds = self.deeds()
        doing = deeds.doing(deeds.log[-1])
        return doing.verb, doing.lead, doing.follow, doing.state


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[Hands]:
    file = forked(tmp_path / "session.jsonl", cwd=tmp_path)
    made = Hands(file)
    with closing(made.session):
        yield made


class TestWords:
    def test_an_agent_s_moves_are_told_by_the_turns(self, hands: Hands) -> None:
        deeds = hands.deeds()
        told = [(doing.verb, doing.lead, doing.follow) for doing in map(deeds.doing, deeds.log)]
        assert told == [("moved", "y prompt", "x prompt"), ("moved", "z prompt", "b prompt")]
        assert all(operation.agent for operation in deeds.log)

    def test_moves(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        assert hands.last() == ("moved", "d prompt", "y prompt", "")
        # Within one turn its prompt would say the same twice.
        move(hands.session, hands.prompt("y"), hands.writing())
        assert hands.last() == ("moved", "y done", "y prompt", "")
        move(hands.session, -1, hands.writing())
        assert hands.last()[2] == "the beginning"

    def test_labels(self, hands: Hands) -> None:
        label(hands.session, hands.prompt("c"), "one", hands.writing())
        assert hands.last() == ("labelled", "[one]  c prompt", "", "")
        label(hands.session, hands.prompt("c"), "two", hands.writing())
        assert hands.last() == ("labelled", "[one]", "[two]  c prompt", "")
        label(hands.session, hands.prompt("c"), "", hands.writing())
        assert hands.last() == ("cleared", "[two]  c prompt", "", "")

    def test_names(self, hands: Hands) -> None:
        rename(hands.session, "first", hands.writing())
        assert hands.last() == ("named", "“first”", "", "")
        rename(hands.session, "second", hands.writing())
        assert hands.last() == ("named", "“first”", "“second”", "")
        rename(hands.session, "", hands.writing())
        assert hands.last() == ("cleared", "“second”", "", "")

    def test_archived_branches(self, hands: Hands) -> None:
        archive(hands.session, hands.prompt("x"), True, hands.writing())
        assert hands.last() == ("archived", "x prompt", "", "")
        archive(hands.session, hands.prompt("x"), False, hands.writing())
        assert hands.last() == ("unarchived", "x prompt", "", "")
        undo(hands.session, None, hands.writing())
        assert hands.last() == ("undid", "unarchiving  x prompt", "", "")
        undo(hands.session, None, hands.writing())
        assert hands.last() == ("undid", "archiving  x prompt", "", "")

    def test_a_context_edit_is_no_move(self, hands: Hands) -> None:
        edits = [ContextEdit(hands.session.columns.index(hands.file.ends["d"]))]
        apply_edits(hands.session, draft_edits(hands.session, edits), hands.writing())
        assert hands.last() == ("edited", "omits  d answered", "", "")
        deeds = hands.deeds()
        assert deeds.title(deeds.log[-1]) == "Edited the context"
        undo(hands.session, None, hands.writing())
        deeds = hands.deeds()
        assert deeds.title(deeds.log[-1]) == "Undid the context edit"
        assert deeds.doing(deeds.log[-1]).lead.startswith("context edit  ")

    def test_undo_and_redo(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        undo(hands.session, None, hands.writing())
        assert hands.last() == ("undid", "move  y prompt", "d prompt", "")
        deeds = hands.deeds()
        assert deeds.doing(deeds.log[-2]).state == "undone"
        assert deeds.taken_back(deeds.log[-2]) == f"by entry #{len(hands.session) - 1}"
        redo(hands.session, hands.writing())
        assert hands.last()[0] == "redid"
        deeds = hands.deeds()
        assert [deeds.doing(one).state for one in deeds.log[-3:]] == ["", "redone", ""]
        assert deeds.root(deeds.log[-1]) == deeds.log[-3]
        assert deeds.taken_back(deeds.log[-2]) == f"by entry #{len(hands.session) - 1}", (
            "the undo, by the redo"
        )
        assert deeds.taken_back(deeds.log[-3]) == ""

    def test_what_an_undo_would_set(self, hands: Hands) -> None:
        session = hands.session
        move(session, hands.end("y"), hands.writing())
        label(session, hands.prompt("c"), "one", hands.writing())
        label(session, hands.prompt("c"), "two", hands.writing())
        rename(session, "first", hands.writing())
        rename(session, "second", hands.writing())
        archive(session, hands.prompt("x"), True, hands.writing())
        archive(session, hands.prompt("x"), False, hands.writing())
        deeds = hands.deeds()
        assert [deeds.outcome(operation) for operation in deeds.log[-7:]] == [
            f"the leaf goes back to #{hands.end('d')} d prompt",
            "label [one] is removed",
            "the label is [one] again",
            "the session has no name",
            "the name is “first” again",
            "the branch is unarchived",
            "the branch is archived again",
        ]

    def test_details_name_entries_and_the_line(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        deeds = hands.deeds()
        facts = {name: (said, ident) for name, said, ident in deeds.facts(deeds.log[-1])}
        assert facts["from"] == ("d answered", f"#{hands.end('d')}  {hands.file.ends['d']}")
        assert facts["to"] == ("y done", f"#{hands.end('y')}  {hands.file.ends['y']}")
        assert facts["entry"][0].startswith(f"#{len(hands.session) - 1}, at byte ")

    def test_what_a_file_claims_is_made_safe(self, hands: Hands) -> None:
        hostile = "\x1b[31m\u202e"
        hands.file.entry(
            "custom",
            customType="leafward.archive",
            data={"op": hostile * 9, "target": hostile, "archived": True},
        )
        hands.file.entry("label", targetId=hostile, label=hostile, leafward={"op": hostile})
        hands.file.entry("session_info", name=hostile)
        hands.session.refresh()
        deeds = hands.deeds()
        for operation in deeds.log:
            told = [*deeds.facts(operation), (deeds.title(operation), deeds.outcome(operation), "")]
            doing = deeds.doing(operation)
            text = "".join(part for fact in told for part in fact) + doing.lead + doing.follow
            assert "\x1b" not in text
            assert "\u202e" not in text


class TestThePathThen:
    def drawn(self, hands: Hands, rows: int, glyphs: Glyphs = UNICODE) -> list[str]:
        deeds = hands.deeds(glyphs)
        found = PathThen(deeds).rows(deeds.log[-1], rows)
        return [f"{''.join(sign for sign, _ in row.signs)} {row.text} {row.behind}".rstrip() for row in found]

    def test_of_a_move_to_another_branch(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        assert self.drawn(hands, 9) == [
            "●   a prompt",
            "●   b prompt",
            "┠─○ c prompt abandoned: 4 entries",
            "●   x prompt",
            "◎   y prompt  leaf",
        ]

    def test_of_a_move_up(self, hands: Hands) -> None:
        move(hands.session, hands.end("b"), hands.writing())
        assert self.drawn(hands, 9) == [
            "●   a prompt",
            "◎   b prompt  leaf",
            "└─○ c prompt abandoned: 4 entries",
        ]

    def test_what_is_left_behind_is_counted_as_the_move_counts_it(self, hands: Hands) -> None:
        """Metadata of the agent is dropped too; notes of ours are no entries for either."""
        hands.file.entry("thinking_level_change", thinkingLevel="high")
        hands.file.turn("more")
        hands.session.refresh()
        label(hands.session, hands.prompt("x"), "here", hands.writing())
        assert price_of_move(hands.session, hands.end("b")).left.entries == 7
        move(hands.session, hands.end("b"), hands.writing())
        assert self.drawn(hands, 9)[2].endswith("abandoned: 7 entries")

    def test_of_a_label(self, hands: Hands) -> None:
        label(hands.session, hands.prompt("x"), "here", hands.writing())
        assert self.drawn(hands, 9) == ["●   a prompt", "●   b prompt", "●   x prompt [here]"]

    def test_of_a_move_before_everything(self, hands: Hands) -> None:
        move(hands.session, -1, hands.writing())
        assert self.drawn(hands, 9)[0] == "◎   the beginning  leaf"
        assert self.drawn(hands, 9)[1] == "└─○ a prompt abandoned: 12 entries"

    @pytest.mark.parametrize("room", range(1, 9))
    def test_folds_what_has_no_room(self, room: int, hands: Hands) -> None:
        for number in range(9):
            hands.file.turn(f"n{number}")
        hands.session.refresh()
        move(hands.session, hands.end("y"), hands.writing())
        drawn = self.drawn(hands, room)
        assert len(drawn) <= room
        assert drawn[-1].endswith("leaf")
        move(hands.session, hands.end("n8"), hands.writing())
        drawn = self.drawn(hands, room)
        assert len(drawn) <= room
        assert drawn[-1].endswith("leaf")
        if 4 <= room < 9:
            assert any("▸" in row for row in drawn)

    def test_in_ascii(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        assert "".join(self.drawn(hands, 9, ASCII)).isascii()


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
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
    await pilot.pause()
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
                assert screen.log_list.operation is not None
                assert screen.log_list.operation.agent
                await pilot.press("j", "G", "k", "pageup", "pagedown", "ctrl+u", "ctrl+d", "tab")
                assert screen.log_list.cursor == 40

    async def test_the_columns_fit_before_the_scrollbar_is_laid_out(self, demo: Path) -> None:
        async with logging(demo, NARROW) as (pilot, screen):
            shown = screen.log_list
            await until(pilot, lambda: shown.operations is not None and shown.show_vertical_scrollbar)
            every = shown.operations
            assert every is not None
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
            await pilot.pause()
            assert lines(hands.file.path) == before
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
                await pilot.pause()
                assert screen.app.screen.NAME == "explorer"  # type: ignore[attr-defined]  # a screen of ours

    async def test_without_operations_one_sentence_stands_there(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "quiet.jsonl")
        file.turn("a")
        async with logging(file.path) as (pilot, screen):
            shown = [row.strip() for row in rows(screen.app) if row.strip()]
            assert any(row.startswith("No operation yet") for row in shown)
            await pilot.press("enter", "u", "U", "y", "j", "g")
            assert screen.app.screen is screen

    async def test_copies_what_is_known(self, hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        copied: list[str] = []
        async with logging(hands.file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "copy", copied.append)
            await pilot.press("y")
            assert copied[0].startswith("Moved the leaf  2026-03-02T13:05:00.000Z\nfrom  d answered")

    async def test_mouse(self, hands: Hands) -> None:
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


def test_a_redo_goes_back_to_an_entry_with_words(hands: Hands) -> None:
    move(hands.session, hands.end("y"), hands.writing())
    undo(hands.session, writing=hands.writing())
    redo(hands.session, hands.writing())
    deeds = hands.deeds()
    redone = {name: (said, at) for name, said, at in deeds.facts(deeds.log[-1])}
    assert redone["to"][0] == "y done"
    assert redone["to"][1].startswith(f"#{hands.end('y')} ")
    assert redone["from"][1].startswith(f"#{hands.end('d')} ")
