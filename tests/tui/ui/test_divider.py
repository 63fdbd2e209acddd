"""The line between two panes: dragged, moved by keys, put back by a double click, and remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.search.screen import SearchScreen
from leafward_tui.ui.panes.hairline import ColumnRule
from tests.tui.app.test_typeahead import at_once
from tests.tui.explored import NARROW, WIDE, Named, exploring
from tests.tui.session_store import browsing, reached, rows, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


async def drag(pilot: Pilot[int], rule: ColumnRule, to: int) -> None:
    """Drags the line between two panes to a column of the screen."""
    y = rule.region.y + 3
    await pilot.mouse_down(offset=(rule.region.x + 1, y))
    await pilot.hover(offset=(to, y))
    await pilot.mouse_up(offset=(to, y))


def line_at(pilot: Pilot[int], y: int = 10) -> int:
    """The column of the line between the panes, as it is on the screen."""
    return next(x for x, sign in enumerate(rows(pilot.app)[y]) if sign in "│┃" and x > 20)


async def test_the_line_beside_the_tree_is_dragged(file: Named) -> None:
    async with exploring(file.path, WIDE) as (pilot, screen):
        before = line_at(pilot)
        await drag(pilot, screen.panes.column_rule, 60)
        await until(pilot, lambda: line_at(pilot) == 60)
        assert before != 60
        assert rows(screen.app)[screen.panes.strip_rule.region.y][60] == "┴", "the rule below ends under it"


async def test_both_panes_keep_room(file: Named) -> None:
    async with exploring(file.path, WIDE) as (pilot, screen):
        await drag(pilot, screen.panes.column_rule, 2)
        await until(pilot, lambda: line_at(pilot) == 41)
        await drag(pilot, screen.panes.column_rule, WIDE[0] - 1)
        await until(pilot, lambda: line_at(pilot) == WIDE[0] - 38)


async def test_a_double_click_puts_it_back(file: Named) -> None:
    async with exploring(file.path, WIDE) as (pilot, screen):
        before = line_at(pilot)
        await drag(pilot, screen.panes.column_rule, 60)
        await until(pilot, lambda: line_at(pilot) == 60)
        await pilot.double_click(ColumnRule)
        await until(pilot, lambda: line_at(pilot) == before)


async def test_keys_that_come_at_once_move_it_as_far_as_one_by_one(store: Path) -> None:
    async with browsing(store) as (pilot, _):
        before = line_at(pilot)
        at_once(pilot, "(((")
        await until(pilot, lambda: line_at(pilot) == before - 12)


async def test_keys_move_it_and_the_next_start_has_it_there(file: Named) -> None:
    async with exploring(file.path, WIDE) as (pilot, _):
        before = line_at(pilot)
        await pilot.press("left_parenthesis", "left_parenthesis", "right_parenthesis")
        await until(pilot, lambda: line_at(pilot) == before - 4)
    async with exploring(file.path, WIDE) as (pilot, _):
        assert line_at(pilot) == before - 4


async def test_one_pane_has_no_line_to_move(file: Named) -> None:
    async with exploring(file.path, NARROW) as (pilot, screen):
        await pilot.press("left_parenthesis")
        assert "line left: only between two panes, on a wider terminal" in rows(screen.app)[-1]


async def test_the_line_is_heavy_under_the_mouse(file: Named) -> None:
    async with exploring(file.path, WIDE) as (pilot, screen):
        assert "┃" not in rows(screen.app)[10][20:]
        await pilot.hover(ColumnRule)
        await until(pilot, lambda: rows(screen.app)[10][line_at(pilot)] == "┃")


async def test_sessions_and_hits_have_one_too(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await drag(pilot, screen.view.rule, 70)
        await until(pilot, lambda: line_at(pilot) == 70)
        await pilot.press("right_parenthesis")
        await until(pilot, lambda: line_at(pilot) == 74)
        await pilot.press("S", *"theme", "enter")
        search = await reached(pilot, SearchScreen)
        await until(pilot, lambda: not search.state.searching and search.results.has_focus)
        await drag(pilot, search.view.rule, 66)
        await until(pilot, lambda: line_at(pilot) == 66)
        await pilot.press("q")
        # Each screen has its own.
        await until(pilot, lambda: line_at(pilot) == 74)


async def test_a_pane_that_appears_with_a_larger_terminal_is_filled(store: Path) -> None:
    """It fails where the second pane stays empty until the cursor moves."""
    async with browsing(store, size=NARROW) as (pilot, _):
        await pilot.press("j")
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: "Tree" in "\n".join(row[60:] for row in rows(pilot.app)))
        await pilot.resize_terminal(*NARROW)
        await pilot.press("S", *"theme", "enter")
        search = await reached(pilot, SearchScreen)
        await until(pilot, lambda: not search.state.searching and search.results.has_focus)
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: search.view.hit.display and search.view.hit._text is not None)
