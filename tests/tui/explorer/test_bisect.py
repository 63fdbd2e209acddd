"""Bisecting from the tree: two places, a command, what is found and its label; the project stays as it is."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from shlex import quote
from typing import TYPE_CHECKING

import pytest

from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.folder_contents import contents
from tests.tui.explored import NARROW, exploring, note
from tests.tui.session_store import reached, shown, until, whole_text
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the command is one of a POSIX shell")

CHECK = "test $(grep -c pears rows.py) -ge 2"
LONG_AGO = 1_700_000_000


def orchard(tmp_path: Path) -> Workbench:
    """Five turns that write rows.py; the third loses a row."""
    bench = Workbench(tmp_path / "orchard.jsonl", tmp_path / "work", 1)
    texts = ("pears\npears\n", "pears\npears\nplums\n", "pears\nplums\n", "pears\n", "pears\nquince\n")
    for number, text in enumerate(texts):
        bench.file.user(f"row {number}")
        bench.write("rows.py", text)
        bench.file.said("done")
    os.utime(bench.file.path, (LONG_AGO, LONG_AGO))
    return bench


async def asked(pilot: Pilot[int], command: str = CHECK) -> ReadingSheet:
    """Asks from the second turn down to the leaf."""
    await pilot.press("g", "j", "percent_sign")
    sheet = await reached(pilot, TextSheet)
    sheet.input.value = command
    await pilot.press("enter")
    found: ReadingSheet = await reached(pilot, ReadingSheet)
    return found


async def test_the_turn_is_found_and_labelled(tmp_path: Path) -> None:
    bench = orchard(tmp_path)
    before, lines = contents(bench.folder), bench.file.path.read_text().splitlines()
    async with exploring(bench.file.path) as (pilot, screen):
        sheet = await asked(pilot)
        await until(pilot, lambda: not sheet.running)
        await until(pilot, lambda: "is the first after which" in sheet.text)
        assert "turn 4 (" in sheet.text
        assert "row 2" in sheet.text.splitlines()[0]
        assert "  rows.py" in sheet.text.splitlines()
        assert "the command passes" in sheet.text
        assert "go there and label it" in shown(pilot)
        await pilot.press("enter")
        label = await reached(pilot, TextSheet)
        assert label.input.value == f"first bad: {CHECK}"
        await pilot.press("enter")
        await until(pilot, lambda: "labelled" in note(screen))
    written = bench.file.path.read_text().splitlines()
    assert written[: len(lines)] == lines
    assert json.loads(written[-1])["label"] == f"first bad: {CHECK}"
    assert contents(bench.folder) == before


async def test_without_its_folder_another_base_is_asked_for(tmp_path: Path) -> None:
    """The command runs in a folder of its own: the project's is needed for a base alone."""
    bench = orchard(tmp_path)
    shutil.move(bench.folder, tmp_path / "elsewhere")
    async with exploring(bench.file.path, NARROW) as (pilot, screen):
        await pilot.press("g", "j", "percent_sign")
        field = await reached(pilot, TextSheet)
        assert "base: project folder not found; another one is asked for" in shown(pilot)
        field.input.value = CHECK
        await pilot.press("enter")
        await reached(pilot, ChoiceSheet)
        assert shown(pilot).count("project folder not found") == 2
        await pilot.press("d")
        await until(pilot, lambda: "not possible: project folder not found" in shown(pilot))
        await pilot.press("escape")
        field = await reached(pilot, TextSheet)
        assert field.input.value == CHECK
        await pilot.press("enter")
        await reached(pilot, ChoiceSheet)
        await pilot.press("e")
        result = await whole_text(pilot)
        assert "turn 4 (" in result.text.splitlines()[0]
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
    assert not bench.folder.exists()


async def test_an_end_that_is_not_what_it_should_be_is_said(tmp_path: Path) -> None:
    bench = orchard(tmp_path)
    async with exploring(bench.file.path, NARROW) as (pilot, _screen):
        sheet = await asked(pilot, "true")
        await until(pilot, lambda: not sheet.running)
        await until(pilot, lambda: "the bad end" in shown(pilot))
        assert "the command passes" in shown(pilot)
        assert "go there" not in shown(pilot)


async def test_recorded_commands_may_be_taken_at_their_word(tmp_path: Path) -> None:
    bench = orchard(tmp_path)
    bench.file.user("run it")
    bench.run("python3 -c pass")
    bench.file.user("mend it, in part")
    bench.edit("rows.py", "quince", "quinces")
    async with exploring(bench.file.path) as (pilot, _screen):
        sheet = await asked(pilot, "! grep -q quinces rows.py")
        await until(pilot, lambda: not sheet.running)
        await until(pilot, lambda: "one of these 2 turns is the first after which" in sheet.text)
        assert "`python3` ran after it was last seen" in sheet.text
        assert "s assume commands change only files they name" in shown(pilot)
        await pilot.press("s")
        await until(pilot, lambda: pilot.app.screen is not sheet)
        sheet = await whole_text(pilot)
        assert "mend it, in part" in sheet.text.splitlines()[0]
        assert "if no command changed a file that it does not name" in sheet.text.splitlines()[0]


async def test_it_is_given_up_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    bench = orchard(tmp_path)
    async with exploring(bench.file.path) as (pilot, screen):
        sheet = await asked(pilot, f"touch {quote(str(tmp_path))}/running; sleep 60")
        await until(pilot, (tmp_path / "running").exists)
        assert sheet.running
        assert [path.name.startswith("leafward-bisect-") for path in copies.iterdir()] == [True]
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await until(pilot, lambda: not list(copies.iterdir()))


async def test_the_ends_have_to_lie_on_one_path(tmp_path: Path) -> None:
    bench = orchard(tmp_path)
    async with exploring(bench.file.path) as (pilot, screen):
        await pilot.press("percent_sign")
        await until(
            pilot,
            lambda: "bisect: press % on a turn where the test passes   m mark where it fails" in note(screen),
        )
        await pilot.press("g", "j", "m", "G", "percent_sign")
        sheet = await reached(pilot, TextSheet)
        assert "should pass at" in shown(pilot)
        assert sheet.input.value == ""


async def test_that_the_mark_is_no_end_is_said_whole_in_a_small_terminal(tmp_path: Path) -> None:
    bench = orchard(tmp_path)
    async with exploring(bench.file.path, NARROW) as (pilot, screen):
        await pilot.press("G", "m", "percent_sign")
        await until(
            pilot,
            lambda: "bisect: the mark is not above or below this row   m mark where it fails" in shown(pilot),
        )
        assert screen.app.screen is screen


async def test_an_empty_command_is_asked_for_again(tmp_path: Path) -> None:
    """Else what is typed next would be keys of the tree."""
    bench = orchard(tmp_path)
    before = bench.file.path.read_bytes()
    async with exploring(bench.file.path, NARROW) as (pilot, _screen):
        await pilot.press("g", "j", "percent_sign")
        sheet = await reached(pilot, TextSheet)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is sheet)
        assert "type a command" in shown(pilot)
        await pilot.press("u")
        assert sheet.input.value == "u"
        assert "type a command" not in shown(pilot)
    assert bench.file.path.read_bytes() == before


async def test_the_base_is_chosen_at_the_field_and_at_the_result(tmp_path: Path) -> None:
    """An empty folder: the session made every file."""
    bench = orchard(tmp_path)
    (bench.folder / "others.txt").write_text("not of the session\n")
    async with exploring(bench.file.path, NARROW) as (pilot, _screen):
        await pilot.press("g", "j", "percent_sign")
        sheet = await reached(pilot, TextSheet)
        sheet.input.value = "test ! -e others.txt && " + CHECK
        await pilot.press("ctrl+o")
        await reached(pilot, ChoiceSheet)
        assert "An empty folder" in shown(pilot)
        await pilot.press("e")
        field = await reached(pilot, TextSheet)
        assert field is not sheet
        assert "base: an empty folder" in shown(pilot)
        assert field.input.value.startswith("test ! -e")
        await pilot.press("enter")
        result = await whole_text(pilot)
        await until(pilot, lambda: "turn 4 (" in result.text.splitlines()[0])
        assert "over an empty folder" in shown(pilot)
        await pilot.press("ctrl+o")
        await reached(pilot, ChoiceSheet)
        await pilot.press("p")
        await until(
            pilot, lambda: isinstance(pilot.app.screen, ReadingSheet) and pilot.app.screen is not result
        )
        again = await whole_text(pilot)
        assert "was not bisected" in again.text
        before = again.text
        await pilot.press("ctrl+o")
        await reached(pilot, ChoiceSheet)
        await pilot.press("escape")
        back = await reached(pilot, ReadingSheet)
        await pilot.pause()
        assert back.text == before, "the result stands there again"
        assert not back.running
        await pilot.press("ctrl+o")
        await reached(pilot, ChoiceSheet)
        await pilot.press("e")
        last = await whole_text(pilot)
        assert "turn 4 (" in last.text.splitlines()[0]
        await pilot.press("ctrl+o")
        await reached(pilot, ChoiceSheet)
        await pilot.press("escape")
        await reached(pilot, ReadingSheet)
        await pilot.press("enter")
        label = await reached(pilot, TextSheet)
        assert label.input.value.startswith("first bad: ")


async def test_a_session_that_was_rewritten_while_nobody_looked_is_not_bisected(tmp_path: Path) -> None:
    """Its entries are others now: the calls of other turns would be replayed."""
    bench = orchard(tmp_path)
    async with exploring(bench.file.path) as (pilot, _screen):
        await pilot.press("F")
        text = bench.file.path.read_text()
        bench.file.path.write_text(text.replace("row 0", "the row of number 0"))
        sheet = await asked(pilot)
        await until(pilot, lambda: not sheet.running)
        assert f"`{CHECK}` was not bisected" in sheet.text
        assert "orchard.jsonl was rewritten since it was read: reload it" in shown(pilot)
