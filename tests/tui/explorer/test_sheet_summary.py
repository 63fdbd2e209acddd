"""Summaries that a move carries along, and while one runs: given up, refused, and never in the way of others."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.context.model_context import context_at
from leafward.session.journal.lock import busy, refuse_if_busy
from leafward.session.journal.session_operations import move
from leafward.session.session import Session
from leafward_tui.explorer.model.summary_request import Growth, SummaryRequest, SummaryRun, progress_words
from leafward_tui.log.screen import LogScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.tui.explored import NARROW, WIDE, Named, exploring, forked, here, lines, note, tree
from tests.tui.session_store import NOW, reached, rows, shown, until, whole_text
from tests.tui.summed import at_rest, on_demo, summing
from tests.tui.sure import sure

if TYPE_CHECKING:
    import threading
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Named:
    """Turns a b c d are the path; x y leave b, z leaves x."""
    return forked(tmp_path / "session.jsonl", cwd=tmp_path)


class TestMoving:
    async def test_the_summary_is_the_leaf_below_the_target(self, file: Named) -> None:
        before = lines(file.path)
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "enter")
            await reached(pilot, ChoiceSheet)
            assert "4 messages" in shown(pilot)
            await pilot.press("s")
            await at_rest(pilot, screen)
            after = lines(file.path)
            assert after[: len(before)] == before
            (line,) = after[len(before) :]
            assert line["type"] == "branch_summary"
            assert line["parentId"] == file.ends["b"]
            assert line["fromId"] == file.ends["d"]
            assert "d answered" in line["summary"]
            assert screen.state.session is not None
            assert screen.state.session.columns.id(screen.state.session.place) == line["id"]
            row = tree(screen)[screen.panes.tree.state.cursor]
            assert "branch summary   of 4" in row
            assert "leaf" in row
            assert note(screen).startswith("✓ moved to #")
            assert "with a summary of 4 messages" in note(screen)
            assert "u undo" in note(screen)
            refuse_if_busy(file.path)

    @pytest.mark.parametrize("carried", [True, False])
    async def test_the_time_of_the_line_is_the_application_s(self, file: Named, carried: bool) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K")
            if carried:
                await pilot.press("enter")
                await reached(pilot, ChoiceSheet)
                await pilot.press("s")
            else:
                await pilot.press("s")
                await whole_text(pilot)
                await pilot.press("enter")
            await at_rest(pilot, screen)
        line = lines(file.path)[-1]
        assert line["type"] == "branch_summary"
        assert datetime.fromisoformat(line["timestamp"]) == NOW

    async def test_undo_goes_back_before_it_and_redo_to_it(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("s")
            await at_rest(pilot, screen)
            summary = lines(file.path)[-1]["id"]
            await pilot.press("u")
            await until(pilot, lambda: "undid: move with a summary" in note(screen))
            assert screen.state.session is not None
            columns = screen.state.session.columns
            assert columns.id(screen.state.session.place) == file.ends["d"]
            await pilot.press("U")
            await until(pilot, lambda: "redid: move with a summary" in note(screen))
            assert columns.id(screen.state.session.place) == summary
            await pilot.press("o")
            await reached(pilot, LogScreen)
            await until(pilot, lambda: "with a summary" not in shown(pilot) and "redid" in shown(pilot))
            await pilot.press("k", "k")
            await until(pilot, lambda: "Moved the leaf with a summary" in shown(pilot))

    async def test_to_another_branch(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            while here(screen) != "x":
                await pilot.press("k")
            await pilot.press("enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("s")
            await at_rest(pilot, screen)
            line = lines(file.path)[-1]
            assert (line["parentId"], line["fromId"]) == (file.ends["x"], file.ends["d"])
            assert "y done" not in line["summary"]
            assert screen.state.session is not None
            roles = [one.role for one in context_at(screen.state.session).messages]
            assert roles.count("branchSummary") == 1
            assert roles[-1] == "branchSummary"

    async def test_what_it_dwells_on_is_asked_for(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("f")
            await reached(pilot, TextSheet)
            assert "append 1 line" in shown(pilot)
            await pilot.press(*"answers", "enter")
            await at_rest(pilot, screen)
            assert lines(file.path)[-1]["details"]["leafward"]["focus"] == "answers"

    async def test_leaving_the_focus_writes_nothing(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("k", "enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("f", "escape")
            await at_rest(pilot, screen)
            assert file.path.read_bytes() == before

    async def test_before_a_prompt_its_text_is_copied_and_its_turn_summarised(
        self, file: Named, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with exploring(file.path) as (pilot, screen):
            copied: list[str] = []
            monkeypatch.setattr(screen.services, "copy", lambda text, _what="": copied.append(text))
            await pilot.press("enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("b")
            await at_rest(pilot, screen)
            line = lines(file.path)[-1]
            assert (line["type"], line["parentId"]) == ("branch_summary", file.ends["c"])
            assert copied == ["d prompt"]

    async def test_nothing_left_asks_nothing(self, tmp_path: Path) -> None:
        file = forked(tmp_path / "s.jsonl")
        with closing(Session.open(file.path)) as session:
            move(session, session.columns.index(file.ends["c"]))
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("G")
            assert here(screen) == "d"
            await pilot.press("enter")
            sheet = await reached(pilot, ChoiceSheet)
            assert {choice.key for choice in sheet.rows.choices} == set("mweWrn")

    async def test_only_settings_left_is_a_plain_move(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "s.jsonl")
        file.turn("a")
        file.entry("context_edit", targetId=file.prompts["a"], replacement=None)
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("g", "enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("s")
            await until(pilot, lambda: "nothing to summarise" in note(screen))
            line = lines(file.path)[-1]
            assert (line["type"], line["parentId"]) == ("custom", file.ends["a"])

    @pytest.mark.parametrize("size", [WIDE, NARROW, (60, 16)])
    async def test_the_sheet_says_what_each_choice_leaves(self, size: tuple[int, int]) -> None:
        async with on_demo(size) as (pilot, _, _):
            await pilot.press("enter")
            sheet = await reached(pilot, ChoiceSheet)
            assert [choice.key for choice in sheet.rows.choices] == list("msfwebWrn")
            said = shown(pilot)
            assert "Move with a summary" in said
            if size != (60, 16):
                assert re.search(r"summarises \d+ messages *$", said, re.MULTILINE), (
                    "tokens stand in the price alone"
                )
            await pilot.press("j")
            if size == WIDE:
                assert "append 1 line, a summary, to the session's file" in shown(pilot)

    async def test_a_click_chooses_and_cancels(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "enter")
            ways = await reached(pilot, ChoiceSheet)
            await pilot.click(ways.rows, offset=(8, 1))
            await at_rest(pilot, screen)
            assert lines(file.path)[-1]["type"] == "branch_summary"
            await pilot.press("K", "s")
            sheet = await whole_text(pilot)
            foot = rows(pilot.app)[sheet.foot.region.y + 1]
            await pilot.click(sheet.foot, offset=(foot.index("esc cancel") + 1, 1))
            await at_rest(pilot, screen)


class TestWhileItRuns:
    async def test_progress_stands_in_the_price_line_and_grows(
        self, file: Named, gate: threading.Event
    ) -> None:
        async with exploring(file.path) as (pilot, screen):
            await summing(pilot, screen)
            assert note(screen).startswith("summarising 4 messages")
            assert "esc cancel" in note(screen)
            assert "half of it" in note(screen)
            await pilot.press("k")
            await until(pilot, lambda: note(screen).startswith("summarising 4 messages"))
            gate.set()
            await at_rest(pilot, screen)
            assert "with a summary" in note(screen)

    async def test_escape_gives_it_up_without_a_trace(self, file: Named, gate: threading.Event) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await summing(pilot, screen)
            await pilot.press("escape")
            await at_rest(pilot, screen)
            assert "nothing was written" in note(screen)
            assert file.path.read_bytes() == before
            refuse_if_busy(file.path)
            assert not gate.is_set()

    @pytest.mark.parametrize("key", ["enter", "u", "U", "A", "s"])
    async def test_whatever_writes_is_refused_with_the_reason_and_the_key(
        self, key: str, file: Named, gate: threading.Event
    ) -> None:
        async with exploring(file.path) as (pilot, screen):
            await summing(pilot, screen)
            before = file.path.read_bytes()
            while here(screen) != "x":
                await pilot.press("j")
            await pilot.press(key)
            await until(pilot, lambda: pilot.app.screen is screen)
            assert "a summary of this session is still being made" in note(screen)
            assert "esc cancel" in note(screen)
            assert file.path.read_bytes() == before
            gate.set()
            await at_rest(pilot, screen)
            assert lines(file.path)[-1]["type"] == "branch_summary"

    async def test_a_label_is_refused_before_it_is_typed(self, file: Named, gate: threading.Event) -> None:
        async with exploring(file.path) as (pilot, screen):
            await summing(pilot, screen)
            await pilot.press("l")
            await until(pilot, lambda: "still being made" in note(screen))
            assert pilot.app.screen is screen
            gate.set()
            await at_rest(pilot, screen)
            assert [line["type"] for line in lines(file.path)].count("label") == 0

    async def test_other_parts_of_this_process_are_refused_too(
        self, file: Named, gate: threading.Event
    ) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("k", "enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("s")
            await until(pilot, lambda: "tokens" in note(screen))
            with closing(Session.open(file.path)) as other, pytest.raises(Refused, match="a summary of"):
                move(other, 0)

    async def test_leaving_the_screen_gives_it_up(self, file: Named, gate: threading.Event) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("k", "enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("s")
            await until(pilot, lambda: "tokens" in note(screen))
            summing = sure(screen.state.summary)
            await pilot.press("q")
        assert summing.stop.is_set()
        assert file.path.read_bytes() == before

    async def test_work_that_is_going_on_elsewhere_is_said(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            with busy(file.path, "a compaction"):
                await pilot.press("k", "enter")
                await reached(pilot, ChoiceSheet)
                await pilot.press("s")
                await until(pilot, lambda: "a compaction of" in note(screen))
            assert screen.state.summary is None

    async def test_a_file_that_grew_meanwhile_is_not_written_to_and_the_summary_is_kept(
        self, file: Named, gate: threading.Event
    ) -> None:
        async with exploring(file.path) as (pilot, screen):
            await summing(pilot, screen)
            file.turn("e")
            before = file.path.read_bytes()
            gate.set()
            sheet = await reached(pilot, ReadingSheet)
            assert "the summary stays here" in shown(pilot)
            assert "grew by 2 entries" in shown(pilot)
            assert "d answered" in sheet.text
            await pilot.press("escape")
            await at_rest(pilot, screen)
            assert file.path.read_bytes() == before
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))


def test_how_far_it_is_in_words() -> None:
    summing = SummaryRun(SummaryRequest(9, 3, 31))
    assert progress_words(summing) == "summarising 31 messages"
    summing.growth = Growth("", 0, stage="openai/x: the history")
    assert progress_words(summing) == "summarising 31 messages, openai/x: the history"
    summing.growth = Growth("a\n\n  b \n\n", 512, 40.2)
    assert progress_words(summing) == "summarising 31 messages, 512 tokens, 40/s"
    assert summing.growth.last_line == "b"
    summing.stop.set()
    assert progress_words(summing) == "summarising 31 messages, giving up"
