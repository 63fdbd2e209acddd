"""Searching the X-ray and two summaries; keys that go from line to line on every screen of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward_tui.log.screen import LogScreen
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.sheets.sheet import TextSheet
from leafward_tui.ui.text.hits import hit_beside, which_hit
from leafward_tui.xray.model.arrangement import Side
from leafward_tui.xray.summaries import SummariesScreen
from tests.tui.explored import NARROW, WIDE, exploring
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure
from tests.tui.xray.test_xray import orchard, seeing

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.xray.screen import XRayScreen


async def search(pilot: Pilot[int], words: str, *keys: str) -> None:
    """Opens the search, types words and answers with keys."""
    await pilot.press("slash")
    await reached(pilot, TextSheet)
    await pilot.press(*("space" if letter == " " else letter for letter in words))
    await pilot.pause()
    await pilot.press(*keys)
    await pilot.pause()


def said(screen: XRayScreen) -> str:
    """The words under the cursor of the X-ray."""
    piece, line, teller = screen.view.lines.piece, screen.view.lines.line, screen.state.loaded.teller
    assert piece is not None
    assert line is not None
    assert line.link is not None
    assert teller is not None
    return teller.piece(piece, line.link).text


def showing(pilot: Pilot[int]) -> str:
    """The name of the screen on top."""
    screen = pilot.app.screen
    assert isinstance(screen, BaseScreen)
    return screen.NAME


async def orchards(pilot: Pilot[int]) -> SummariesScreen:
    await pilot.press("d")
    screen = await reached(pilot, SummariesScreen)
    await until(pilot, lambda: screen.state.diff is not None)
    await pilot.pause()
    return screen


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_both_sides_are_searched_and_what_hides_a_hit_is_unfolded(
    size: tuple[int, int], tmp_path: Path
) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path, size) as (pilot, explorer, screen):
        folded = len(screen.view.lines.arrangement or ())
        await search(pilot, "41 WEIGHS", "enter")
        await until(pilot, lambda: len(screen.search.hits.hits) == 3)
        assert len(screen.view.lines.arrangement or ()) > folded
        found = []
        for _ in range(3):
            found.append((screen.view.lines.side, said(screen)))
            await pilot.press("n")
            await pilot.pause()
        assert all("read" in text or "41 weighs" in text or "tree1" in text for _, text in found)
        assert [side for side, _ in found].count(Side.AFTER) == 1
        assert (screen.view.lines.side, said(screen)) == found[0], "around the end"
        assert " of 3 hits" in rows(pilot.app)[0]
        await pilot.press("N")
        assert (screen.view.lines.side, said(screen)) == found[2]
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert len(screen.view.lines.arrangement or ()) == folded
        assert "hits" not in rows(pilot.app)[0]
        await pilot.press("escape")
        await until(pilot, lambda: showing(pilot) == explorer.NAME)


async def test_without_a_search_the_same_keys_go_to_changes(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        before = screen.view.lines.cursor
        await search(pilot, "nowhere at all", "enter")
        await until(pilot, lambda: "no hits" in rows(pilot.app)[0])
        await pilot.press("escape", "n")
        assert screen.view.lines.cursor > before
        line = sure(screen.view.lines.line)
        assert sure(line.link).value == "injected"


async def test_leaving_the_search_of_the_x_ray_goes_back(tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        before = (screen.view.lines.cursor, screen.view.lines.side)
        await search(pilot, "tree 44")
        await until(pilot, lambda: screen.search.hits.hits)
        await until(pilot, lambda: (screen.view.lines.cursor, screen.view.lines.side) != before)
        await pilot.press("escape")
        await until(pilot, lambda: (screen.view.lines.cursor, screen.view.lines.side) == before)
        assert (screen.search.words, list(screen.search.hits.hits)) == ("", [])


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_summaries_are_searched_also_what_is_folded(size: tuple[int, int], tmp_path: Path) -> None:
    async with seeing(orchard(tmp_path / "s.jsonl", twice=True).path, size) as (pilot, _, xray):
        screen = await orchards(pilot)
        await pilot.press("z")
        await search(pilot, "WEIGH", "enter")
        assert not screen.state.fold_same
        assert len(screen.pair.search.hits) >= 2
        seen = []
        for _ in screen.pair.search.hits:
            line = sure(screen.view.lines.line)
            assert "weigh" in f"{line.before} {line.after}".lower()
            seen.append(screen.view.lines.cursor)
            await pilot.press("n")
        assert sorted(seen) == list(screen.pair.search.hits)
        assert f"of {len(screen.pair.search.hits)} hits" in rows(pilot.app)[0]
        await pilot.press("escape")
        assert pilot.app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: showing(pilot) == xray.NAME)


async def test_arrows_move_the_cursor_where_lines_could_be_scrolled_instead(tmp_path: Path) -> None:
    path = orchard(tmp_path / "s.jsonl", twice=True).path
    async with seeing(path) as (pilot, explorer, screen):
        await pilot.press("g")
        first = screen.view.lines.cursor
        await pilot.press("down")
        assert screen.view.lines.cursor > first
        await pilot.press("home", "end", "up", "pageup", "pagedown")
        await pilot.press("home")
        assert screen.view.lines.cursor == first
        summaries = await orchards(pilot)
        await pilot.press("home")
        first = summaries.view.lines.cursor
        await pilot.press("down", "down", "up")
        assert summaries.view.lines.cursor > first
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is explorer)
    async with exploring(path) as (pilot, explorer):
        await pilot.press("l", "x", "enter")
        await until(
            pilot,
            lambda: not explorer.state.busy and explorer.state.session and explorer.state.session.labels,
        )
        await pilot.press("r", "y", "enter")
        await until(
            pilot, lambda: not explorer.state.busy and explorer.state.session and explorer.state.session.name
        )
        await pilot.press("o")
        await until(
            pilot, lambda: isinstance(pilot.app.screen, LogScreen) and pilot.app.screen.log_list.operations
        )
        log = pilot.app.screen
        assert isinstance(log, LogScreen)
        last = log.log_list.cursor
        await pilot.press("up")
        assert log.log_list.cursor == last - 1
        await pilot.press("down")
        assert log.log_list.cursor == last


def test_hits_go_around_the_ends() -> None:
    hits = [3, 8, 20]
    assert [hit_beside(hits, at, 1) for at in (-1, 3, 9, 20, 99)] == [3, 8, 20, 3, 3]
    assert [hit_beside(hits, at, -1) for at in (-1, 3, 9, 20, 99)] == [20, 20, 8, 8, 20]
    assert hit_beside([], 4, 1) is None
    assert [which_hit(hits, at) for at in (3, 4, 20)] == ["1 of 3", "3", "3 of 3"]
    assert which_hit(range(5_678), 1_233) == "1,234 of 5,678"
