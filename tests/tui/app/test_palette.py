from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from textual.command import CommandList, CommandPalette

from leafward_tui.app.command_palette import working_intents
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.keys.intents import INTENTS
from leafward_tui.ui.panes.line_scroll import SlimBar
from leafward_tui.ui.sheets.key_help import HelpScreen
from tests.tui.explored import WIDE
from tests.tui.session_store import SessionFile, app_over, browsing, listed, reached, rows, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


async def options(pilot: Pilot[int]) -> list[str]:
    """The titles in the open palette; it gathers them in a task of its own."""
    palette = pilot.app.screen
    assert isinstance(palette, CommandPalette)
    found = palette.query_one(CommandList)
    await until(pilot, lambda: found.option_count)
    await pilot.pause()
    return [str(option.prompt).split("  ", maxsplit=1)[0].strip() for option in found.options]


async def test_the_palette_lists_what_works_now_and_nothing_else(tmp_path: Path) -> None:
    SessionFile(tmp_path, "/home/ada/orchard", "first", ago=timedelta(hours=1))
    async with browsing(tmp_path) as (pilot, screen):
        working = {entry.title for entry in working_intents(screen)}
        await pilot.press("ctrl+p")
        found = await options(pilot)
        assert set(found) == working
        assert "Open this session" in found
        assert "Next hit" not in found
        assert "Next row" not in found
        assert pilot.app.screen.query_one(CommandList).vertical_scrollbar.renderer is SlimBar


async def test_without_sessions_there_is_nothing_to_open(tmp_path: Path) -> None:
    async with browsing(tmp_path) as (pilot, _):
        await pilot.press("ctrl+p")
        found = await options(pilot)
        assert "Open this session" not in found
        assert "Resume this session in its agent" not in found
        assert "Open the demo session" in found


async def test_what_is_chosen_runs_on_the_screen_below(tmp_path: Path) -> None:
    SessionFile(tmp_path, "/home/ada/orchard", "first", ago=timedelta(hours=1))
    async with browsing(tmp_path) as (pilot, _):
        await pilot.press("ctrl+p", *"open this")
        assert (await options(pilot))[0] == "Open this session"
        await pilot.press("enter")
        await reached(pilot, ExplorerScreen)


async def test_what_is_done_where_a_command_leads_finds_it(tmp_path: Path) -> None:
    SessionFile(tmp_path, "/home/ada/orchard", "first", ago=timedelta(hours=1))
    async with browsing(tmp_path) as (pilot, _):
        await pilot.press("enter")
        await reached(pilot, ExplorerScreen)
        await pilot.press("ctrl+p", *"graft")
        assert await options(pilot) == ["Compare with the mark, else with the leaf: merge, graft, pin"]
        # Its title has these letters too, one by one: it is the words that say why it is found.
        await pilot.press(*["backspace"] * len("graft"), *"mer")
        assert await options(pilot) == ["Compare with the mark, else with the leaf: merge, graft, pin"]


async def test_the_palette_does_not_open_over_a_modal(tmp_path: Path) -> None:
    async with browsing(tmp_path) as (pilot, _):
        await pilot.press("question_mark", "ctrl+p")
        assert isinstance(pilot.app.screen, HelpScreen)


async def test_the_frame_says_what_it_is_and_how_to_leave(tmp_path: Path) -> None:
    async with browsing(tmp_path, size=(80, 24)) as (pilot, _):
        await pilot.press("ctrl+p")
        await options(pilot)
        text = "\n".join(rows(pilot.app))
        assert "Commands" in text
        assert "esc cancel" in text
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, CommandPalette))


async def test_a_command_takes_one_line_and_its_title_is_whole(tmp_path: Path) -> None:
    async with browsing(tmp_path, size=(80, 24)) as (pilot, _):
        await pilot.press("ctrl+p")
        await options(pilot)
        for option in pilot.app.screen.query_one(CommandList).options:
            assert "\n" not in str(option.prompt)
            assert len(str(option.prompt)) <= 80 - 7
    room = 80 - 7 - 16
    assert [entry.id for entry in INTENTS if entry.palette and len(entry.title) > room] == []


async def test_what_was_run_last_is_listed_first_and_after_a_new_start_too(tmp_path: Path) -> None:
    SessionFile(tmp_path, "/home/ada/orchard", "first", ago=timedelta(hours=1))
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await listed(pilot)
        for words in ("sort by", "look for"):
            await pilot.press("ctrl+p", *("space" if letter == " " else letter for letter in words))
            await options(pilot)
            await pilot.press("enter")
            await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
            await pilot.pause()
        await pilot.press("ctrl+p")
        assert (await options(pilot))[:2] == [
            "Reload the list: look for new sessions",
            "Sort by the next column",
        ]
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await listed(pilot)
        await pilot.press("ctrl+p")
        assert (await options(pilot))[:2] == [
            "Reload the list: look for new sessions",
            "Sort by the next column",
        ]


async def test_what_is_done_elsewhere_is_found_with_the_place(tmp_path: Path) -> None:
    SessionFile(tmp_path, "/home/ada/orchard", "first", ago=timedelta(hours=1))
    async with browsing(tmp_path) as (pilot, _):
        await pilot.press("enter")
        tree = await reached(pilot, ExplorerScreen)
        for words, found in {
            "install": "Install Leafward in an agent, or remove it (in the list of sessions)",
            "relocate": "Copy a moved project's sessions to its new folder (in the list of sessions)",
        }.items():
            await pilot.press("ctrl+p", *words)
            assert await options(pilot) == [found]
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen is tree)
            await until(pilot, lambda found=found: found in "\n".join(rows(pilot.app)))  # type: ignore[misc]  # bound now
        await pilot.press("ctrl+p", *"settings")
        assert any("config.toml" in one for one in await options(pilot))


async def test_what_does_not_work_now_is_found_with_its_reason(tmp_path: Path) -> None:
    async with browsing(tmp_path) as (pilot, _):
        await pilot.press("ctrl+p", *"resume")
        [found] = [one for one in await options(pilot) if "Resume" in one]
        assert found.endswith("(resume: no session here)")
