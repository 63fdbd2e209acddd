"""The X-ray on the screen: keys, mouse, narrow screens, and what the explorer says of compactions."""

from __future__ import annotations

from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.compaction.xray.alignment import Link, What
from leafward.compaction.xray.xray import xray_of
from leafward.session.entries import Kind
from leafward.session.session import Session
from leafward_tui.inspector.tab import Tab
from leafward_tui.lab.screen import LabScreen
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.text.cells import count
from leafward_tui.xray.model.arrangement import Side
from leafward_tui.xray.model.captions import side_words
from leafward_tui.xray.screen import XRayScreen
from leafward_tui.xray.summaries import SummariesScreen
from tests.acting import Acting, call, usage
from tests.tui.considered import follow
from tests.tui.explored import NARROW, WIDE, exploring
from tests.tui.pictures import picture
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.explorer.screen import ExplorerScreen

SUMMARY = """## Goal
Find out how heavy tree 41 is.

## Critical Context
- tree 41 weighs 18250 g
- [/nope] never acts

<read-files>
src/tree0.py
src/tree1.py
</read-files>

<leafward-context>
## Rules
- weights stay in grams
</leafward-context>"""


def orchard(path: Path, summary: str = SUMMARY, *, twice: bool = False) -> Acting:
    """Five turns, of which the last two are kept; what tree 43 weighs is lost."""
    file = Acting(path)
    starts = []
    for turn in range(5):
        starts.append(file.user(f"question {turn}: how heavy is tree {turn + 40}?"))
        file.said(call("read", f"c{turn}", path=f"src/tree{turn}.py"))
        file.answered(f"c{turn}", "read", f"tree {turn + 40} weighs 1{turn}250 g")
        file.said(f"tree {turn + 40} weighs {turn + 17}250 g", tokens=usage(4_000))
    if twice:
        older = "## Goal\nWeigh.\n\n## Critical Context\n- the orchard is sold"
        file.entry("compaction", summary=older, firstKeptEntryId=starts[1], tokensBefore=4_000)
        file.user("go on")
    file.entry("compaction", summary=summary, firstKeptEntryId=starts[3], tokensBefore=4_000)
    file.user("what now?")
    file.said("now we rest")
    return file


# --- on the screen ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def seeing(
    path: Path, size: tuple[int, int] = WIDE
) -> AsyncIterator[tuple[Pilot[int], ExplorerScreen, XRayScreen]]:
    """The X-ray of the last compaction of a session, all of it worked out."""
    async with exploring(path, size) as (pilot, explorer):
        await pilot.press("X")
        screen = await reached(pilot, XRayScreen)
        await until(pilot, lambda: screen.state.loaded.fates is not None)
        await pilot.pause()
        yield pilot, explorer, screen


async def to_line(pilot: Pilot[int], screen: XRayScreen, text: str) -> None:
    """Puts the cursor on the line of its side that begins with a text."""
    await pilot.press("g")
    for _ in range(60):
        piece, line, teller = screen.lines.piece, screen.lines.line, screen.state.loaded.teller
        told = teller.piece(piece, line.link) if piece and line and line.link and teller else None
        if told is not None and told.text.startswith(text):
            return
        await pilot.press("j")
    raise AssertionError(text)


async def test_both_sides_the_ledger_and_where_a_line_comes_from(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, explorer, screen):
        text = "\n".join(rows(pilot.app))
        assert "what the model saw" in text
        assert "question 1: how heavy is tree" in text
        assert "Critical Context" in text
        assert "nothing here before" in text
        await to_line(pilot, screen, "tree 41 weighs")
        assert "from #7 ai" in screen.view.about.text
        assert "verbatim" in screen.view.about.text
        assert screen.lines.lit
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is explorer)
        assert sure(explorer.state.exploration).layout.row_of(7) == explorer.panes.tree.row


async def test_the_side_after_is_called_now_only_where_nothing_was_said_since(tmp_path: Path) -> None:
    file = orchard(tmp_path / "s.jsonl")
    async with seeing(file.path) as (pilot, _, _screen):
        text = "\n".join(rows(pilot.app))
        assert "right after this compaction" in text
        assert "what the model sees now" not in text
    with closing(Session.open(file.path)) as session:
        xray = xray_of(session, session.columns.kind.index(Kind.COMPACTION))
    lines = file.path.read_bytes().splitlines(keepends=True)
    ended = tmp_path / "ended.jsonl"
    ended.write_bytes(
        b"".join(lines[: next(at for at, line in enumerate(lines) if b'"compaction"' in line) + 1])
    )
    with closing(Session.open(ended)) as session:
        assert side_words(session, xray, Side.AFTER) == "what the model sees now"


async def test_hostile_text_stays_text(tmp_path: Path) -> None:
    summary = SUMMARY.replace("[/nope] never acts", "[/nope] \x1b]52;c;AAAA\x07 \x9b31m \u202e red")
    async with seeing(orchard(tmp_path / "s.jsonl", summary).path) as (pilot, _, screen):
        await to_line(pilot, screen, "[/nope]")
        text = "\n".join(rows(pilot.app))
        assert "[/nope]" in text
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
        await pilot.press("y")
        await until(pilot, lambda: "\x1b" not in pilot.app.clipboard)


async def test_the_other_side_is_at_the_source(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await to_line(pilot, screen, "tree 41 weighs")
        await pilot.press("tab")
        assert screen.lines.side is Side.BEFORE
        piece = sure(screen.lines.piece)
        assert 7 in {screen.state.loaded.xray.rows[row].before.entry for row in piece.rows}  # type: ignore[union-attr]  # both are there
        assert "facts: " in screen.view.about.text


async def test_lists_and_runs_open_and_close(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await to_line(pilot, screen, f"{UNICODE.folded} files read")
        lines = len(screen.lines.arrangement or ())
        await pilot.press("enter", "j")
        assert "src/tree0.py" in "\n".join(rows(pilot.app))
        await pilot.press("z")
        assert len(screen.lines.arrangement or ()) == lines
        piece = sure(screen.lines.piece)
        assert piece.cell.what is What.FILES


async def test_kept_is_folded_and_shown_again(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        before = len(screen.lines.arrangement or ())
        await pilot.press("z")
        assert len(screen.lines.arrangement or ()) < before
        assert "2 turns, 8 messages" in "\n".join(rows(pilot.app))
        await pilot.press("z")
        assert len(screen.lines.arrangement or ()) == before


async def test_one_kind_alone_and_everything_again(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, explorer, screen):
        await pilot.press("4")
        assert {screen.state.folds.only} == {Link.INJECTED}
        assert "kept hidden" in "\n".join(rows(pilot.app))
        await pilot.press("5")
        assert {screen.state.folds.only} == {Link.INJECTED}
        assert "nothing is dropped here" in screen.view.about.text
        await pilot.press("escape")
        assert {screen.state.folds.only} == {None}
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is explorer)


async def test_lost_facts_are_offered_where_they_were_said_and_pinned_in_the_lab(tmp_path: Path) -> None:
    from leafward_tui.lab.screen import LabScreen

    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await pilot.press("tab", "g")
        for _ in range(12):
            if "lost" in screen.view.about.text:
                break
            await pilot.press("j")
        assert "lost" in screen.view.about.text
        await pilot.press("p")
        await reached(pilot, ChoiceSheet)
        assert "Lost from here" in "\n".join(rows(pilot.app))
        await pilot.press("a")
        lab = await reached(pilot, LabScreen)
        assert len(lab.state.given_pins) == 1
        assert lab.state.entry == 20


async def test_a_fact_is_pinned_as_a_sentence_and_a_command_with_its_outcome(tmp_path: Path) -> None:
    from leafward_tui.lab.screen import LabScreen

    file = Acting(tmp_path / "s.jsonl")
    file.user("Make the worker more patient.")
    file.said("Now the tests run.", call("bash", "c", command="pytest -q tests/unit"))
    file.answered("c", "bash", "1 failed\n\nCommand exited with code 1")
    file.said("The worker tries each job with retryLimit set to five now.", tokens=usage(4_000))
    kept = file.user("what now?")
    file.entry("compaction", summary="## Goal\nPatience.", firstKeptEntryId=kept, tokensBefore=4_000)
    async with seeing(file.path) as (pilot, _, _screen):
        await pilot.press("p")
        await reached(pilot, ChoiceSheet)
        await pilot.press("A")
        lab = await reached(pilot, LabScreen)
        await until(pilot, lambda: lab.state.what_if is not None)
        pins = sure(lab.state.what_if).choices.pins
    assert "The worker tries each job with retryLimit set to five now." in pins
    assert any(pin.startswith("The command `pytest -q tests/unit` ended with ") for pin in pins)


async def test_a_size_before_it_that_no_provider_counted_has_its_sign(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl", twice=True).path) as (pilot, _, screen):
        before = sure(screen.state.loaded.xray).before
        text = [row.strip() for row in rows(pilot.app)]
        assert any(row.startswith("Before") and f" ~{count(before)} " in row for row in text)
        assert any(row.startswith("before") and row.endswith(f" ~{before:,}") for row in text)


async def test_summaries_are_compared(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl", twice=True).path) as (pilot, explorer, _):
        await pilot.press("d")
        screen = await reached(pilot, SummariesScreen)
        await until(pilot, lambda: screen.state.diff is not None)
        await pilot.pause()
        text = "\n".join(rows(pilot.app))
        assert "compaction #20" in text
        assert "the orchard is sold" in text
        assert "Facts only in the later summary" in text
        await pilot.press("n", "z", "enter")
        await until(pilot, lambda: pilot.app.screen is explorer)
        assert explorer.panes.tree.row == sure(explorer.state.exploration).layout.row_of(20)


async def test_of_more_summaries_than_there_are_rows_the_sheet_says_how_many_it_offers(
    tmp_path: Path,
) -> None:
    file = Acting(tmp_path / "s.jsonl")
    for number in range(12):
        file.user(f"question {number}")
        file.said("an answer")
        file.compacted(file.user("go on"), f"## Goal\nWeigh tree {number}.")
    async with seeing(file.path, (80, 16)) as (pilot, _explorer, _):
        await pilot.press("d")
        screen = await reached(pilot, SummariesScreen)
        await until(pilot, lambda: screen.state.diff is not None)
        await pilot.press("d")
        await reached(pilot, ChoiceSheet)
        assert "6 of 11 other summaries" in "\n".join(rows(pilot.app))


async def test_compared_summaries_of_a_session_that_changed_say_where_to_reload_it(tmp_path: Path) -> None:
    file = orchard(tmp_path / "s.jsonl", twice=True)
    async with seeing(file.path) as (pilot, _explorer, xray):
        await pilot.press("d")
        await reached(pilot, SummariesScreen)
        file.user("and now?")
        words = "the session has changed: reload it in the X-ray"
        await until(pilot, lambda: words in "\n".join(rows(pilot.app)))
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is xray)
        await until(pilot, lambda: "session has changed" in rows(pilot.app)[0])


async def test_without_another_summary_there_is_nothing_to_compare(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, _, xray):
        await pilot.press("d")
        await until(pilot, lambda: "no other summary to compare with" in "\n".join(rows(pilot.app)))
        assert pilot.app.screen is xray


async def test_narrow_sides_are_tabs(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path, NARROW) as (pilot, _, screen):
        text = "\n".join(rows(pilot.app))
        assert "Goal" in text
        assert "question 1" not in text
        await pilot.press("tab")
        text = "\n".join(rows(pilot.app))
        assert "question 1" in text
        assert "Critical Context" not in text
        assert "summarised" in text
        assert "replaced" not in text, "one word for what a compaction does, as on the tab and in plans"
        row = next(row for row in rows(pilot.app) if "question 1" in row)
        assert UNICODE.compaction in row
        assert UNICODE.folded not in row, "the sign of a fold means nothing else"
        at = rows(pilot.app)[screen.view.head.region.y].index("After")
        await pilot.click(screen.view.head, offset=(at, 0))
        assert screen.lines.side is Side.AFTER


async def test_a_click_selects_and_two_go_there(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, explorer, screen):
        region = screen.lines.region
        lines = rows(pilot.app)[region.y : region.bottom]
        y = next(at for at, line in enumerate(lines) if "question 1" in line)
        await pilot.click(screen.lines, offset=(12, y))
        assert screen.lines.side is Side.BEFORE
        assert "question 1" in screen.view.about.text
        await pilot.click(screen.lines, offset=(12, y), times=2)
        await until(pilot, lambda: pilot.app.screen is explorer)


@pytest.mark.parametrize("summary", ["", "no heading at all", "\n\n"])
async def test_summaries_with_little_in_them(tmp_path: Path, summary: str) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl", summary).path) as (pilot, _, screen):
        for key in ("tab", "j", "tab", "G", "g", "n", "N", "1", "2", "enter", "z", "y"):
            await pilot.press(key)
        assert screen.state.loaded.xray is not None


async def test_where_nothing_was_compacted_a_line_says_so(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("a question")
    file.said("an answer")
    async with exploring(file.path) as (pilot, explorer):
        await pilot.press("X")
        await until(pilot, lambda: pilot.app.screen is explorer)
        assert "nothing was compacted or edited on the path to here" in "\n".join(rows(pilot.app))
        await pilot.press("3")
        await until(
            pilot,
            lambda: (
                explorer.panes.inspector.page is not None
                and explorer.panes.inspector.page.tab is Tab.COMPACTION
            ),
        )
        assert "No compaction on the path to here." in sure(explorer.panes.inspector.page).text


async def test_the_heads_of_the_ledger_are_whole_words_on_a_narrow_screen(demo: Path) -> None:
    async with exploring(demo, NARROW) as (pilot, _):
        await pilot.press("c")
        lab = await reached(pilot, LabScreen)
        await follow(pilot, lab, "2")
        await pilot.press("X")
        await until(pilot, lambda: any("Ledger" in row for row in rows(pilot.app)))
        head = next(row for row in rows(pilot.app) if "Ledger" in row)
        assert head.split() == [
            "Ledger",
            "system",
            "kept",
            "summarised",
            "injected",
            "dropped",
            "not",
            "in",
            "file",
            "error",
            "total",
        ]


async def test_what_the_foot_said_goes_with_the_next_key(demo: Path) -> None:
    async with exploring(demo, WIDE) as (pilot, _):
        await pilot.press("X")
        await until(pilot, lambda: any("Ledger" in row for row in rows(pilot.app)))
        await pilot.press("N")
        await until(pilot, lambda: any("no other change above" in row for row in rows(pilot.app)))
        await pilot.press("apostrophe")
        await pilot.pause()
        shown = rows(pilot.app)
        assert "' does nothing here" in shown[-1]
        assert not any("no other change above" in row for row in shown)


# --- pictures ---------------------------------------------------------------------------------------------------------


INTO_THE_SUMMARY = ("X", *("j",) * 9)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_xray(snap_compare: Any, demo: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, demo, *INTO_THE_SUMMARY, size=size)


def test_compaction_tab(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, "3")


def test_summaries(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, "X", "d")
