"""A session whose every string is hostile, in the application: no sheet, row or note passes it on, and no copy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from textual.events import Paste

from leafward.base.config import Config
from leafward.base.safe_text import safe
from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
from leafward_tui.ui.sheets.sheet import SheetLine, TextSheet
from tests.acting import call
from tests.cli.test_hostile_fields import ACTS, HOSTILE, SESSIONS
from tests.tui.considered import considering
from tests.tui.explored import NARROW, Named, exploring
from tests.tui.session_store import app_over, browsing, rested, rows, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import App

pytestmark = pytest.mark.skipif(os.name != "posix", reason="file names that other systems do not take")

KEYS = ["", "m", "b", "e", "r", "l", "s", "E", "y", "L", "?", "2", "3", "4", "5", "/"]
"""Each alone, in a new application: what it opens is looked at whole."""


def passed_on(app: App[int]) -> list[str]:
    said = [*rows(app), *(one.message for one in app._notifications), app.clipboard]
    return [line for line in said if ACTS.search(line.replace("\n", ""))]


@pytest.mark.parametrize("key", KEYS)
async def test_nothing_that_a_key_opens_passes_it_on(tmp_path: Path, key: str) -> None:
    path = SESSIONS["pi"](tmp_path)
    async with exploring(path) as (pilot, screen):
        if key:
            await pilot.press(key)
            await rested(pilot)
            await pilot.pause()
        assert passed_on(pilot.app) == []
        assert screen.state.session is not None


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
async def test_nor_does_the_tree_of_another_agent(tmp_path: Path, agent: str) -> None:
    async with exploring(SESSIONS[agent](tmp_path)) as (pilot, _screen):
        assert passed_on(pilot.app) == []


async def test_nor_does_the_name_of_a_changed_file(tmp_path: Path) -> None:
    """Below a narrow tree, and in the second line of a comfortable row."""
    file = Named(tmp_path / "session.jsonl")
    file.turn("a")
    file.said(call("edit", "e", path="src/\x1b]52;c;cm0=\x07\u202equince.py", oldText="a\n", newText="b\n"))
    file.answered("e", "edit", "ok", diff="-1 a\n+1 b")
    async with exploring(file.path, NARROW, Config(density="comfortable")) as (pilot, screen):
        await until(pilot, lambda: len([row for row in rows(pilot.app) if "quince" in row]) == 2)
        assert passed_on(pilot.app) == []
        assert [ACTS.search(note) for note in screen.state.texts.notes.values()] == [None]


async def test_nor_does_the_name_of_a_file_that_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b]52;c;cm0=\x07\u202equince.jsonl"
    path.write_text("garbage\n")
    app = app_over(path)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: any("is not a session" in row for row in rows(app)))
        assert "quince" in rows(app)[0]
        assert passed_on(app) == []


async def test_every_part_of_a_sheet_is_made_safe(tmp_path: Path) -> None:
    choice = Choice("a", HOSTILE, HOSTILE, HOSTILE)
    refused = Choice("c", HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    about = [SheetLine(HOSTILE, lines=3)]
    async with exploring(SESSIONS["claude"](tmp_path)) as (pilot, _screen):
        for sheet in (
            ChoiceSheet(HOSTILE, [choice, refused], about, note=HOSTILE),
            TextSheet(HOSTILE, HOSTILE, about, note=HOSTILE, operation_of=lambda text: text),
        ):
            pilot.app.push_screen(sheet)
            await until(pilot, lambda shown=sheet: pilot.app.screen is shown)  # type: ignore[misc]
            await until(pilot, lambda: passed_on(pilot.app) == [])
            await pilot.press("escape")
            await pilot.pause()


async def test_what_is_pasted_into_a_field_is_made_safe(tmp_path: Path) -> None:
    async with exploring(SESSIONS["claude"](tmp_path)) as (pilot, _screen):
        sheet = TextSheet("name", "")
        pilot.app.push_screen(sheet)
        await until(pilot, lambda: pilot.app.screen is sheet)
        pilot.app.post_message(Paste("a\x1b[31mb\u202e"))
        await until(pilot, lambda: sheet.input.value == safe("a\x1b[31mb\u202e"))
        assert passed_on(pilot.app) == []


async def test_what_is_pasted_into_a_filter_is_made_safe(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.press("slash")
        pilot.app.post_message(Paste("a\x1b[31m\x9b31mb"))
        await until(pilot, lambda: screen.state.list.view.text == safe("a\x1b[31m\x9b31mb"))
        assert passed_on(pilot.app) == []


async def test_what_is_pasted_into_a_summary_is_made_safe(path: Path) -> None:
    async with considering(path) as (pilot, screen):
        await pilot.press("E")
        pilot.app.post_message(Paste("- one\n- two\x1b]52;c;cm0=\x07"))
        await until(pilot, lambda: "- one\n- two␛]52;c;cm0=␇" in screen.state.edit.text)
        assert passed_on(pilot.app) == []


async def test_a_prompt_that_is_copied_is_made_safe(tmp_path: Path) -> None:
    async with exploring(SESSIONS["claude"](tmp_path)) as (pilot, screen):
        screen.services.copy(HOSTILE)
        assert pilot.app.clipboard == safe(HOSTILE)
        pilot.app.copy_to_clipboard(HOSTILE)
        assert pilot.app.clipboard == safe(HOSTILE)
