"""What one does in a comparison besides looking: search, a base, pins, single turns grafted, the timeline of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.style import Style

from leafward.diff.contents import Contents
from leafward.entries import EntryIndex, Kind
from leafward.rebuilding import timeline
from leafward_tui.compare.content import Show, arranged_content, rests_on
from leafward_tui.compare.content_lines import ContentLines
from leafward_tui.compare.files import Column
from leafward_tui.compare.grafts import graft_turns, turn_lines, validation
from leafward_tui.exploration import Exploration, Filter
from leafward_tui.glyphs import ASCII, UNICODE
from leafward_tui.hits import parted as lit_parts
from leafward_tui.hits import spans_of
from leafward_tui.screens.compare import Page
from leafward_tui.screens.compare.grafting import GraftSheet
from leafward_tui.touches import summed, touches_by_row
from leafward_tui.widgets.reading_sheet import ReadingSheet
from leafward_tui.widgets.sheet import ChoiceSheet, TextSheet
from tests.acting import Acting, call, reading
from tests.pi_file import HEADER
from tests.tui.explored import NARROW, chosen, exploring, lines, note, tree
from tests.tui.session_store import rows, until
from tests.tui.test_compare import HIGH, compared, comparing, parted, settled, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.glyphs import Glyphs
    from leafward_tui.screens.compare import CompareScreen

TABBED = "".join(f"\tline {number} of it\n" for number in range(1, 60))


def tabbed(path: Path) -> Acting:
    """A file of lines that begin with a tab; each branch edits another line of it."""
    file = Acting(path)
    file.user("write it")
    file.said(call("write", "w", path="a.go", content=TABBED))
    file.answered("w", "write", "ok")
    fork = file.said("written")
    for name, number in (("a", 5), ("b", 50)):
        file.user(f"{name} prompt", fork)
        old = f"line {number} of it"
        file.said(call("edit", name, path="a.go", oldText=old, newText=f"line {number} of mine"))
        file.answered(name, "edit", "ok")
        file.said(f"{name} is done")
    return file


def based(path: Path, folder: Path) -> Acting:
    """Both branches edit a file that nobody read; what lies in the folder fits."""
    file = Acting(path, {**HEADER, "cwd": str(folder)})
    file.user("begin")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said(call("edit", name, path="a.txt", oldText=f"{name} was", newText=f"{name} is"))
        file.answered(name, "edit", "ok")
        file.said("done")
    return file


async def searched(pilot: Pilot[int], screen: CompareScreen, words: str, hits: int) -> None:
    await pilot.press("slash")
    await until(pilot, lambda: isinstance(pilot.app.screen, TextSheet))
    await pilot.press(*("space" if letter == " " else letter for letter in words), "enter")
    await until(pilot, lambda: len(screen.hits) == hits)
    await pilot.pause()


# --- search -----------------------------------------------------------------------------------------------------------


async def test_paths_are_found_in_all_columns(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await searched(pilot, screen, "o", 3)
        seen = set()
        for _ in range(3):
            assert screen.file is not None
            seen.add(screen.file.path)
            await pilot.press("n")
            await until(pilot, lambda: settled(screen))
        assert seen == {"notes/only-a.md", "src/store.py", "docs/[/nope].md"}
        assert "of 3" in text_of(pilot)
        await pilot.press("escape")
        assert screen.searched == ""
        assert screen.is_current


@pytest.mark.parametrize("size", [HIGH, NARROW])
async def test_a_hit_is_seen_above_the_sheet_while_one_types(tmp_path: Path, size: tuple[int, int]) -> None:
    async with comparing(tabbed(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        await pilot.press("2", "slash")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextSheet))
        for words in ("line 59", "line 50", "line 3"):
            await pilot.press("ctrl+u", *("space" if letter == " " else letter for letter in words))
            await until(pilot, lambda words=words: screen.searched == words and screen.hits)  # type: ignore[misc]  # mypy cannot infer defaults
            await pilot.pause()
            assert screen.diff.line is not None
            assert words in screen.diff.line.text
            free = size[1] - pilot.app.screen.query_one("Vertical").size.height
            line = screen.diff.region.y + screen.diff.cursor - screen.diff.scroll_offset.y
            assert screen.diff.region.y <= line < free
        await pilot.press("enter")
        await until(pilot, lambda: screen.is_current)
        await pilot.pause()
        await pilot.press("G")
        await pilot.pause()
        assert screen.diff.scroll_offset.y + screen.diff.size.height <= len(screen.diff.lines or ())


@pytest.mark.parametrize("size", [HIGH, NARROW])
async def test_a_hit_in_a_fold_is_unfolded_and_folded_again(tmp_path: Path, size: tuple[int, int]) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        await pilot.press("2")
        before = len(screen.diff.lines or ())
        await searched(pilot, screen, "line 20", 1)
        assert "20" in (screen.diff.line.text if screen.diff.line is not None else "")
        assert len(screen.diff.lines or ()) > before
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.diff.lines or ()) == before)
        assert screen.page is Page.CONTENTS
        await pilot.press("n")
        assert "change" in screen.sentence.text


async def test_the_line_stays_where_a_fold_is_opened(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await pilot.press("2", "G", "k", "k", "k")
        lines_before = screen.diff.lines
        assert isinstance(lines_before, ContentLines)
        spot = lines_before.spot(screen.diff.cursor)
        await pilot.press("z")
        await until(pilot, lambda: screen.diff.lines is not lines_before)
        assert isinstance(screen.diff.lines, ContentLines)
        assert screen.diff.lines.spot(screen.diff.cursor) == spot
        await pilot.press("z")
        await until(pilot, lambda: len(screen.diff.lines or ()) == len(lines_before))
        assert screen.diff.lines.spot(screen.diff.cursor) == spot


async def test_messages_figures_and_summaries_are_searched(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await pilot.press("3")
        await searched(pilot, screen, "a is done", 1)
        assert "A is done" in (screen.lines.line.text if screen.lines.line is not None else "")
        await pilot.press("5")
        await until(pilot, lambda: len(screen.hits) == 1)
        await pilot.press("4")
        await until(pilot, lambda: all(0 <= hit < len(screen.summary.lines) for hit in screen.hits))
        await pilot.press("escape")
        assert not screen.hits


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
        await until(pilot, lambda: isinstance(pilot.app.screen, ReadingSheet))
        await pilot.pause()
        told = "\n".join(rows(pilot.app))
        assert "B 30" in told
        assert "end" in told
        assert "\x1b" not in told
        await pilot.press("escape")
        await until(pilot, lambda: screen.is_current)
        await pilot.press("escape", "4")
        await until(pilot, lambda: screen.summary.line is not None)
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReadingSheet))


async def test_a_key_changes_nothing_that_another_tab_shows(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        for page in ("3", "5"):
            await pilot.press(page, "z")
            assert screen.fold
        await pilot.press("2", "z")
        assert not screen.fold


async def test_the_ledger_has_its_total_where_it_is_narrow(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path, NARROW) as (pilot, _, screen):
        await pilot.press("3")
        await until(pilot, lambda: screen.messages is not None)
        await pilot.pause()
        assert any(line.rstrip(" ▐").endswith("total") for line in text_of(pilot).splitlines())


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


# --- words that differ ------------------------------------------------------------------------------------------------


def test_words_stand_out_behind_tabs_and_three_ways(tmp_path: Path) -> None:
    both = compared(tabbed(tmp_path / "s.jsonl").path)
    difference = Contents(both.sides).of(both.sets.both[0])
    drawn = ContentLines(arranged_content(difference), 120, UNICODE)
    strong = [
        [span.text for span in drawn[at].spans if span.ink.startswith("strong_") and span.text.strip(" +−")]
        for at in drawn.changes()
    ]
    assert strong == [["mine", "it"], ["it", "mine"]]
    three = ContentLines(arranged_content(difference, Show.THREE_WAY), 140, UNICODE)
    strong = [
        [span.text for span in three[at].spans if span.ink.startswith("strong_") and len(span.text) > 2]
        for at in three.changes()
    ]
    assert strong == [["mine"], ["mine"]]
    both.sides.session.close()


def test_a_file_that_is_the_same_is_shown_and_not_folded(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    file.said(call("write", "w", path="same.txt", content=TABBED))
    file.answered("w", "write")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said(call("write", name, path=f"{name}.txt", content="x\n"))
        file.answered(name, "write")
    both = compared(file.path)
    same = next(one for one in both.sets.both if one.path == "same.txt")
    laid = arranged_content(Contents(both.sides).of(same))
    assert {row.kind for row in laid.rows} == {"same"}
    both.sides.session.close()


async def test_the_first_file_that_differs_is_chosen_in_any_column(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said(call("write", name, path=f"{name}.txt", content="x\n"))
        file.answered(name, "write")
    async with comparing(file.path) as (_, _, screen):
        assert screen.column is Column.A
        assert screen.file is not None
        assert screen.file.path == "a.txt"


# --- a base -----------------------------------------------------------------------------------------------------------


async def test_files_rest_on_the_workspace_when_asked(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("a was\nmiddle\nb was\n")
    async with comparing(based(tmp_path / "s.jsonl", folder).path) as (pilot, _, screen):
        assert screen.shown is not None
        assert not screen.shown.difference.exact
        await pilot.press("b")
        await until(pilot, lambda: screen.shown is not None and screen.shown.based)
        assert screen.shown.difference.a.text == "a is\nmiddle\nb was\n"
        assert "rests on the file on disk, 1 edit later" in text_of(pilot)
        assert "base: disk and git" in text_of(pilot)
        assert pilot.app.recall("compare-base") is True  # type: ignore[attr-defined]  # the application is a Shell
        await pilot.press("b")
        await until(pilot, lambda: screen.shown is not None and not screen.shown.based)
        assert screen.rebuilt == 2
        assert (folder / "a.txt").read_text() == "a was\nmiddle\nb was\n"
        await pilot.press("b")
    async with comparing(tmp_path / "s.jsonl") as (_, _, screen):
        assert screen.based
        assert screen.shown is not None
        assert screen.shown.difference.exact


async def test_where_the_folder_is_gone_there_is_no_base(tmp_path: Path) -> None:
    async with comparing(based(tmp_path / "s.jsonl", tmp_path / "gone").path) as (pilot, _, screen):
        await pilot.press("b")
        assert not screen.based
        assert "the folder of this session is not there" in screen.sentence.text


async def test_that_nothing_in_the_workspace_fits_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("something else\n")
    both = compared(based(tmp_path / "s.jsonl", folder).path)
    difference = Contents(both.sides).of(both.sets.both[0])
    assert "nothing in the workspace fits" in rests_on(difference.a, based=True)
    assert "workspace" not in rests_on(difference.a)
    both.sides.session.close()


# --- the timeline -----------------------------------------------------------------------------------------------------


def acted(path: Path) -> Acting:
    """One row reads, one edits and fails, one renames, one deletes, one writes what nobody answered."""
    file = Acting(path)
    rows = (
        ("reads", call("read", "1", path="a.txt"), False),
        ("fails", call("edit", "2", path="a.txt", oldText="x", newText="y\nz"), True),
        ("edits", call("edit", "3", path="a.txt", oldText="x", newText="y\nz"), False),
        ("renames", call("bash", "4", command="mv a.txt b.txt"), False),
        ("deletes", call("bash", "5", command="rm b.txt"), False),
    )
    for name, made, failed in rows:
        file.user(name)
        file.said(made)
        file.answered(made["id"], made["name"], "it went so", failed=failed)
    file.user("writes")
    file.said(call("write", "6", path="b.txt", content="new\n"))
    return file


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_each_row_says_what_it_does_to_the_file(tmp_path: Path, glyphs: Glyphs) -> None:
    with reading(acted(tmp_path / "s.jsonl").path) as session:
        steps = timeline(session, "a.txt")
        touches = touches_by_row(steps, Exploration(session).layout, glyphs)
        assert [touch.sign for touch in touches.values()] == ["R", glyphs.error, "E", "N", "D", "W"]
        words = [touch.words for touch in touches.values()]
        assert words[1] == "edit failed"
        assert words[2] == f"edit +2 {glyphs.minus}1"
        assert words[3:5] == ["rename", "delete"]
        assert words[5].endswith(", no result")
        assert summed(steps) == "1 read, 1 edit, 1 write, 1 rename, 1 delete, 1 failed"


async def test_the_timeline_stands_on_the_tree(tmp_path: Path) -> None:
    file = acted(tmp_path / "s.jsonl")
    async with exploring(file.path) as (pilot, explorer):
        assert explorer.session is not None
        explorer.choose_touching(explorer.generation, explorer.session, "a.txt")
        await until(pilot, lambda: "1 rename" in note(explorer))
        drawn = [row for row in tree(explorer) if row.strip()]
        assert [row[1] for row in drawn[:6]] == ["R", "×", "E", "N", "D", "W"]
        assert "edit failed" in drawn[1]
        assert "timeline of a file" in text_of(pilot)
        await pilot.press("escape")
        assert explorer.exploration is not None
        assert explorer.exploration.filter is Filter.CONVERSATION
        assert not any("edit failed" in row for row in tree(explorer))


async def test_the_timeline_of_a_file_of_a_row(tmp_path: Path) -> None:
    file = acted(tmp_path / "s.jsonl")
    file.user("two files")
    file.said(call("read", "7", path="c.txt"), call("write", "8", path="d.txt", content="x"))
    file.answered("7", "read")
    file.answered("8", "write")
    file.user("none")
    async with exploring(file.path) as (pilot, explorer):
        await pilot.press("T")
        await until(pilot, lambda: "touches no file" in note(explorer))
        await pilot.press("k", "T")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
        sheet = pilot.app.screen
        assert isinstance(sheet, ChoiceSheet)
        assert [choice.title for choice in sheet.rows.choices] == ["d.txt", "c.txt"]
        await pilot.press("b")
        await until(pilot, lambda: "c.txt: 1 read" in note(explorer))
        await pilot.press("escape", "g", "T")
        await until(pilot, lambda: "1 rename" in note(explorer))


async def test_the_timeline_of_a_file_that_the_tab_files_shows(tmp_path: Path) -> None:
    async with exploring(acted(tmp_path / "s.jsonl").path) as (pilot, explorer):
        await pilot.press("4", "tab")
        await pilot.pause()
        assert not explorer.in_tree
        assert "timeline" in rows(pilot.app)[-1]
        await pilot.press("T")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
        sheet = pilot.app.screen
        assert isinstance(sheet, ChoiceSheet)
        assert [choice.title for choice in sheet.rows.choices] == ["a.txt", "b.txt"]


# --- carried over -----------------------------------------------------------------------------------------------------


async def test_a_fact_is_pinned_below_the_leaf(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with comparing(file.path) as (pilot, explorer, screen):
        await until(pilot, lambda: screen.summaries is not None)
        before = len(screen.session)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
        sheet = pilot.app.screen
        assert isinstance(sheet, ChoiceSheet)
        fact = sheet.rows.choices[0].title
        await pilot.press("a")
        await until(pilot, lambda: len(screen.session) > before and not explorer.writing)
        assert "pinned 1 fact" in note(explorer)
        stored = lines(file.path)[-1]
        assert (stored["type"], stored["summary"]) == ("branch_summary", f"## Critical Context\n- {fact}")
        assert len(lines(file.path)) == before + 2


def test_turns_to_graft_are_those_of_the_branch(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    both = compared(file.path)
    session = both.sides.session
    turns = graft_turns(session, both.sides.a.entries)
    assert [turn.words for turn in turns] == ["branch A: the begin"]
    assert [at for turn in turns for at in turn.entries] == list(both.sides.a.entries)
    for glyphs in (UNICODE, ASCII):
        (line,) = turn_lines(turns, {0}, 40, glyphs)
        assert line.text.startswith(f"[{glyphs.ok}] branch A")
    assert validation("it does not fit", 40, ASCII)[0].text == "x it does not fit"
    session.close()


async def test_single_turns_are_grafted_after_a_look(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    file.leaf = next(line["id"] for line in lines(file.path) if "A is done" in str(line))
    file.user("branch A: more")
    file.said("more of A")
    last = next(line["id"] for line in lines(file.path) if "B is done" in str(line))
    file.user("on with B", last)
    file.said("B goes on")
    async with comparing(file.path) as (pilot, explorer, screen):
        before = len(lines(file.path))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
        assert "B is on the path already" in text_of(pilot)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, GraftSheet))
        sheet = pilot.app.screen
        assert isinstance(sheet, GraftSheet)
        assert len(sheet.turns) == 2
        assert "branch A: the begin" in "\n".join(rows(pilot.app)[:6])  # the comparison is seen behind it
        await pilot.press("ctrl+s")
        assert sheet.is_current
        await pilot.press("space")
        await until(pilot, lambda: sheet.ready is not None)
        assert "src/store.py: these turns relied on another version of it" in text_of(pilot)
        await pilot.press("k", "space", "j", "space")
        await until(pilot, lambda: sheet.chosen == {1} and sheet.ready is not None)
        assert "everything fits there" in text_of(pilot)
        assert "append 3 lines" in text_of(pilot)
        assert len(lines(file.path)) == before
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(lines(file.path)) > before and not explorer.writing)
        assert "grafted 2 entries of A" in note(explorer)
        assert len(lines(file.path)) == before + 3
        assert explorer.session is not None
        kinds = [explorer.session.columns.kind[at] for at in range(before - 1, before + 1)]
        assert kinds == [Kind.USER, Kind.ASSISTANT]
        assert screen.ends


# --- context edits seen through ---------------------------------------------------------------------------------------


def test_what_edits_concern_is_never_folded(tmp_path: Path) -> None:
    from leafward.carrying import ContextEdit, apply_edits, draft_edits
    from leafward.compaction.xray import xray_edited
    from leafward_tui.xray.arrangement import Arrangement, Side

    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    for number in range(40):
        file.said(f"reply {number} " * 20)
    with reading(file.path) as session:
        edits = [ContextEdit(EntryIndex(at), keep=None if at % 2 else 5) for at in range(10, 30)]
        apply_edits(session, draft_edits(session, edits))
        xray = xray_edited(session, len(session) - 1)
        laid = Arrangement(xray)
        concerned = [row for row, one in enumerate(xray.rows) if one.cut or one.after is None]
        assert len(concerned) == 20
        assert not any(laid.fold_over(Side.BEFORE, row) for row in concerned)
        stops, at = [], -1
        while (following := laid.change(Side.BEFORE, at, 1)) != at:
            stops.append(following)
            at = following
        assert stops == sorted(laid.lines_of(Side.BEFORE, concerned))


async def test_context_edits_are_seen_through_and_undone(tmp_path: Path) -> None:
    from leafward_tui.screens.xray import XRayScreen

    file = parted(tmp_path / "s.jsonl")
    async with exploring(file.path, HIGH) as (pilot, explorer):
        before = len(lines(file.path))
        await chosen(pilot, "E", "o")
        await until(pilot, lambda: len(lines(file.path)) > before and not explorer.writing)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(pilot.app.screen, XRayScreen))
        screen = pilot.app.screen
        assert isinstance(screen, XRayScreen)
        await until(pilot, lambda: screen.xray is not None and screen.undo_op)
        text = text_of(pilot)
        assert "left out" in text
        assert "tokens freed" in text
        assert "undo edits" in text
        assert "context edit ≠" in text
        await pilot.press("u")
        await until(pilot, lambda: pilot.app.screen is explorer and not explorer.writing)
        await until(pilot, lambda: "undone" in note(explorer))
