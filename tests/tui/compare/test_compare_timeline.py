"""Rows of the tree that a comparison or a query chose: what touches a file, and what each does to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.files.file_replay.timeline import timeline
from leafward_tui.explorer.model.exploration import Exploration, Filter
from leafward_tui.explorer.model.file_markers import summed, touches_by_row
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import Acting, call, reading
from tests.tui.compared import comparing, parted
from tests.tui.explored import chosen, exploring, note, tree
from tests.tui.session_store import reached, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.ui.appearance.glyphs import Glyphs


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
        assert explorer.state.session is not None
        explorer.controllers.filter.show_timeline("a.txt")
        await until(pilot, lambda: "1 rename" in note(explorer))
        drawn = [row for row in tree(explorer) if row.strip()]
        assert [row[1] for row in drawn[:6]] == ["R", "×", "E", "N", "D", "W"]
        assert "edit failed" in drawn[1]
        assert "timeline of a file" in shown(pilot)
        await pilot.press("escape")
        assert sure(explorer.state.exploration).filter is Filter.CONVERSATION
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
        sheet = await reached(pilot, ChoiceSheet)
        assert "this row touches no file; those before it:" in shown(pilot)
        await pilot.press(next(one.key for one in sheet.rows.choices if one.title == "d.txt"))
        await until(pilot, lambda: "d.txt: 1 write" in note(explorer))
        await pilot.press("T")
        sheet = await reached(pilot, ChoiceSheet)
        assert [choice.title for choice in sheet.rows.choices] == ["d.txt", "c.txt"]
        await pilot.press("b")
        await until(pilot, lambda: pilot.app.screen is explorer and "c.txt: 1 read" in note(explorer))
        await pilot.press("escape", "g", "T")
        await until(pilot, lambda: "1 rename" in note(explorer))


async def test_the_timeline_of_the_file_under_the_cursor_of_the_tab_files(tmp_path: Path) -> None:
    async with exploring(acted(tmp_path / "s.jsonl").path) as (pilot, explorer):
        await pilot.press("4", "tab")
        await until(pilot, lambda: explorer.panes.inspector.file == "a.txt")
        assert not explorer.panes.in_tree
        assert "timeline" in rows(pilot.app)[-1]
        await pilot.press("j")
        assert explorer.panes.inspector.file == "b.txt"
        await pilot.press("T")
        await until(pilot, lambda: "b.txt: " in note(explorer))
        await pilot.press("escape")
        # In the tree its own row counts.
        explorer.panes.show_tree()
        assert explorer.panes.inspector.file == ""


async def test_in_one_pane_the_timeline_leads_from_a_tab_to_the_tree(tmp_path: Path) -> None:
    async with exploring(acted(tmp_path / "s.jsonl").path, size=(80, 24)) as (pilot, explorer):
        await pilot.press("g", "3")
        await until(pilot, lambda: not explorer.panes.in_tree)
        await pilot.press("T")
        await until(pilot, lambda: explorer.panes.in_tree)
        assert sure(explorer.state.exploration).filter is Filter.CHOSEN
        assert any("edit failed" in row for row in tree(explorer))


async def test_a_file_beyond_the_letters_is_chosen_by_a_part_of_its_name(tmp_path: Path) -> None:
    file = acted(tmp_path / "s.jsonl")
    file.user("many files")
    names = [f"f{number:02}.txt" for number in range(16)]
    file.said(*(call("read", name, path=name) for name in names))
    for name in names:
        file.answered(name, "read")
    async with exploring(file.path) as (pilot, explorer):
        await pilot.press("T")
        sheet = await reached(pilot, ChoiceSheet)
        assert [choice.title for choice in sheet.rows.choices[-2:]] == ["f12.txt", "3 more files"]
        await pilot.press("p")
        field = await reached(pilot, TextSheet)
        assert field.operation() == "16 of 16 files"
        await pilot.press(*"F1")
        await until(pilot, lambda: field.operation() == "6 of 16 files")
        await pilot.press("enter")
        sheet = await reached(pilot, ChoiceSheet)
        assert [choice.title for choice in sheet.rows.choices] == names[10:]
        await pilot.press("escape", "T")
        await reached(pilot, ChoiceSheet)
        await pilot.press("p")
        field = await reached(pilot, TextSheet)
        await pilot.press(*"15")
        assert field.operation() == "f15.txt"
        await pilot.press("enter")
        await until(pilot, lambda: "f15.txt: 1 read" in note(explorer))


async def test_the_rows_that_touch_a_file(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, explorer, _screen):
        await pilot.press("T")
        await until(
            pilot,
            lambda: (
                explorer.state.exploration is not None and explorer.state.exploration.filter is Filter.CHOSEN
            ),
        )
        assert explorer.state.exploration is not None
        assert list(explorer.state.exploration.chosen) == [1, 5, 13]
        assert "src/store.py: 2 edits, 1 write" in note(explorer)
        await pilot.press("escape")
        assert explorer.state.exploration.filter is Filter.CONVERSATION


async def test_rows_are_chosen_by_a_query(tmp_path: Path) -> None:
    async with exploring(parted(tmp_path / "s.jsonl").path) as (pilot, explorer):
        await chosen(pilot, "ampersand", "y")
        await reached(pilot, TextSheet)
        await pilot.press(*"tool(")
        wrong = shown(pilot)
        assert "shows the rows" not in wrong
        await pilot.press(*"bash)", "enter")
        await until(pilot, lambda: "showing" in note(explorer))
        assert sure(explorer.state.exploration).filter is Filter.CHOSEN
        assert "branch A" in shown(pilot)
        assert "branch B" not in "\n".join(tree(explorer))
