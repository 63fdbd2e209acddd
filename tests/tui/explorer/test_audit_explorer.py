"""Sheets and modals close once; a folded branch shows where a move to it would go; a file that goes away is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from leafward.base.safe_text import safe
from leafward_tui.explorer.controllers.cursor_details import selection
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from leafward_tui.ui.sheets.theme_choice import ThemesScreen
from tests.acting import call
from tests.tui.explored import Named, exploring, note
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_second_enter_behind_the_first_writes_nothing_and_closes_nothing_else(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        await pilot.press("l")
        sheet = await reached(pilot, TextSheet)
        field = sheet.query_one(Input)
        field.value = "here"
        for _ in range(3):
            sheet.post_message(Input.Submitted(field, "here"))
        await until(pilot, lambda: pilot.app.screen is screen)
        await until(pilot, lambda: not screen.state.busy and "here" in file.path.read_text())
        await until(pilot, lambda: pilot.app.screen is screen)
    labels = [line for line in map(json.loads, file.path.read_text().splitlines()) if line["type"] == "label"]
    assert len(labels) == 1


@pytest.mark.parametrize(("key", "kind"), [("ampersand", ChoiceSheet), ("t", ThemesScreen)])
async def test_a_click_beside_it_leaves_the_explorer_open(
    file: Named, key: str, kind: type[ChoiceSheet | ThemesScreen]
) -> None:
    async with exploring(file.path) as (pilot, screen):
        await pilot.press(key)
        await reached(pilot, kind)
        await pilot.click(offset=(1, 1))
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.pause()
        assert isinstance(pilot.app.screen, ExplorerScreen)
        assert pilot.app.is_running


async def test_a_folded_branch_shows_what_a_move_to_it_enters(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        exploration = sure(screen.state.exploration)
        await pilot.press("g")
        while (
            screen.panes.tree.line is not None and screen.panes.tree.line.kind is not LineKind.FOLDED_BRANCH
        ):
            before = screen.panes.tree.line
            if exploration.layout.branch_of(before.row):
                await pilot.press("z")
            else:
                await pilot.press("j")
            assert screen.panes.tree.line is not None
        line = sure(screen.panes.tree.line)
        shown = selection(exploration, line)
        assert shown.at == exploration.target(line)
        assert len(shown) > len(exploration.layout.entries_of(line.row)[0])


async def test_a_file_that_goes_away_is_told_once_and_stays_readable(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        content = file.path.read_bytes()
        file.path.unlink()
        await until(pilot, lambda: "gone" in note(screen))
        await pilot.press("g", "4")
        assert sure(screen.state.session).body(0) is not None
        file.path.write_bytes(content)
        await until(pilot, lambda: "replaced" in note(screen))


async def test_no_text_of_a_session_reaches_the_screen_unchanged_where_a_terminal_would_act_on_it(
    tmp_path: Path,
) -> None:
    acted_on = "a\x1b[31mb\x9bc\u202ed\u2066e\u200bf\x07[bold]g[/]"
    file = Named(tmp_path / "session.jsonl")
    file.user(acted_on)
    target = file.said(acted_on, call("bash", acted_on, command=acted_on), call(acted_on, "x", path=acted_on))
    file.answered(acted_on, "bash", acted_on, failed=True)
    file.entry("label", targetId=target, label=acted_on)
    file.entry("session_info", name=acted_on)
    file.entry("compaction", summary=acted_on, firstKeptEntryId=target, tokensBefore=5)
    file.entry("branch_summary", summary=acted_on, fromId=acted_on)
    file.entry("custom_message", customType=acted_on, content=acted_on, display=True)
    file.entry("model_change", provider=acted_on, modelId=acted_on)
    file.entry(acted_on)
    file.raw(acted_on)
    async with exploring(file.path) as (pilot, screen):
        for key in ("v", "k", "k", "k", "2", "3", "4", "1", "v", "g", "Z", "2", "3", "4", "o"):
            await pilot.press(key)
            await pilot.pause()
            text = "\n".join(rows(screen.app))
            assert safe(text) == text, key
            assert "[bold]g[/]" in text or "bold" not in text
