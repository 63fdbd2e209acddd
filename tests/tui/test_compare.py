"""The Compare screen: what its panes hold as values, then keys, mouse and narrow screens on the real thing."""

from __future__ import annotations

import shutil
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.config import Config
from leafward.demo import demo_session
from leafward.diff.contents import Contents
from leafward.diff.sides import sides
from leafward.session import Session
from leafward_tui.cells import cell_len
from leafward_tui.compare.content import Show, arranged_content
from leafward_tui.compare.content_lines import ContentLines, content_head, sentence
from leafward_tui.compare.files import FOLD, Column, FileLines, arranged, column_head, listed
from leafward_tui.compare.pages import context_page, outcome_page, spoken
from leafward_tui.compare.telling import Overall, carried_over, overall, side_column
from leafward_tui.exploration import Filter
from leafward_tui.glyphs import ASCII, UNICODE
from leafward_tui.screens.compare import CompareScreen, Page
from leafward_tui.screens.compare.merging import MergeSheet
from leafward_tui.widgets.sheet import ChoiceSheet, TextSheet
from tests.acting import Acting, call, usage
from tests.tui.explored import NARROW, WIDE, chosen, exploring, lines, note, tree
from tests.tui.session_store import rows, until
from tests.tui.test_pictures import INTO_A_BRANCH, picture

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.glyphs import Glyphs
    from leafward_tui.screens.explorer import ExplorerScreen

HIGH = (140, 40)
STORE = "".join(f"line {number}\n" for number in range(1, 41))


def never() -> bool:
    return False


def parted(path: Path) -> Acting:
    """A file is written, then two branches: A edits its begin, B its end; each has a file of its own, and A fails."""
    file = Acting(path)
    file.user("write the store")
    file.said(call("write", "w", path="src/store.py", content=STORE))
    file.answered("w", "write", "ok")
    fork = file.said("written")
    file.user("branch A: the begin", fork)
    file.said(call("edit", "a1", path="src/store.py", oldText="line 2\n", newText="line two\n"))
    file.answered("a1", "edit", "ok", diff="-2 line 2\n+2 line two")
    file.said(call("write", "a2", path="notes/only-a.md", content="# A\n"))
    file.answered("a2", "write", "ok")
    file.said(call("bash", "a3", command="npm test"))
    file.answered("a3", "bash", "1 failed\n\nCommand exited with code 1", failed=True)
    file.said("A is done", tokens=usage(4_000))
    file.user("branch B: the end", fork)
    file.said(call("edit", "b1", path="src/store.py", oldText="line 39\n", newText="line 39, of course\n"))
    file.answered("b1", "edit", "ok", diff="-39 line 39\n+39 line 39, of course")
    file.said(call("read", "b2", path="docs/[/nope].md"))
    file.answered("b2", "read", "\x1b]52;c;AAAA\x07 hostile")
    file.said("B is done", tokens=usage(6_000))
    return file


def compared(path: Path) -> Overall:
    session = Session.open(path)
    a = next(at for at in session.tree.leaves() if at != session.place)
    return overall(sides(session, a, session.place), -1)


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Overall]:
    found = compared(parted(tmp_path / "s.jsonl").path)
    yield found
    found.sides.session.close()


def content(both: Overall, path: str, show: Show = Show.SIDES, **settings: Any) -> Any:
    files = (*both.sets.only_a, *both.sets.both, *both.sets.only_b)
    file = next(file for file in files if file.path == path)
    return arranged_content(Contents(both.sides).of(file), show, **settings)


def widths(lines: Any, most: int) -> set[int]:
    return {cell_len(line.text) for line in lines if cell_len(line.text) > most}


# --- values -----------------------------------------------------------------------------------------------------------


def test_each_file_stands_in_one_column(both: Overall) -> None:
    names = {
        column: [item.file.path for item in arranged(both.sets, column, unfolded=True) if item.file]
        for column in Column
    }
    assert names == {
        Column.A: ["notes/only-a.md"],
        Column.BOTH: ["src/store.py"],
        Column.B: ["docs/[/nope].md"],
    }
    assert sum(item.file is not None for item in listed(both.sets, unfolded=True)) == len(both.sets)


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [24, 33, 70, 140])
def test_lines_fit_their_width(both: Overall, glyphs: Glyphs, width: int) -> None:
    for column in (*Column, None):
        items = arranged(both.sets, column, unfolded=False) if column else listed(both.sets, unfolded=False)
        assert not widths(FileLines(items, max(width, 33), glyphs, column), max(width, 33))
        assert cell_len(column_head(column, both.sets, max(width, 44), glyphs).text) == max(width, 44)
    assert not widths(side_column(both, carried_over(both.sides, never), width, glyphs), width)
    for show in Show:
        laid = content(both, "src/store.py", show)
        assert not widths(ContentLines(laid, max(width, 33), glyphs), max(width, 33))
        assert cell_len(content_head("src/store.py", laid, width, glyphs).text) <= max(width, 20)
    messages = spoken(both.sides.session, both.contexts, never)
    wide = max(width, 84)
    assert not widths(context_page(both, messages, wide, glyphs), wide)
    assert not widths(outcome_page(both, wide, glyphs), wide)


def test_ascii_says_everything_in_ascii(both: Overall) -> None:
    lines = [
        *FileLines(listed(both.sets, unfolded=False), 90, ASCII, None),
        *side_column(both, (), 34, ASCII),
        *ContentLines(content(both, "src/store.py"), 120, ASCII),
        *outcome_page(both, 100, ASCII),
    ]
    assert not [line.text for line in lines if not line.text.isascii()]


def test_side_by_side_every_line_of_both_is_there_once(both: Overall) -> None:
    laid = content(both, "src/store.py", fold=False)
    assert [row.old for row in laid.rows if row.old >= 0] == list(range(40))
    assert [row.new for row in laid.rows if row.new >= 0] == list(range(40))
    assert len(laid.changes) == 2


def test_what_is_the_same_folds_and_opens(both: Overall) -> None:
    laid = content(both, "src/store.py")
    folds = [row for row in laid.rows if row.kind == "fold"]
    assert [row.hidden for row in folds] == [30]
    opened = content(both, "src/store.py", opened={folds[0].block})
    assert len(opened.rows) == len(laid.rows) + 29
    drawn = ContentLines(laid, 120, UNICODE)
    at = next(y for y in range(len(drawn)) if drawn.block(y) >= 0)
    assert "30 lines the same" in drawn[at].text


def test_below_each_other_lines_that_went_come_first(both: Overall) -> None:
    drawn = ContentLines(content(both, "src/store.py"), 60, UNICODE)
    at = drawn.changes()[0]
    assert [drawn[at].text.split()[1:3], drawn[at + 1].text.split()[1:3]] == [["−", "line"], ["+", "line"]]
    assert drawn[at].text.rstrip().endswith("line two")
    assert {span.ground for span in drawn[at].spans} == {"ghost_tint"}
    assert {span.ground for span in drawn[at + 1].spans} == {"leaf_tint"}


class Unsearched(list[int]):
    """Numbers that nobody looks through: of many changes each would be looked through for each line."""

    def __contains__(self, _one: object) -> bool:
        raise AssertionError("looked through")


def test_lines_below_each_other_do_not_look_through_all_changes(both: Overall) -> None:
    laid = content(both, "src/store.py")
    laid.changes = Unsearched(laid.changes)
    assert len(ContentLines(laid, 60, UNICODE)) > 0


def test_words_that_differ_stand_out(both: Overall) -> None:
    drawn = ContentLines(content(both, "src/store.py"), 120, UNICODE)
    spans = drawn[drawn.changes()[1]].spans
    assert "".join(span.text for span in spans if span.ink == "strong_leaf") == " + , of course"


def test_three_ways_each_region_has_the_letter_of_who_changed_it(both: Overall) -> None:
    laid = content(both, "src/store.py", Show.THREE_WAY)
    drawn = ContentLines(laid, 140, UNICODE)
    assert [drawn[at].text[0] for at in drawn.changes()] == ["A", "B"]
    assert "2 changes" in sentence(drawn, 0, 120, "…").text
    assert "merge would be clean" in sentence(drawn, 0, 120, "…").text
    from_ancestor = content(both, "src/store.py", Show.FROM_ANCESTOR)
    assert len(from_ancestor.changes) == 1
    assert "ancestor 40 lines" in content_head("src/store.py", from_ancestor, 120, UNICODE).text


def test_what_is_not_known_is_named(both: Overall) -> None:
    laid = content(both, "docs/[/nope].md")
    text = "\n".join(line.text for line in ContentLines(laid, 100, UNICODE))
    assert "never read as a whole" in text or "hostile" in text
    assert not {"\x1b", "\x07"} & set(text)


def test_a_file_that_one_side_has_is_all_its_lines(both: Overall) -> None:
    laid = content(both, "notes/only-a.md")
    assert laid.difference.base.certainty.value in ("unknown", "absent")
    drawn = ContentLines(laid, 100, UNICODE)
    assert "# A" in "\n".join(line.text for line in drawn)


def test_binary_is_said_and_not_drawn(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said(call("write", name, path="data.bin", content=f"{name}\0\x01"))
        file.answered(name, "write", "ok")
    found = compared(file.path)
    text = "\n".join(line.text for line in ContentLines(content(found, "data.bin"), 100, UNICODE))
    assert text == "A: binary, 3 bytes\nB: binary, 3 bytes"
    found.sides.session.close()


def unlike(path: Path) -> Acting:
    """Files whose branches differ in what is not seen, a name that is gone, one that is huge, and one that is another now."""
    file = Acting(path)
    file.user("write them")
    for name in ("ends", "last", "gone", "old"):
        file.said(call("write", name, path=f"{name}.txt", content="one\r\ntwo\r\n"))
        file.answered(name, "write", "ok")
    fork = file.said("written")
    file.user("A", fork)
    for name, made in (("ends", "one\ntwo\n"), ("last", "one\r\ntwo"), ("huge", "a\n" * 3_000_000)):
        file.said(call("write", f"a-{name}", path=f"{name}.txt", content=made))
        file.answered(f"a-{name}", "write", "ok")
    file.said(call("bash", "m", command="rm gone.txt && mv old.txt new.txt"))
    file.answered("m", "bash", "")
    file.said("A is done")
    file.user("B", fork)
    for name, made in (("huge", "b\n" * 3_000_000), ("tail", "".join(f"{number}\n" for number in range(14)))):
        file.said(call("write", f"b-{name}", path=f"{name}.txt", content=made))
        file.answered(f"b-{name}", "write", "ok")
    for name in ("gone", "old"):
        file.said(call("edit", f"b-{name}", path=f"{name}.txt", oldText="two", newText="three"))
        file.answered(f"b-{name}", "edit", "ok")
    file.said("B is done")
    return file


def test_what_differs_is_told_where_it_is_not_seen(tmp_path: Path) -> None:
    both = compared(unlike(tmp_path / "s.jsonl").path)

    def told(path: str, width: int = 120) -> str:
        return "\n".join(line.text.rstrip() for line in ContentLines(content(both, path), width, UNICODE))

    assert told("ends.txt").count("CRLF") == 2
    assert "CRLF" not in told("gone.txt")
    assert told("last.txt").count("no newline") == 1
    assert told("huge.txt").startswith("huge, 12,000,000 characters")
    known = told("tail.txt")
    assert "2 more lines are known" in known
    assert "12   11" in known
    files = {item.file.path: item for item in listed(both.sets, unfolded=True) if item.file}
    lines = {path: FileLines([item], 100, UNICODE, Column.BOTH)[0].text for path, item in files.items()}
    assert "gone in A  edited in both" in lines["gone.txt"]
    assert "moved in A" in lines["old.txt"]
    assert "+3000k" not in lines["huge.txt"]
    assert "+3.0M" in lines["huge.txt"]
    both.sides.session.close()


def test_words_are_looked_for_when_a_row_is_drawn(both: Overall) -> None:
    laid = content(both, "src/store.py")
    assert not laid.words
    changed = next(line for line in ContentLines(laid, 120, UNICODE) if "two" in line.text)
    assert any(span.ink.startswith("strong_") and span.text == "two" for span in changed.spans)
    assert laid.words


def test_one_above_the_other_and_the_same_entry(both: Overall) -> None:
    session = both.sides.session
    place = session.place
    above = int(session.tree.path(place)[1])
    assert overall(sides(session, above, place), -1).plain == "A lies above B: only B went on"
    assert overall(sides(session, place, above), -1).plain == "B lies above A: only A went on"
    assert overall(sides(session, place, place), -1).plain == "A and B are the same entry"
    assert both.plain == ""


def test_the_messages_of_both_contexts_are_all_there(both: Overall) -> None:
    messages = spoken(both.sides.session, both.contexts, never)
    in_a = sum(one.tokens for one in messages if one.letter != "B")
    assert in_a == sum(one.tokens for one in both.contexts.a.messages)
    assert [one.letter for one in messages[:4]] == ["", "", "", ""]


def test_the_outcome_says_checks_and_errors(both: Overall) -> None:
    text = "\n".join(line.text for line in outcome_page(both, 100, UNICODE))
    assert "× failed, 1 run" in text
    assert "not run" in text
    assert "A is done" in text
    side = "\n".join(line.text for line in side_column(both, (), 34, UNICODE))
    assert "× test failed" in side
    assert "nothing was" in side


def test_errors_are_told_where_there_is_no_room_for_the_cost(both: Overall) -> None:
    text = "\n".join(line.text for line in side_column(both, (), 30, UNICODE))
    assert "test failed  1 error" in text


def test_the_outcome_says_what_was_stopped_and_how_often_a_check_failed(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    file.said("A", parent=fork)
    file.user("B", fork)
    for name, failed in (("one", True), ("two", False)):
        file.said(call("bash", name, command="npm test"))
        file.answered(name, "bash", "Command exited with code 1" if failed else "ok", failed=failed)
    file.said("never mi", stop="aborted")
    both = compared(file.path)
    told = {
        line.text.split()[0]: line.text.split()
        for line in outcome_page(both, 90, UNICODE)
        if line.text.strip()
    }
    assert told["aborted"][1:] == ["·", "1"]
    assert " ".join(told["test"]).endswith("ok, 2 runs, 1 failed")
    both.sides.session.close()


def test_a_summary_of_one_side_on_the_other_is_found(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    file.user("branch A", fork)
    left = file.said("A is done")
    carried = file.entry("branch_summary", fork, summary="## Goal\nA was tried", fromId=left)
    file.user("branch B", carried)
    file.said("B is done")
    found = compared(file.path)
    (one,) = carried_over(found.sides, never)
    assert (one.holder, one.stands_for) == ("B", 2)
    text = "\n".join(line.text for line in side_column(found, (one,), 34, UNICODE))
    assert "summary of A in B, 2 entries" in text
    found.sides.session.close()


# --- on the screen ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def comparing(
    path: Path, size: tuple[int, int] = HIGH, config: Config | None = None
) -> AsyncIterator[tuple[Pilot[int], ExplorerScreen, CompareScreen]]:
    """The first of the other leaves compared with the leaf, all of it worked out."""
    async with exploring(path, size, config) as (pilot, explorer):
        session = explorer.session
        assert session is not None
        a = next(at for at in session.tree.leaves() if at != session.place)
        explorer.open_compare(a, session.place)
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: screen.carried is not None and settled(screen))
        await pilot.pause()
        yield pilot, explorer, screen


def settled(screen: CompareScreen) -> bool:
    """Whether the diff shows the file under the cursor."""
    wanted = screen.wanted()
    return wanted is None or (screen.shown is not None and screen.shown.difference.path == wanted.path)


def text_of(pilot: Pilot[int]) -> str:
    return "\n".join(rows(pilot.app))


async def test_files_beside_each_other_over_the_diff(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        text = text_of(pilot)
        for words in (
            "Only in A",
            "In both",
            "Only in B",
            "read only here",
            "common ancestor #3",
            "edited in both",
        ):
            assert words in text
        assert "no line is changed by both: a merge would be clean" in text
        assert screen.file is not None
        assert screen.file.path == "src/store.py"
        assert "1 of 2 changes" in screen.sentence.text
        await pilot.press("n")
        assert "2 of 2 changes" in screen.sentence.text
        await pilot.press("n")
        assert "no other change below" in screen.sentence.text


async def test_columns_files_and_back(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, explorer, screen):
        await pilot.press("h")
        await until(pilot, lambda: settled(screen))
        assert screen.file is not None
        assert screen.file.path == "notes/only-a.md"
        await pilot.press("l", "l")
        await until(pilot, lambda: settled(screen))
        assert screen.file.path == "docs/[/nope].md"
        await pilot.press("enter")
        assert screen.has_class("-contents")
        await pilot.press("escape")
        assert not screen.has_class("-contents")
        await pilot.press("escape")
        await pilot.pause()
        assert pilot.app.screen is explorer


async def test_a_file_is_rebuilt_once(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        for key in ("h", "l", "h", "l", "enter", "a", "a", "a", "z", "z", "1"):
            await pilot.press(key)
            await until(pilot, lambda: settled(screen))
        assert screen.rebuilt == 2
        bodies = screen.session.scan
        await pilot.press("n", "N", "n")
        assert screen.session.scan is bodies


async def test_files_that_are_alike_get_the_sign_of_that(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("write both")
    for branch, text in (("a", "one\n"), ("b", "two\n")):
        file.leaf = fork
        for name in ("alike.py", "other.py"):
            content = "same\n" if name == "alike.py" else text
            file.said(call("write", branch + name, path=name, content=content))
            file.answered(branch + name, "write", "ok")
        file.said("done")
    async with comparing(file.path) as (pilot, _, screen):
        await until(pilot, lambda: len(screen.same[False]) == 2)
        await pilot.pause()
        lines = screen.lists[Column.BOTH].lines
        assert lines is not None
        assert [line.text.split()[:2] for line in (lines[0], lines[1])] == [
            ["=", "alike.py"],
            ["≠", "other.py"],
        ]
        assert screen.rebuilt == 1, "the diff of the file under the cursor is made once, and no other"


async def test_sides_are_swapped(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        ends = screen.ends
        assert screen.overall is not None
        assert screen.overall.named[1].leaf
        await pilot.press("x")
        await until(
            pilot, lambda: screen.overall is not None and screen.carried is not None and settled(screen)
        )
        assert screen.ends == ends[::-1]
        assert screen.overall.named[0].leaf
        assert [file.path for file in screen.overall.sets.only_b] == ["notes/only-a.md"]


async def test_ancestor_then_three_ways_then_both_again(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        seen = []
        for _ in Show:
            await pilot.press("a")
            await until(pilot, lambda: screen.shown is not None and screen.shown.show is screen.show)
            seen.append(screen.show)
        assert seen == [Show.FROM_ANCESTOR, Show.THREE_WAY, Show.SIDES]


async def test_tabs_and_an_entry_to_go_to(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, explorer, screen):
        await pilot.press("tab")
        assert screen.page is Page.CONTENTS
        await pilot.press("4")
        assert "made on the spot, extractive" in text_of(pilot)
        await pilot.press("5")
        assert "× failed, 1 run" in text_of(pilot)
        await pilot.press("3")
        assert "Shared prefix   4 messages" in text_of(pilot)
        await pilot.press("G", "enter")
        await pilot.pause()
        assert pilot.app.screen is explorer
        assert explorer.exploration is not None
        assert explorer.exploration.layout.row_of(len(explorer.exploration.session) - 1) == explorer.graph.row


async def test_the_diff_is_copied_as_a_patch_tool_reads_it(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, _screen):
        await pilot.press("y")
        assert "-line two\n+line 2\n" in pilot.app.clipboard
        assert pilot.app.clipboard.startswith("@@ -1,5 +1,5 @@\n")


@pytest.mark.parametrize(
    ("key", "holds"), [("m", "## Outcome"), ("h", "<!DOCTYPE html>"), ("a", "+line two\n")]
)
async def test_the_comparison_is_written_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, holds: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.chdir(folder)
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, _screen):
        await chosen(pilot, "e", key)
        await until(pilot, lambda: any(path.stat().st_size for path in folder.iterdir()))
        (path,) = folder.iterdir()
        assert holds in path.read_text()
        assert path.stat().st_mode & 0o077 == 0


async def test_the_mouse_shows_a_file_and_opens_a_tab(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        view = screen.lists[Column.A]
        await pilot.click(view, offset=(4, 0))
        await until(pilot, lambda: settled(screen))
        assert screen.file is not None
        assert screen.file.path == "notes/only-a.md"
        await pilot.click(screen.tabs, offset=(10, 0))
        assert screen.page is Page.CONTENTS


@pytest.mark.parametrize("size", [NARROW, WIDE, (100, 30), (60, 16)])
async def test_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        assert screen.three_columns is (size == WIDE)
        text = text_of(pilot)
        assert "store.py" in text
        assert all(cell_len(row) <= size[0] for row in rows(pilot.app))
        await pilot.press("enter")
        assert "line two" in text_of(pilot)
        await pilot.press("3", "4", "5", "1")
        if size != WIDE:
            await pilot.press("G")
            await until(pilot, lambda: settled(screen))
            assert screen.file is not None
            assert screen.file.path == "docs/[/nope].md"


async def test_the_screen_follows_a_resize(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await pilot.resize_terminal(*NARROW)
        await until(pilot, lambda: "Only in A" in text_of(pilot) and not screen.three_columns)
        await pilot.resize_terminal(*HIGH)
        await until(pilot, lambda: screen.three_columns and "carried over" in text_of(pilot).casefold())


async def test_the_mark_and_the_cursor_are_compared(tmp_path: Path) -> None:
    async with exploring(parted(tmp_path / "s.jsonl").path) as (pilot, explorer):
        await pilot.press("d")
        assert "nothing to compare it with" in text_of(pilot)
        await pilot.press("m", "{", "j", "d")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: screen.overall is not None)
        assert screen.overall is not None
        assert screen.overall.named[0].mark
        assert explorer.session is not None
        assert screen.ends[0] == explorer.session.place


async def test_nothing_differs_and_hostile_names(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    file.user("[/nope] \x1b]0;x\x07 A", fork)
    file.said("\x9b31m A is done")
    file.user("B", fork)
    file.said("B is done")
    async with comparing(file.path) as (pilot, _, screen):
        text = text_of(pilot)
        assert "no file was read or changed on either side" in text
        assert "[/nope]" in text
        assert not {"\x1b", "\x07", "\x9b"} & set(text)
        for key in ("j", "n", "enter", "z", "y", "a", "l", "x"):
            await pilot.press(key)
        await until(pilot, lambda: screen.overall is not None)
        assert screen.is_attached


def test_the_pair_of_the_real_session(corpora: Path) -> None:
    session = Session.open(corpora / "pi" / "branched.jsonl")
    with closing(session):
        found = overall(sides(session, session.find("#571"), session.find("#677")), session.find("#571"))
        assert (found.sides.ancestor, found.named[0].mark, found.named[1].leaf) == (503, True, True)
        assert FOLD in {item.key for item in arranged(found.sets, Column.BOTH, unfolded=False)}
        text = "\n".join(
            line.text
            for line in FileLines(arranged(found.sets, Column.BOTH, unfolded=False), 70, UNICODE, Column.BOTH)
        )
        assert "edited in both" in text


def test_the_branches_of_the_demo_have_all_states() -> None:
    with demo_session() as path, closing(Session.open(path)) as session:
        a = next(iter(session.tree.leaves()))
        found = overall(sides(session, a, session.place), -1)
        merges = set()
        contents = Contents(found.sides)
        for file in (*found.sets.only_a, *found.sets.both, *found.sets.only_b):
            laid = arranged_content(contents.of(file))
            merges.add(laid.difference.merge.value)
            assert len(ContentLines(laid, 120, UNICODE)) > 0
        assert {"conflict", "one side", "unknown"} <= merges


def swept(path: Path) -> Acting:
    """Both read a file; then B runs a command that may have changed it and does not name it, and changes another after A did."""
    file = Acting(path)
    file.user("read it")
    file.said(call("read", "r1", path="a.txt"), call("read", "r2", path="b.txt"))
    file.answered("r1", "read", "one\ntwo\n")
    file.answered("r2", "read", "one\ntwo\n")
    fork = file.said("read")
    for name in ("a", "b"):
        file.user(name, fork)
        file.said(call("edit", name, path="b.txt", oldText="one", newText=name))
        file.answered(name, "edit", "ok")
        file.said(f"{name} is done")
    file.said(call("bash", "s", command="git stash"))
    file.answered("s", "bash", "Saved working directory and index state WIP")
    file.said("put aside")
    return file


async def test_where_there_is_no_file_no_key_for_files_is_shown(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("hello")
    file.said("left", parent=fork)
    file.user("right", fork)
    file.said("it is")
    async with comparing(file.path) as (pilot, _, screen):
        for page in ("1", "2"):
            await pilot.press(page)
            await pilot.pause()
            assert "no file was read or changed on either side" in text_of(pilot)
            bar = text_of(pilot).splitlines()[-1]
            assert "swap" in bar
            assert not any(keys in bar for keys in ("j k", "h l", "n N", "enter"))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: not screen.is_current)


@pytest.mark.parametrize("size", [HIGH, NARROW])
async def test_what_may_differ_is_neither_the_same_nor_different(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with comparing(swept(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        await until(pilot, lambda: "a.txt" in screen.same[False])
        await pilot.pause()
        line = next(line for line in text_of(pilot).splitlines() if "a.txt" in line)
        assert "? a.txt" in line
        assert "may differ" in line
        assert "stale in B" in screen.sentence.text


# --- from here to the tree, and what is written ------------------------------------------------------------------------


async def test_the_rows_that_touch_a_file(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, explorer, _screen):
        await pilot.press("T")
        await until(
            pilot, lambda: explorer.exploration is not None and explorer.exploration.filter is Filter.CHOSEN
        )
        assert explorer.exploration is not None
        assert list(explorer.exploration.chosen) == [1, 5, 13]
        assert "src/store.py: 2 edits, 1 write" in note(explorer)
        await pilot.press("escape")
        assert explorer.exploration.filter is Filter.CONVERSATION


async def test_turns_of_the_other_side_are_grafted(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with comparing(file.path) as (pilot, explorer, screen):
        before = len(screen.session)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
        assert "Graft the turns of A" in text_of(pilot)
        assert "is on the path already" in text_of(pilot)
        await pilot.press("a")
        await until(pilot, lambda: len(screen.session) > before and not explorer.writing)
        assert pilot.app.screen is explorer
        assert "grafted 8 entries of A" in note(explorer)
        await pilot.press("u")
        await until(pilot, lambda: "undone" in note(explorer) or "undo" in note(explorer))


async def test_summaries_are_merged_as_in_a_merge_tool(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with comparing(file.path) as (pilot, explorer, screen):
        before = len(screen.session)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, MergeSheet))
        sheet = pilot.app.screen
        assert isinstance(sheet, MergeSheet)
        conflicts = len(sheet.draft.conflicts)
        assert conflicts > 0
        await pilot.press("ctrl+s")
        assert sheet.is_current
        assert f"{conflicts} left to decide" in text_of(pilot)
        await pilot.press("a", *"b" * (conflicts - 1))
        assert "append 1 branch summary below the leaf" in text_of(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(screen.session) > before and not explorer.writing)
        assert "appended the merged summary" in note(explorer)
        stored = lines(file.path)[-1]
        assert stored["type"] == "branch_summary"
        assert "branch A: the begin" in stored["summary"]


async def test_a_row_is_edited_for_the_model(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with exploring(file.path) as (pilot, explorer):
        before = len(lines(file.path))
        await pilot.press("E")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
        assert "frees" in text_of(pilot)
        await pilot.press("o")
        await until(pilot, lambda: len(lines(file.path)) > before and not explorer.writing)
        assert "left out for the model" in note(explorer)
        assert {line["type"] for line in lines(file.path)[before:]} == {"context_edit"}


async def test_rows_are_chosen_by_a_query(tmp_path: Path) -> None:
    async with exploring(parted(tmp_path / "s.jsonl").path) as (pilot, explorer):
        await chosen(pilot, "ampersand", "y")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextSheet))
        await pilot.press(*"tool(")
        wrong = text_of(pilot)
        assert "shows the rows" not in wrong
        await pilot.press(*"bash)", "enter")
        await until(pilot, lambda: "showing" in note(explorer))
        assert explorer.exploration is not None
        assert explorer.exploration.filter is Filter.CHOSEN
        assert "branch A" in text_of(pilot)
        assert "branch B" not in "\n".join(tree(explorer))


async def test_all_branches_in_a_table(tmp_path: Path) -> None:
    async with exploring(parted(tmp_path / "s.jsonl").path, HIGH) as (pilot, _):
        await pilot.press("D")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
        text = text_of(pilot)
        assert "the path and 1 branch" in text
        assert "× test" in text
        await pilot.press("b")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))


# --- pictures ---------------------------------------------------------------------------------------------------------

COMPARED = (*INTO_A_BRANCH, "m", "at", "d")
"""The last turn of a branch marked, then the leaf."""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    path = tmp_path / "demo.jsonl"
    with demo_session() as bundled:
        shutil.copyfile(bundled, path)
    return path


def test_picture(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *COMPARED, size=HIGH)


def test_picture_narrow_and_ascii(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *COMPARED, size=NARROW, config=Config(ascii=True))
