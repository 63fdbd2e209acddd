"""Keys that arrive all at once, as pasted or typed within one read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from textual import events
from textual.command import CommandPalette
from textual.keys import _character_to_key

from leafward.base.config import Config
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.log.screen import LogScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.tui.explored import Named, exploring, here
from tests.tui.session_store import reached, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


def at_once(pilot: Pilot[int], *keys: str) -> None:
    """Puts keys into the application's queue without waiting between them; text is taken letter by letter."""
    for key in keys:
        if key.startswith("<"):
            pilot.app.post_message(events.Key(key.strip("<>"), "\r" if key == "<enter>" else None))
            continue
        for character in key:
            name = character if character.isalnum() else _character_to_key(character)
            pilot.app.post_message(events.Key(name, character))


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def typed(pilot: Pilot[int]) -> str | None:
    """Text in the field of the top sheet; None where there is none."""
    sheet = pilot.app.screen
    return sheet.input.value if isinstance(sheet, TextSheet) else None


async def test_all_of_a_search_reaches_its_field(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        at_once(pilot, "/zl prompt")
        await until(pilot, lambda: typed(pilot) == "zl prompt")
        assert here(screen) == "d"


@pytest.mark.parametrize("key", ["/", "%", "r", "l"])
async def test_a_field_that_was_used_before_takes_all_of_what_is_typed_again(file: Named, key: str) -> None:
    """Nothing of it runs as commands, which would name, move or summarise the session."""
    async with exploring(file.path) as (pilot, screen):
        await pilot.press("g")
        for words in ("Ashy", "samuel"):
            at_once(pilot, key + words)
            while not (typed(pilot) or "").endswith(words):
                await until(pilot, lambda: typed(pilot))
            await pilot.press("escape" if key == "%" else "enter")
            await until(pilot, lambda: pilot.app.screen is screen and not screen.state.busy)


async def test_enter_and_what_follows_it_belong_to_the_explorer_again(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        at_once(pilot, "/prompt", "<enter>", "gj")
        await until(pilot, lambda: here(screen) != "d" and pilot.app.screen is screen)
        await until(pilot, lambda: screen.state.search.text == "prompt")
        assert screen.panes.tree.row == 1


async def test_a_label_typed_blindly(file: Named) -> None:
    async with exploring(file.path) as (pilot, _):
        at_once(pilot, "klmjk", "<enter>")
        await until(pilot, lambda: lines(file.path)[-1].get("label") == "mjk")
        assert lines(file.path)[-1]["targetId"] == file.prompts["c"]
        assert isinstance(pilot.app.screen, ExplorerScreen)


async def test_letters_of_a_jump(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        await pilot.press("f")
        code = screen.panes.tree.state.jumps[0]
        await pilot.press("escape")
        at_once(pilot, "f" + code)
        await until(pilot, lambda: screen.panes.tree.row == 0)
        assert not screen.panes.tree.jumping


@pytest.mark.frames
async def test_a_sheet_is_answered_before_it_is_drawn(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        at_once(pilot, "k", "<enter>", "m")
        await until(pilot, lambda: lines(file.path)[-1].get("customType") == "leafward.leaf")
        assert lines(file.path)[-1]["parentId"] == file.ends["c"]
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_pasted_text_goes_to_the_field_that_was_asked_for(file: Named) -> None:
    async with exploring(file.path) as (pilot, _):
        at_once(pilot, "/")
        pilot.app.post_message(events.Paste("b prompt"))
        at_once(pilot, "!")
        await until(pilot, lambda: typed(pilot) == "b prompt!")


async def test_a_letter_that_opens_the_palette_is_text_in_a_field(file: Named) -> None:
    async with exploring(file.path, config=Config(keymap={"app.palette": (":",)})) as (pilot, screen):
        at_once(pilot, "/file:a", "<escape>", ":")
        await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette))
        await pilot.press("colon", "escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        at_once(pilot, "/file:a")
        await until(pilot, lambda: typed(pilot) == "file:a")


async def test_through_screens_and_back(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        at_once(pilot, "oqk", "<enter>")
        await reached(pilot, ChoiceSheet)
        await pilot.press("escape")
        assert here(screen) == "c"
        at_once(pilot, "o")
        await reached(pilot, LogScreen)


async def test_keys_for_a_widget_that_went_away_are_not_lost(
    file: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with exploring(file.path) as (pilot, screen):
        monkeypatch.setattr("leafward_tui.app.type_ahead._PATIENCE", 0.0)
        pilot.app._waits_since = 1e-9  # type: ignore[attr-defined]  # as if an answer never came
        await pilot.press("k")
        await until(pilot, lambda: here(screen) == "c")


async def test_what_is_typed_for_a_field_that_does_not_open_runs_no_commands(file: Named) -> None:
    """A bisect at the leaf only refuses; "gluz" would go up, label and take back."""
    async with exploring(file.path) as (pilot, screen):
        before, row = file.path.read_bytes(), screen.panes.tree.row
        at_once(pilot, "%gluz", "<enter>")
        await pilot.pause()
        await until(pilot, lambda: not screen.state.busy)
        assert pilot.app.screen is screen
        assert (screen.panes.tree.row, file.path.read_bytes()) == (row, before)
        await pilot.press("g")
        assert screen.panes.tree.row == 0
