"""The row over the keys of the lab: what lasts is said again once what the key before did was said."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import LeafwardError
from leafward_tui.lab.controllers import path as path_reader
from leafward_tui.lab.controllers import prompt, summarizer
from leafward_tui.lab.screen import LabScreen
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.tui.considered import considering, said, working
from tests.tui.session_store import HELD, reached, until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return working(tmp_path / "session.jsonl").path


async def test_why_there_is_nothing_to_plan_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(*_rest: object) -> None:
        raise LeafwardError("the disk is gone")

    monkeypatch.setattr(path_reader, "measured", failed)
    async with considering(path) as (pilot, screen):
        assert said(screen) == "! the disk is gone"
        for key in ("j", "S", "f7"):
            await pilot.press(key)
            await until(pilot, lambda: said(screen) == "! the disk is gone")


async def test_a_name_that_is_looked_up_stays_until_it_is_found(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Event()

    def slow(*_rest: object) -> str:
        gate.wait(HELD)
        return "no such model"

    monkeypatch.setattr(summarizer, "model_problem", slow)
    async with considering(path) as (pilot, screen):
        await pilot.press("W", "o")
        await reached(pilot, TextSheet)
        await pilot.press(*"acme", "enter")
        await reached(pilot, LabScreen)
        for key in ("j", "f7"):
            await pilot.press(key)
            await until(pilot, lambda: said(screen) == "looking up acme")
        gate.set()
        await reached(pilot, TextSheet)
        await pilot.press("escape")
        await reached(pilot, LabScreen)
        assert said(screen) == ""


async def test_a_prompt_that_is_read_stays_until_it_is_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Event()

    def slow(*_rest: object) -> None:
        gate.wait(HELD)
        raise LeafwardError("the span cannot be read")

    monkeypatch.setattr(prompt, "outgoing", slow)
    async with considering(path) as (pilot, screen):
        screen.controllers.summarizer.summarize_by("acme/one")
        screen.controllers.request.run()
        for key in ("j", "f7"):
            await pilot.press(key)
            await until(pilot, lambda: said(screen) == "reading what would be sent to acme/one")
        gate.set()
        await until(pilot, lambda: said(screen) == "! the span cannot be read")
        await pilot.press("j")
        await until(pilot, lambda: said(screen) == "")
