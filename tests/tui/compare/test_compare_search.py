"""A search in a comparison: paths, lines in folds, messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.style import Style

from leafward_tui.compare.model.content_lines import ContentLines
from leafward_tui.compare.state import Page
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from leafward_tui.ui.text.hits import parted as lit_parts
from leafward_tui.ui.text.hits import spans_of
from tests.acting import call
from tests.tui.compared import HIGH, comparing, parted, settled, tabbed
from tests.tui.explored import NARROW
from tests.tui.session_store import reached, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

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
