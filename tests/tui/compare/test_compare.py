"""The Compare screen: keys, tabs, mouse and narrow screens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from leafward_tui.compare.model.content import Show
from leafward_tui.compare.model.files import Column
from leafward_tui.compare.screen import CompareScreen
from leafward_tui.compare.state import Page
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import Acting, call
from tests.tui.compared import HIGH, comparing, parted, settled, tabbed
from tests.tui.explored import NARROW, WIDE, chosen, exploring
from tests.tui.session_store import files_written, reached, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path


async def test_files_beside_each_other_over_the_diff(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        text = shown(pilot)
        for words in (
            "Only on A's path",
            "On both paths",
            "Only on B's path",
            "only read",
            "common ancestor #3",
            "edited in both",
            "+ since the fork",
            "+1 turn",
        ):
            assert words in text
        assert "no line is changed by both: a merge would be clean" in text
        assert sure(screen.state.files.file).path == "src/store.py"
        assert "1 of 2 changes" in screen.view.sentence.text
        await pilot.press("n")
        assert "2 of 2 changes" in screen.view.sentence.text
        await pilot.press("n")
        assert "no other change below" in screen.view.sentence.text


async def test_the_figures_of_a_long_branch_are_whole_in_a_narrow_terminal(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("go")
    file.user("here", fork)
    file.leaf = fork
    for number in range(11_000):
        file.user(f"prompt {number}")
    async with comparing(file.path, NARROW) as (pilot, _, _):
        head = [row for row in rows(pilot.app)[1:6] if " turns" in row or " turn " in row]
        assert ["+1 turn" in row for row in head] == [True, False]
        assert "+11.0k turns" in head[1]
        assert head[0].index(" turn") == head[1].index(" turns"), "in columns"


async def test_columns_files_and_back(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, explorer, screen):
        await pilot.press("left")
        await until(pilot, lambda: settled(screen))
        assert screen.state.files.file is not None
        assert screen.state.files.file.path == "notes/only-a.md"
        await pilot.press("right", "right")
        await until(pilot, lambda: settled(screen))
        assert screen.state.files.file.path == "docs/[/nope].md"
        await pilot.press("enter")
        assert screen.has_class("-contents")
        await pilot.press("escape")
        assert not screen.has_class("-contents")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is explorer)


async def test_a_file_is_rebuilt_once(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        for key in ("left", "right", "left", "right", "enter", "C", "C", "C", "z", "z", "1"):
            await pilot.press(key)
            await until(pilot, lambda: settled(screen))
        assert screen.state.content.rebuilt == 2
        bodies = screen.state.session.scan
        await pilot.press("n", "N", "n")
        assert screen.state.session.scan is bodies


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
        await until(pilot, lambda: len(screen.state.files.same[False]) == 2)
        await pilot.pause()
        lines = sure(screen.view.lists[Column.BOTH].lines)
        assert [line.text.split()[:2] for line in (lines[0], lines[1])] == [
            ["=", "alike.py"],
            ["≠", "other.py"],
        ]
        assert screen.state.content.rebuilt == 1, (
            "the diff of the file under the cursor is made once, and no other"
        )


async def test_the_first_file_that_differs_is_chosen_in_any_column(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said(call("write", name, path=f"{name}.txt", content="x\n"))
        file.answered(name, "write")
    async with comparing(file.path) as (_, _, screen):
        assert screen.files.column is Column.A
        assert sure(screen.state.files.file).path == "a.txt"


async def test_sides_are_swapped(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        ends = screen.state.read.ends
        assert screen.state.read.overall is not None
        assert screen.state.read.overall.named[1].leaf
        await pilot.press("V")
        await until(
            pilot,
            lambda: (
                screen.state.read.overall is not None
                and screen.state.read.carried is not None
                and settled(screen)
            ),
        )
        assert screen.state.read.ends == ends[::-1]
        assert screen.state.read.overall.named[0].leaf
        assert [file.path for file in screen.state.read.overall.sets.only_b] == ["notes/only-a.md"]


async def test_ancestor_then_three_ways_then_both_again(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        seen = []
        for _ in Show:
            await pilot.press("C")
            await until(
                pilot,
                lambda: (
                    screen.state.content.shown is not None
                    and screen.state.content.shown.show is screen.state.content.show
                ),
            )
            seen.append(screen.state.content.show)
        assert seen == [Show.FROM_ANCESTOR, Show.THREE_WAY, Show.SIDES]


async def test_tabs_and_an_entry_to_go_to(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, explorer, screen):
        await pilot.press("tab")
        assert screen.state.page is Page.CONTENTS
        await pilot.press("4")
        assert "none stored: extracted just now" in shown(pilot)
        await pilot.press("5")
        assert "× failed, 1 run" in shown(pilot)
        await pilot.press("3")
        assert "Shared prefix   4 messages" in shown(pilot)
        await pilot.press("G", "enter")
        await until(pilot, lambda: pilot.app.screen is explorer)
        assert explorer.state.exploration is not None
        assert (
            explorer.state.exploration.layout.row_of(len(explorer.state.exploration.session) - 1)
            == explorer.panes.tree.row
        )


async def test_the_diff_is_copied_as_a_patch_tool_reads_it(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, _screen):
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard)
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
        await until(pilot, lambda: bool(files_written(folder)))
        (path,) = files_written(folder)
        assert holds in path.read_text()
        assert path.stat().st_mode & 0o077 == 0


async def test_the_files_of_a_side_are_written_into_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, explorer, _screen):

        async def asked(key: str, folder: str) -> str:
            pilot.app.clear_notifications()
            await chosen(pilot, "e", key)
            sheet = await reached(pilot, TextSheet)
            sheet.input.value = folder
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app._notifications)
            (told,) = [one.message for one in pilot.app._notifications]
            return told

        assert "is not empty" in await asked("f", "full")
        assert "wrote 2 files" in await asked("f", "a")
        assert (tmp_path / "a" / "notes" / "only-a.md").read_text() == "# A\n"
        assert "line two\n" in (tmp_path / "a" / "src" / "store.py").read_text()
        await asked("g", "b")
        assert "line 39, of course\n" in (tmp_path / "b" / "src" / "store.py").read_text()
        await pilot.press("escape")
        await until(pilot, lambda: explorer.is_current)
        await asked("f", "here")
        assert (tmp_path / "here" / "src" / "store.py").read_bytes() == (
            tmp_path / "b" / "src" / "store.py"
        ).read_bytes()


async def test_what_a_patch_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = parted(tmp_path / "s.jsonl")
    for name in ("p", "q", "r", "s"):
        file.said(call("edit", name, path=f"{name}.py", oldText="a", newText="b"))
        file.answered(name, "edit", "ok")
    file.said("B is done")
    async with comparing(file.path) as (pilot, _, _screen):
        await chosen(pilot, "e", "b")
        await until(pilot, lambda: pilot.app._notifications)
        (told,) = [one.message for one in pilot.app._notifications]
        assert told.endswith(": 1 file; left out: p.py, q.py, r.py and 1 more")


async def test_the_mouse_shows_a_file_and_opens_a_tab(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        view = screen.view.lists[Column.A]
        await pilot.click(view, offset=(4, 0))
        await until(pilot, lambda: settled(screen))
        assert sure(screen.state.files.file).path == "notes/only-a.md"
        await pilot.click(screen.view.tabs, offset=(10, 0))
        assert screen.state.page is Page.CONTENTS


@pytest.mark.parametrize("size", [NARROW, WIDE, (100, 30), (60, 16)])
async def test_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        assert screen.view.three_columns is (size == WIDE)
        text = shown(pilot)
        assert "store.py" in text
        assert all(cell_len(row) <= size[0] for row in rows(pilot.app))
        await pilot.press("enter")
        assert "line two" in shown(pilot)
        await pilot.press("3", "4", "5", "1")
        if size != WIDE:
            await pilot.press("G")
            await until(pilot, lambda: settled(screen))
            assert sure(screen.state.files.file).path == "docs/[/nope].md"


async def test_the_screen_follows_a_resize(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await pilot.resize_terminal(*NARROW)
        await until(pilot, lambda: "Only on A's path" in shown(pilot) and not screen.view.three_columns)
        await pilot.resize_terminal(*HIGH)
        await until(pilot, lambda: screen.view.three_columns and "carried over" in shown(pilot).casefold())


async def test_rows_above_a_change_do_not_depend_on_how_often_or_when_it_is_drawn(tmp_path: Path) -> None:
    async with comparing(tabbed(tmp_path / "s.jsonl").path, (80, 60)) as (pilot, _, screen):
        diff = screen.view.diff
        assert diff.max_scroll_y == 0
        diff.styles.max_height = 10
        await until(pilot, lambda: diff.scroll_offset.y == diff.cursor - 3 > 0)
        screen.content.draw()
        await pilot.pause()
        assert diff.scroll_offset.y == diff.cursor - 3
        diff.scroll_to(y=diff.cursor - 1, animate=False)
        screen.content.draw()
        await pilot.pause()
        assert diff.scroll_offset.y == diff.cursor - 1


async def test_the_mark_and_the_cursor_are_compared(tmp_path: Path) -> None:
    async with exploring(parted(tmp_path / "s.jsonl").path) as (pilot, explorer):
        await pilot.press("d")
        assert "nothing to compare" in shown(pilot)
        await pilot.press("m", "{", "j", "d")
        screen = await reached(pilot, CompareScreen)
        await until(pilot, lambda: screen.state.read.overall is not None)
        assert sure(screen.state.read.overall).named[0].mark
        assert screen.state.read.ends[0] == sure(explorer.state.session).place


async def test_all_branches_in_a_table(tmp_path: Path) -> None:
    async with exploring(parted(tmp_path / "s.jsonl").path, HIGH) as (pilot, explorer):
        await pilot.press("D")
        await reached(pilot, ChoiceSheet)
        text = shown(pilot)
        assert "the path and 1 branch" in text
        assert "× test" in text
        await pilot.press("b")
        screen = await reached(pilot, CompareScreen)
        await until(pilot, lambda: screen.state.read is not None)
        assert screen.state.read is not None
        assert screen.state.read.ends[0] == sure(explorer.state.session).place, "as compared from its row"


async def test_the_table_names_branches_and_counts_their_turns_as_the_tree_does(tmp_path: Path) -> None:
    """A branch that others leave is one row of the tree, and was named after the last point where one left it."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    file.user("try it", fork)
    inner = file.said("tried")
    file.user("measure it", inner)
    file.said("measured")
    file.user("measure it again")
    file.said("measured again")
    file.user("drop it", inner)
    file.said("dropped")
    file.user("on the path", fork)
    file.said("done")
    async with exploring(file.path, HIGH) as (pilot, _):
        await pilot.press("D")
        sheet = await reached(pilot, ChoiceSheet)
        found = [(choice.title, choice.effect.split()[2:4]) for choice in sheet.rows.choices]
        assert found == [
            ("the path: on the path", ["2", "turns"]),
            ("drop it", ["1", "turn"]),
            ("try it", ["3", "turns"]),
        ]
        assert "Counted from the branch point, without sub-branches; the path from its start" in shown(pilot)


async def test_a_cost_of_nothing_is_no_unknown_cost(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    file.user("unanswered", fork)
    file.user("on the path", fork)
    file.entry("message", message={"role": "assistant", "content": [], "stopReason": "stop"})
    async with exploring(file.path, HIGH) as (pilot, _):
        await pilot.press("D")
        sheet = await reached(pilot, ChoiceSheet)
        await until(pilot, lambda: [choice.effect.split()[-2] for choice in sheet.rows.choices][1:] == ["$0"])
        assert "test: its last run passed, failed" in shown(pilot)


@pytest.mark.parametrize("size", [(80, 24), (119, 32), (120, 32), (139, 32), (140, 32), (200, 60)])
async def test_no_figure_of_the_table_of_branches_is_cut(tmp_path: Path, size: tuple[int, int]) -> None:
    """At 120 cells the written tokens were cut, and then read as part of the cost."""
    async with exploring(parted(tmp_path / "s.jsonl").path, size) as (pilot, _):
        await pilot.press("D")
        sheet = await reached(pilot, ChoiceSheet)
        await pilot.pause()
        text = shown(pilot)
        for choice in sheet.rows.choices:
            assert choice.effect in text


async def test_branches_that_have_no_row_are_counted_in_good_english(demo: Path) -> None:
    async with exploring(demo, (60, 20)) as (pilot, _):
        await pilot.press("D")
        await reached(pilot, ChoiceSheet)
        assert "not shown: 1 older branch\n" in re.sub(r" +\n", "\n", shown(pilot))


async def test_nothing_differs_and_hostile_names(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    file.user("[/nope] \x1b]0;x\x07 A", fork)
    file.said("\x9b31m A is done")
    file.user("B", fork)
    file.said("B is done")
    async with comparing(file.path) as (pilot, _, screen):
        text = shown(pilot)
        assert "no file was read or changed on either side" in text
        assert "[/nope]" in text
        assert not {"\x1b", "\x07", "\x9b"} & set(text)
        for key in ("j", "n", "enter", "z", "y", "C", "right", "V"):
            await pilot.press(key)
        await until(pilot, lambda: screen.state.read.overall is not None)
        assert screen.is_attached


@pytest.mark.parametrize("tab", ["1", "2"])
async def test_a_key_that_has_no_file_says_so(tmp_path: Path, tab: str) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    fork = file.said("ok")
    for name in ("A", "B"):
        file.user(name, fork)
        file.said(f"{name} is done")
    async with comparing(file.path) as (pilot, _, screen):
        await pilot.press(tab)
        for key, reason in (("enter", "nothing to open"), ("y", "nothing to copy"), ("T", "no file here")):
            await pilot.press(key)
            await until(pilot, lambda reason=reason: reason in shown(pilot))  # type: ignore[misc]  # mypy cannot infer defaults
            assert pilot.app.screen is screen
        assert not pilot.app.clipboard


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


@pytest.mark.parametrize("size", [HIGH, NARROW])
async def test_what_may_differ_is_neither_the_same_nor_different(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with comparing(swept(tmp_path / "s.jsonl").path, size) as (pilot, _, screen):
        await until(pilot, lambda: "a.txt" in screen.state.files.same[False])
        await pilot.pause()
        line = next(line for line in shown(pilot).splitlines() if "a.txt" in line)
        assert "? a.txt" in line
        assert "may differ" in line
        assert "B saw A's edit" in screen.view.sentence.text


async def test_where_there_is_no_file_no_key_for_files_is_shown(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("hello")
    file.said("left", parent=fork)
    file.user("right", fork)
    file.said("it is")
    async with comparing(file.path) as (pilot, _, screen):
        for page in ("1", "2"):
            await pilot.press(page)
            await until(pilot, lambda: "no file was read or changed on either side" in shown(pilot))
            bar = shown(pilot).splitlines()[-1]
            assert "swap" in bar
            assert not any(keys in bar for keys in ("j k", "h l", "n N", "enter"))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: not screen.is_current)


async def test_the_ledger_has_its_total_where_it_is_narrow(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path, NARROW) as (pilot, _, screen):
        await pilot.press("3")
        await until(pilot, lambda: screen.state.read.messages is not None)
        await until(
            pilot, lambda: any(line.rstrip(" ▐").endswith("total") for line in shown(pilot).splitlines())
        )


async def test_a_key_changes_nothing_that_another_tab_shows(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        for page in ("3", "5"):
            await pilot.press(page, "z")
            assert screen.state.content.fold
        await pilot.press("2", "z")
        assert not screen.state.content.fold
