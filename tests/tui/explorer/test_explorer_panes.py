"""The panes of the explorer: the proposed move and its price, the inspector, the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.context.entry_metrics import EntryMetrics
from leafward_tui.inspector.pane import Inspector
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.tui.explored import (
    NARROW,
    WIDE,
    Named,
    exploring,
    here,
    tree,
)
from tests.tui.session_store import reached, rested, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.explorer.screen import ExplorerScreen


def screen_rows(screen: ExplorerScreen) -> list[str]:
    """The rows of the price line."""
    region = screen.panes.price_line.region
    return rows(screen.app)[region.y : region.bottom]


@pytest.fixture
def straight(tmp_path: Path) -> Named:
    """Turns a b c, without a branch."""
    file = Named(tmp_path / "session.jsonl")
    for name in "abc":
        file.turn(name)
    return file


class TestGhost:
    async def test_appears_with_its_price_once_the_cursor_rests(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("right_square_bracket")  # from d to y
            await until(pilot, lambda: screen.state.price is not None)
            await pilot.pause()
            assert screen.panes.tree.state.ghost is not None
            drawn = "\n".join(tree(screen))
            assert "would be leaf" in drawn
            assert "┡━●" in drawn
            left = [row for row in tree(screen) if row.startswith((" −", "▌−"))]
            assert [" ".join(row.split()[2:4]) for row in left] == ["c prompt", "d prompt"]
            facts, price = screen_rows(screen)
            assert facts.startswith(" Turn 4 (branch)   entries 6     calls 2     edits 1"), (
                "what stands there comes first"
            )
            assert price.startswith(" Move here    drops 4 entries (")
            assert ", adds 8 (" in price
            assert screen.state.price is not None
            assert (screen.state.price.left.entries, screen.state.price.entered.entries) == (4, 8)
            await pilot.press("escape")
            await until(pilot, lambda: screen.panes.tree.state.ghost is None)
            assert here(screen) == "d"
            assert "would be leaf" not in "\n".join(tree(screen))

    async def test_a_number_that_is_still_being_counted_is_no_zero(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await until(pilot, lambda: "calls ·     edits ·     tokens 5" in screen_rows(screen)[0])
            await rested(pilot)
            screen.state.metrics = EntryMetrics(sure(screen.state.session))
            screen.controllers.details.follow_cursor()
            await pilot.pause()
            facts = screen_rows(screen)[0].split()
            assert "entries" in facts
            assert not {"calls", "edits", "tokens"} & set(facts)

    async def test_nothing_is_written(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("right_square_bracket")
            await until(pilot, lambda: screen.state.price is not None)
            await pilot.press("enter")
            await pilot.press("escape")
            await pilot.press("escape")
        assert file.path.read_bytes() == before

    async def test_a_sheet_opened_before_the_price_is_known_says_it_when_it_is(self, straight: Named) -> None:
        async with exploring(straight.path) as (pilot, screen):
            await pilot.press("k")
            await until(pilot, lambda: screen.state.price is not None)
            await pilot.press("g", "enter")
            await until(pilot, lambda: pilot.app.screen is not screen)
            # With both keys at once the cursor's message comes when the sheet is open.
            screen.controllers.details.settle()
            await until(pilot, lambda: any("drops 4 entries" in row for row in rows(pilot.app)))
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is screen)

    async def test_the_sheet_says_the_price_and_every_warning(self, straight: Named) -> None:
        straight.compacted(straight.prompts["c"], "all of it")
        straight.turn("d")
        async with exploring(straight.path) as (pilot, screen):
            await pilot.press("g")
            await until(pilot, lambda: screen.state.price is not None)
            price = sure(screen.state.price)
            assert price.surprises
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen is not screen)
            await pilot.pause()
            drawn = rows(pilot.app)
            assert any("drops 7 entries;" in row and "at full price" in row for row in drawn)
            for _, warning in price.surprises:
                assert any(f"! {warning}" in row for row in drawn)


class TestPanes:
    async def test_the_inspector_follows_the_cursor_once_it_rests(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await until(pilot, lambda: "d answered" in "\n".join(rows(screen.app)))
            await pilot.press("K")
            await until(pilot, lambda: "c answered" in "\n".join(rows(screen.app)))

    async def test_its_tabs(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            for key, tab in (
                ("x", Tab.CONTEXT),
                ("3", Tab.COMPACTION),
                ("w", Tab.FILES),
                ("5", Tab.RAW),
                ("1", Tab.ENTRY),
            ):
                await pilot.press(key)
                assert screen.panes.inspector.tab is tab
                assert screen.panes.tree.has_focus

    async def test_tab_goes_to_the_pane_and_esc_comes_back(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            focused = []
            for keys in (("tab",), ("j", "j", "k"), ("escape",), ("shift+tab",), ("tab",)):
                await pilot.press(*keys)
                focused.append(screen.panes.tree.has_focus)
            assert focused == [False, False, True, False, True]
            assert here(screen) == "d"

    async def test_on_a_narrow_screen_panes_are_tabs(self, file: Named) -> None:
        async with exploring(file.path, NARROW) as (pilot, screen):
            shown = [(screen.panes.tree.display, screen.query_one(Inspector).display)]
            for key in (*["tab"] * 6, "x", "escape"):
                await pilot.press(key)
                shown.append((screen.panes.tree.display, screen.query_one(Inspector).display))
            tree_only, pane_only = (True, False), (False, True)
            assert shown == [tree_only, *[pane_only] * 5, tree_only, pane_only, tree_only]
            assert screen.panes.inspector.tab is Tab.CONTEXT
            assert screen.panes.tree.has_focus


class TestMouse:
    async def test_a_click_selects_and_two_ask(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            y = next(y for y, row in enumerate(tree(screen)) if "c prompt" in row)
            await pilot.click("#graph", offset=(12, y))
            assert here(screen) == "c"
            assert screen.app.screen is screen
            await pilot.click("#graph", offset=(12, y), times=2)
            await reached(pilot, ChoiceSheet)

    @pytest.mark.parametrize("times", [1, 2])
    async def test_a_click_on_its_sign_opens_a_fold_and_asks_nothing(self, times: int, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("Z")
            await pilot.pause()
            y, row = next((y, row) for y, row in enumerate(tree(screen)) if "▸" in row and "x prompt" in row)
            await pilot.click("#graph", offset=(row.index("▸"), y), times=times)
            await until(pilot, lambda: any("y prompt" in row for row in tree(screen)))
            await rested(pilot)
            assert screen.app.screen is screen

    async def test_the_wheel_scrolls(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "long.jsonl")
        for number in range(80):
            file.turn(f"t{number}")
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("Z", "g")
            await pilot.pause()
            top = screen.panes.tree.scroll_offset.y
            screen.panes.tree.scroll_down(animate=False)
            await until(pilot, lambda: screen.panes.tree.scroll_offset.y > top)

    async def test_a_hint_of_the_key_bar_runs(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            bar = rows(screen.app)[-1]
            await pilot.click(offset=(bar.index("search"), WIDE[1] - 1))
            await reached(pilot, TextSheet)
