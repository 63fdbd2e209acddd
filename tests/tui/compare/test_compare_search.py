"""A search in a comparison: paths, lines in folds, messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.style import Style

from leafward.compaction.stored_summary.summary_comparison import LineRelation, PairedLine, SectionDiff
from leafward.session.entries import EntryIndex
from leafward_tui.compare.model.content_lines import ContentLines
from leafward_tui.compare.model.context_page import MessageRow, context_page
from leafward_tui.compare.model.files import FOLD, Column, FileItem, FileLines
from leafward_tui.compare.state import Page
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.panes.pane_lines import Block
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from leafward_tui.ui.text.hits import parted as lit_parts
from leafward_tui.ui.text.hits import spans_of
from tests.acting import call
from tests.tui.compared import HIGH, comparing, parted, settled, tabbed
from tests.tui.explored import NARROW
from tests.tui.session_store import reached, rested, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.compare.model.compared_sides import Overall
    from leafward_tui.compare.screen import CompareScreen


async def searched(pilot: Pilot[int], screen: CompareScreen, words: str, hits: int) -> None:
    await pilot.press("slash")
    await reached(pilot, TextSheet)
    await pilot.press(*("space" if letter == " " else letter for letter in words), "enter")
    await until(pilot, lambda: len(screen.search.hits.hits) == hits)
    await pilot.pause()


async def test_paths_are_found_in_all_columns(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await searched(pilot, screen, "o", 3)
        seen = set()
        for _ in range(3):
            seen.add(sure(screen.state.files.file).path)
            await pilot.press("n")
            await until(pilot, lambda: settled(screen))
        assert seen == {"notes/only-a.md", "src/store.py", "docs/[/nope].md"}
        assert "of 3" in shown(pilot)
        await pilot.press("escape")
        assert screen.search.words == ""
        assert screen.is_current


@pytest.mark.parametrize("size", [HIGH, NARROW])
async def test_a_hit_in_a_fold_is_unfolded_and_folded_again(tmp_path: Path, size: tuple[int, int]) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        await pilot.press("2")
        before = len(screen.view.diff.lines or ())
        await searched(pilot, screen, "line 20", 1)
        assert "20" in (screen.view.diff.line.text if screen.view.diff.line is not None else "")
        assert len(screen.view.diff.lines or ()) > before
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.view.diff.lines or ()) == before)
        assert screen.state.page is Page.CONTENTS
        await pilot.press("n")
        assert "change" in screen.view.sentence.text


async def test_the_line_stays_where_a_fold_is_opened(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await pilot.press("2", "G", "k", "k", "k")
        lines_before = screen.view.diff.lines
        assert isinstance(lines_before, ContentLines)
        spot = lines_before.spot(screen.view.diff.cursor)
        await pilot.press("z")
        await until(pilot, lambda: screen.view.diff.lines is not lines_before)
        assert isinstance(screen.view.diff.lines, ContentLines)
        assert screen.view.diff.lines.spot(screen.view.diff.cursor) == spot
        await pilot.press("z")
        await until(pilot, lambda: len(screen.view.diff.lines or ()) == len(lines_before))
        assert screen.view.diff.lines.spot(screen.view.diff.cursor) == spot


async def test_messages_figures_and_summaries_are_searched(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await pilot.press("3")
        await searched(pilot, screen, "a is done", 1)
        assert "A is done" in (screen.view.lines.line.text if screen.view.lines.line is not None else "")
        await pilot.press("5")
        await until(pilot, lambda: len(screen.search.hits.hits) == 1)
        await pilot.press("4")
        await until(
            pilot, lambda: all(0 <= hit < len(screen.view.summary.lines) for hit in screen.search.hits.hits)
        )
        await pilot.press("escape")
        assert not screen.search.hits.hits


@pytest.mark.parametrize("size", [HIGH, NARROW])
async def test_hits_are_looked_for_again_where_other_files_are_listed(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """After a swap, and where the columns become one list."""
    async with comparing(parted(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        await searched(pilot, screen, "only", 1)
        other = NARROW if size == HIGH else HIGH
        await pilot.press("V")
        await until(pilot, lambda: screen.state.read.carried is not None and settled(screen))
        await pilot.press("n")
        assert sure(screen.state.files.file).path == "notes/only-a.md"
        await pilot.resize_terminal(*other)
        await rested(pilot)
        await pilot.press("j", "n")
        assert sure(screen.state.files.file).path == "notes/only-a.md"


async def test_hits_and_cursor_stay_on_their_lines_where_the_same_ones_are_shown(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with comparing(file.path) as (pilot, _, screen):
        await pilot.press("4")
        pane, read = screen.view.summary, screen.state.read
        await until(pilot, lambda: read.summaries is not None)
        same = tuple(PairedLine(LineRelation.SAME, f"- {one}", f"- {one}") for one in "abc")
        section = SectionDiff(
            "Rules", LineRelation.CHANGED, (*same, PairedLine(LineRelation.ADDED, "", "- npm, too"))
        )
        found = sure(read.summaries)
        diff = replace(found.difference, sections=(section, *found.difference.sections))
        read.summaries = replace(found, difference=diff)
        screen.pages.show_summary()
        await searched(pilot, screen, "npm, too", 1)
        cursor, folded = sure(pane.line), len(pane.lines)
        assert cursor.after == "- npm, too"
        await pilot.press("z")
        assert len(pane.lines) == folded + 2
        assert pane.line == cursor
        assert [pane.lines[at] for at in screen.search.hits.hits] == [cursor]


async def test_the_end_of_a_list_is_reached_without_the_lines_before_it(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        items = [FileItem(heading=str(number)) for number in range(900)]
        every = [FileItem(key=FOLD), *items, FileItem(key=FOLD), FileItem(heading="end")]
        lines = FileLines(every, 40, UNICODE, None)
        view = screen.view.lists[Column.BOTH]
        view.show(lambda _width, _rows: lines)
        for step, line in ((1 << 40, 901), (-(1 << 40), 0)):
            await rested(pilot)
            before = lines.made
            view.move_by(step)
            assert view.cursor == line
            assert lines.made - before < 12


def test_messages_are_made_when_they_are_drawn(both: Overall) -> None:
    messages = [MessageRow("A", "you", 1, f"word {number}", EntryIndex(0)) for number in range(5_000)]
    page = context_page(both, messages, 80, UNICODE)
    assert page.find("message:4999") == len(page) - 1
    assert "word 4999" in page[-1].text
    assert not isinstance(page, Block)


def test_hits_cross_the_pieces_of_a_line() -> None:
    hits = spans_of("a needle here", "needle")
    assert hits == [(2, 8)]
    plain, hit = Style(), Style(underline=True)
    pieces = [*lit_parts("a nee", 0, hits, plain, hit), *lit_parts("dle here", 5, hits, plain, hit)]
    assert [(piece.text, piece.style) for piece in pieces] == [
        ("a ", plain),
        ("nee", hit),
        ("dle", hit),
        (" here", plain),
    ]


@pytest.mark.parametrize("size", [HIGH, NARROW])
async def test_a_hit_is_seen_above_the_sheet_while_one_types(tmp_path: Path, size: tuple[int, int]) -> None:
    async with comparing(tabbed(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        await pilot.press("2", "slash")
        await reached(pilot, TextSheet)
        for words in ("line 59", "line 50", "line 3"):
            await pilot.press("ctrl+u", *("space" if letter == " " else letter for letter in words))
            await until(pilot, lambda words=words: screen.search.words == words and screen.search.hits.hits)  # type: ignore[misc]  # mypy cannot infer defaults
            await pilot.pause()
            assert words in sure(screen.view.diff.line).text
            free = size[1] - pilot.app.screen.query_one("Vertical").size.height
            line = screen.view.diff.region.y + screen.view.diff.cursor - screen.view.diff.scroll_offset.y
            assert screen.view.diff.region.y <= line < free
        await pilot.press("enter")
        await until(pilot, lambda: screen.is_current)
        await pilot.pause()
        await pilot.press("G")
        await pilot.pause()
        assert screen.view.diff.scroll_offset.y + screen.view.diff.size.height <= len(
            screen.view.diff.lines or ()
        )


@pytest.mark.parametrize("size", [HIGH, NARROW])
async def test_a_line_that_is_cut_is_read_whole(tmp_path: Path, size: tuple[int, int]) -> None:
    file = parted(tmp_path / "s.jsonl")
    long = "word " * 60
    file.said(call("edit", "b9", path="src/store.py", oldText="line 30\n", newText=f"{long}end \x1b[31m\n"))
    file.answered("b9", "edit", "ok")
    file.said("B is done, at length")
    async with comparing(file.path, size) as (pilot, _, screen):
        await until(pilot, lambda: settled(screen))
        await pilot.press("2")
        await searched(pilot, screen, "word", 1)
        await pilot.press("enter")
        await reached(pilot, ReadingSheet)
        await pilot.pause()
        told = "\n".join(rows(pilot.app))
        assert "B 30" in told
        assert "end" in told
        assert "\x1b" not in told
        await pilot.press("escape")
        await until(pilot, lambda: screen.is_current)
        await pilot.press("escape", "4")
        await until(pilot, lambda: screen.view.summary.line is not None)
        await pilot.press("n", "enter")
        await reached(pilot, ReadingSheet)
