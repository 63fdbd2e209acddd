"""A disk that is full: what was not written is said, with the reason, and nothing is lost or left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import call
from tests.disks import filled, small_disk
from tests.tui.explored import WIDE, exploring, forked, note
from tests.tui.session_store import reached, shown, until, whole_text
from tests.untouched import contents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

FULL = "No space left on device"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A session on a disk that is full, whose last page has no room either; the application runs in that folder."""
    with small_disk(tmp_path / "disk", "256k") as disk:
        (disk / "work").mkdir()
        file = forked(disk / "s.jsonl", disk / "work")
        file.said(call("write", "w", path="a.py", content="a = 1\n"))
        file.answered("w", "write")
        left = -file.path.stat().st_size % 4096
        file.said("x" * max(0, left - 600))
        file.said("x" * 4096)
        last = -file.path.stat().st_size % 4096
        with file.path.open("ab") as end:
            end.write(b" " * (last - 1) + b"\n")
        filled(disk)
        monkeypatch.chdir(disk)
        yield file.path


def held(folder: Path) -> dict[str, str]:
    """Contents of each file; a write that was taken back leaves another time."""
    return {name: digest for name, (digest, _) in contents(folder).items()}


def messages(pilot: Pilot[int]) -> str:
    return " ".join(one.message for one in pilot.app._notifications)


async def test_a_label_and_a_summary(session: Path) -> None:
    before = held(session.parent)
    async with exploring(session, WIDE) as (pilot, screen):
        await pilot.press("l")
        sheet = await reached(pilot, TextSheet)
        sheet.input.value = "ready for review"
        await pilot.press("enter")
        await until(pilot, lambda: f"nothing was written to s.jsonl: {FULL}" in note(screen))
        await pilot.press("g", "enter")
        await reached(pilot, ChoiceSheet)
        await pilot.press("s")
        summary = await whole_text(pilot)
        await pilot.press("enter")
        told = f"the summary stays here: nothing was written to s.jsonl: {FULL}"
        await until(pilot, lambda: told in shown(pilot))
        assert isinstance(pilot.app.screen, ReadingSheet)
        assert pilot.app.screen.text == summary.text != ""
    assert held(session.parent) == before


async def test_an_export_and_the_files(session: Path) -> None:
    before = held(session.parent)
    async with exploring(session, WIDE) as (pilot, _screen):
        await pilot.press("e")
        await reached(pilot, ChoiceSheet)
        await pilot.press("m")
        await until(pilot, lambda: f"not exported: {FULL}, nothing was written to" in messages(pilot))
        assert "Errno" not in messages(pilot)
        await pilot.press("e")
        await reached(pilot, ChoiceSheet)
        await pilot.press("f")
        await reached(pilot, TextSheet)
        await pilot.press("enter")
        await until(pilot, lambda: "not written (it cannot be written: No space" in messages(pilot))
    after = held(session.parent)
    assert {name: after[name] for name in before} == before


async def test_a_new_session(session: Path) -> None:
    before = held(session.parent)
    async with exploring(session, WIDE) as (pilot, screen):
        await pilot.press("b")
        await until(pilot, lambda: "New session from here" in shown(pilot))
        await pilot.press("p")
        await until(pilot, lambda: "A new session of" in shown(pilot))
        await pilot.press("w")
        await until(pilot, lambda: f"{FULL}, nothing was written to" in note(screen))
    assert held(session.parent) == before
