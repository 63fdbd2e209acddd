"""The blame of a file: from the tree and the catalogue, its blocks, what a turn was for, its session opened."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from threading import Event
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.files.line_origins import BY_HAND, UNSURE
from leafward.query.blame import Blame, BlameLine
from leafward_tui.blame.controllers import reading
from leafward_tui.blame.model.blame_text import BlameText
from leafward_tui.blame.screen import BlameScreen
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.tui.explored import NARROW, WIDE, exploring, here
from tests.tui.session_store import HELD, browsing, reached, rested, shown, until
from tests.tui.sure import sure
from tests.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward.query.blame import Author

LONG_AGO = 1_700_000_000


class Grove:
    """A file that two turns of one session wrote, one line of it by hand; the sessions are those of pi."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("LEAFWARD_HOME", str(tmp_path / "leafward"))
        monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "sessions"))
        folder = tmp_path / "sessions" / "grove"
        folder.mkdir(parents=True)
        self.work = tmp_path / "grove"
        agent = Workbench(folder / "grove.jsonl", self.work, 1)
        agent.file.user("Begin with the rows")
        agent.write("rows.py", "def rows(text):\n    return text.split()\n")
        agent.file.user("Count the trees as well")
        agent.file.said("I count them in a function of its own.")
        agent.edit(
            "rows.py",
            "return text.split()",
            "return text.split()\n\n\ndef count(text):\n    return len(rows(text))",
        )
        agent.ran("pytest -q || true")
        agent.file.said("done")
        self.session = agent.file.path
        self.path = self.work / "rows.py"
        self.path.write_text(self.path.read_text() + "# quinces by hand, after all\n")
        for one in (self.session, self.path):
            os.utime(one, (LONG_AGO, LONG_AGO))


@pytest.fixture
def grove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grove:
    return Grove(tmp_path, monkeypatch)


@asynccontextmanager
async def blaming(
    grove: Grove, size: tuple[int, int] = WIDE
) -> AsyncIterator[tuple[Pilot[int], BlameScreen]]:
    """The blame of the file, opened from the second turn of the tree."""
    async with exploring(grove.session, size, Config(follow_interval=60)) as (pilot, _):
        screen = await opened(pilot)
        yield pilot, screen


async def opened(pilot: Pilot[int]) -> BlameScreen:
    """The blame of the file that the second turn wrote, with the reason of its first line."""
    await pilot.press("g", "j", "number_sign")
    screen: BlameScreen = await reached(pilot, BlameScreen)
    await until(pilot, lambda: screen.view.text is not None and bool(screen.state.reasons))
    await pilot.pause()
    return screen


async def test_blocks_of_lines_and_what_their_turn_was_for(grove: Grove) -> None:
    async with blaming(grove) as (pilot, screen):
        text = shown(pilot)
        assert "turn 2" in text
        assert "Begin with the rows" in text
        assert "def count(text):" in text
        assert "  2      return text.split()" in text
        assert sure(screen.view.text).blocks() == [0, 2, 6]
        await pilot.press("n")
        await until(pilot, lambda: "I count them in a function of its own." in shown(pilot))
        assert "checked  " in shown(pilot)
        assert "1 run, " in shown(pilot)
        await pilot.press("n")
        assert screen.view.cursor == 6
        await until(pilot, lambda: "by hand: it is new between two known versions" in shown(pilot))
        await pilot.press("enter")
        assert pilot.app.screen is screen
        assert "no turn is known" in shown(pilot)


async def test_the_session_opens_at_the_turn(grove: Grove) -> None:
    async with blaming(grove) as (pilot, screen):
        await pilot.press("n", "enter")
        explorer = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: explorer.state.exploration is not None)
        await until(pilot, lambda: here(explorer) == "Count")
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_a_search_lights_lines_and_steps_through_them(grove: Grove) -> None:
    async with blaming(grove, NARROW) as (pilot, screen):
        await pilot.press("slash", *"rows(", "enter")
        await until(pilot, lambda: "1 of 2" in shown(pilot))
        await pilot.press("n")
        assert screen.view.cursor == 5
        await pilot.press("escape")
        assert pilot.app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is not screen)


async def test_from_the_catalogue_a_file_is_asked_for(grove: Grove) -> None:
    async with browsing(grove.session.parent) as (pilot, _):
        await pilot.press("number_sign")
        sheet = await reached(pilot, TextSheet)
        sheet.input.value = "rows.py"
        await pilot.press("enter")
        screen = await reached(pilot, BlameScreen)
        await until(pilot, lambda: screen.view.text is not None)
        assert sure(screen.view.text).figures() == [(6, "lines by turns"), (1, "by hand")]


async def test_a_file_that_is_not_there_is_said(grove: Grove) -> None:
    grove.path.unlink()
    async with exploring(grove.session, NARROW) as (pilot, _):
        await pilot.press("g", "j", "number_sign")
        screen = await reached(pilot, BlameScreen)
        await until(pilot, lambda: bool(screen.state.problem))
        await until(pilot, lambda: "No such file" in " ".join(shown(pilot).split()))
        said = "this file is not on this machine; T in the tree shows the turns that touched it"
        assert said in shown(pilot), "an empty screen says what can be done instead"
        await pilot.press("enter")
        await until(pilot, lambda: "open: no lines of this file to show" in shown(pilot))


async def test_a_name_that_no_file_can_have_is_said(tmp_path: Path) -> None:
    agent = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 1)
    agent.file.user("write it")
    agent.write("plain.txt", "pears\n")
    agent.file.said("done")
    agent.file.path.write_bytes(agent.file.path.read_bytes().replace(b"plain.txt", b"plain\\u0000.txt"))
    async with exploring(agent.file.path, NARROW) as (pilot, _):
        await pilot.press("number_sign")
        screen = await reached(pilot, BlameScreen)
        await until(pilot, lambda: "no file can have this name" in screen.state.problem)


async def test_files_of_a_row_that_are_gone_say_so(tmp_path: Path) -> None:
    agent = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 1)
    agent.file.user("write both")
    for name in ("there.txt", "gone.txt"):
        agent.write(name, "pears\n")
    agent.file.said("done")
    (agent.folder / "gone.txt").unlink()
    async with exploring(agent.file.path, NARROW) as (pilot, _):
        await pilot.press("number_sign")
        await reached(pilot, ChoiceSheet)
        sheet = [row.split() for row in shown(pilot).splitlines()]
        assert ["b", "gone.txt", "not", "there", "now"] in sheet
        assert any(row[-1:] == ["there.txt"] for row in sheet)


async def test_the_session_it_is_asked_for_in_counts_wherever_it_lies(
    grove: Grove, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "elsewhere"))
    async with exploring(grove.session, WIDE) as (pilot, _screen):
        await pilot.press("number_sign")
        await reached(pilot, BlameScreen)
        await until(pilot, lambda: "return text.split()" in shown(pilot))
        assert "1 session touched it" in shown(pilot)
        assert "no lines to show" not in shown(pilot)
        assert "no session is known" not in shown(pilot)


def test_no_step_stops_at_an_empty_line_that_is_unsure() -> None:
    lines = [
        BlameLine(at, text, who)
        for at, (text, who) in enumerate((("a = 1", BY_HAND), ("", UNSURE), ("b = 2", BY_HAND)), 1)
    ]
    text = BlameText(Blame("a.py", tuple(lines), (), 1, ()), {})
    assert text.blocks() == [0, 2]
    assert text.figures() == [(2, "by hand"), (1, "unsure (empty)")]


async def test_a_file_that_changes_while_its_lines_are_shown_is_said_to_have_and_is_read_again(
    grove: Grove,
) -> None:
    async with exploring(grove.session, WIDE) as (pilot, _):
        screen = await opened(pilot)
        text = sure(screen.view.text)
        grove.path.write_text(f"# pears\n{grove.path.read_text()}")
        await until(pilot, lambda: "the file has changed" in shown(pilot))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.view.text is not text)
        assert sure(screen.view.text).words(0) == "# pears"
        assert "has changed" not in shown(pilot)


async def test_a_time_that_no_calendar_has_is_shown(grove: Grove) -> None:
    """JavaScript's calendar goes on for hundreds of thousands of years."""
    lines = grove.session.read_text().splitlines()
    late = [json.loads(line) | {"timestamp": "+100000-01-01T00:00:00.000Z"} for line in lines]
    for one in late:
        if "message" in one:
            one["message"]["timestamp"] = 3_000_000_000_000_000
    grove.session.write_text("".join(json.dumps(one) + "\n" for one in late))
    async with blaming(grove) as (pilot, screen):
        assert "def count(text):" in shown(pilot)
        assert pilot.app.screen is screen


async def test_a_search_goes_on_in_the_lines_that_are_read_again(grove: Grove) -> None:
    async with blaming(grove) as (pilot, screen):
        await pilot.press("slash", *"split", "enter")
        await until(pilot, lambda: "1 of 1" in shown(pilot))
        text = sure(screen.view.text)
        grove.path.write_text(f"# pears\n# figs\n{grove.path.read_text()}")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.view.text is not text)
        await pilot.press("n")
        assert sure(screen.view.text).words(screen.view.cursor) == "    return text.split()"


async def test_a_file_that_cannot_be_read_again_leaves_the_lines_that_were_read(grove: Grove) -> None:
    async with blaming(grove) as (pilot, screen):
        grove.path.unlink()
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "not read again: " in shown(pilot))
        assert "def count(text):" in shown(pilot)
        await pilot.press("G", "enter")
        assert "no turn is known" in shown(pilot)
        assert pilot.app.screen is screen


async def test_a_reason_that_comes_after_lines_were_read_again_is_none_of_theirs(
    grove: Grove, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Authors have other numbers then."""
    may_end, asked = Event(), []

    def held(author: Author, _job: object) -> str:
        asked.append(author)
        assert may_end.wait(HELD)
        return "the reason of another turn"

    async with blaming(grove) as (pilot, screen):
        monkeypatch.setattr(reading, "read_reason", held)
        await pilot.press("n")
        await until(pilot, lambda: len(asked) == 1)
        text = sure(screen.view.text)
        grove.path.write_text("# by hand\n" * 4 + grove.path.read_text())
        await pilot.press("ctrl+r")
        await until(pilot, lambda: screen.view.text is not text)
        may_end.set()
        await rested(pilot)
        assert not screen.state.reasons
