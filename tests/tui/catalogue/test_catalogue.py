"""The catalogue under keys and mouse: its rows, its preview, what it opens and resumes, every size."""

from __future__ import annotations

import re
import shutil
from datetime import timedelta
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.catalogue.lineage import Sort
from leafward_tui.catalogue.controllers import stores as stores_module
from leafward_tui.catalogue.controllers.stores import read_stores
from leafward_tui.catalogue.screen import CatalogueScreen
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.appearance.glyphs import ASCII
from leafward_tui.ui.sheets.key_help import HelpScreen
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.pi_file import HEADER, PiFile
from tests.tui.session_store import (
    HELD,
    NARROW,
    WIDE,
    SessionFile,
    app_over,
    browsing,
    groups,
    listed,
    previewed,
    reached,
    rested,
    rows,
    shows,
    titles,
    until,
)
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from textual.widget import Widget


async def test_sessions_are_grouped_with_the_cursor_on_the_latest(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        assert groups(screen.sessions.listing) == [
            "/home/ada/orchard",
            "/home/ada/payments",
            "/home/ada/notes",
        ]
        assert sure(screen.sessions.card).title == "Port the selectors to the theme system"
        text = "\n".join(rows(pilot.app))
        assert "6 of 7" not in text
        assert "├─" not in text.split("Refactor", maxsplit=1)[0].split("Port", maxsplit=1)[0]
        assert "! 3 damaged" in text
        assert "1 session archived" in text
        partly = next(
            row
            for row in rows(pilot.app)
            if "2 of 3" in row or "1 of 2" in row or (" of " in row and "▾" in row)
        )
        assert "shown" in partly
        assert "total" not in partly, "figures of some of the sessions are not the total"


async def test_every_row_is_as_wide_as_its_pane(store: Path) -> None:
    async with browsing(store) as (_, screen):
        width = screen.sessions.scrollable_content_region.width
        assert {screen.sessions.render_line(y).cell_length for y in range(20)} == {width}


async def test_keys_move_over_blank_rows(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        seen = []
        for _ in range(7):
            line = sure(screen.sessions.line)
            seen.append(line.card.title if line.card else line.group)
            await pilot.press("j")
        assert seen[3:6] == ["Refactor the agent loop", "/home/ada/payments", "Fix the idempotency bug"]
        await pilot.press("G")
        assert sure(screen.sessions.card).title == "Dark theme for the reading view"
        await pilot.press("g")
        assert screen.sessions.cursor == 0
        await pilot.press("k")
        assert screen.sessions.cursor == 0


async def test_the_preview_follows_once_the_cursor_rests(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await previewed(pilot, screen)
        await until(pilot, lambda: "1 branch" in "\n".join(row[93:] for row in rows(pilot.app)))
        text = "\n".join(row[93:] for row in rows(pilot.app))
        assert "now the header" in text
        assert "src/theme.ts" in text
        assert "+2" in text
        assert "4.2k / 200k" in text
        await pilot.press("j")
        await previewed(pilot, screen)
        await until(
            pilot, lambda: any("Done: Light theme, second attempt." in row for row in rows(pilot.app))
        )


async def test_the_preview_follows_onto_a_project(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await previewed(pilot, screen)
        for key in ("g", "enter"):  # its head, then its head while it is folded
            await pilot.press(key)
            await until(pilot, lambda: screen.preview.group == "/home/ada/orchard")
            side = "\n".join(row.partition("│")[2] for row in rows(pilot.app))
            assert screen.preview.card is None
            assert "/home/ada/orchard" in side
            assert "Light theme, second attempt" in side
            assert "$0.07" in side
        await pilot.press("enter", "j")
        await previewed(pilot, screen)
        assert screen.preview.group is None


async def test_what_is_hidden_is_seen_below_the_last_session(tmp_path: Path) -> None:
    for number in range(40):
        SessionFile(tmp_path, "/home/ada/orchard", f"number {number}", ago=timedelta(hours=number))
    SessionFile(tmp_path, "/home/ada/orchard", "done with", ago=timedelta(hours=50)).archive()
    async with browsing(tmp_path) as (pilot, _):
        assert not any("1 session archived" in row for row in rows(pilot.app))
        await pilot.press("G")
        await until(pilot, lambda: any("1 session archived" in row for row in rows(pilot.app)))
        await pilot.press("/", *"agent:zz")
        await until(pilot, lambda: any("41 of 41 sessions   left out" in row for row in rows(pilot.app)))


async def test_the_cursor_stays_on_its_session_while_others_come(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.press("j", "j", "j")
        before = sure(screen.sessions.card)
        SessionFile(store, "/home/ada/orchard", "brand new", ago=timedelta(minutes=1))
        await pilot.press("ctrl+r")
        await shows(pilot, screen, lambda listing: listing.total == 8)
        assert titles(screen.sessions.listing)[0] == "brand new"
        assert sure(screen.sessions.card).path == before.path


async def test_a_session_that_is_gone_leaves_the_list(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        shutil.rmtree(store / "--home-ada-notes--")
        await pilot.press("ctrl+r")
        await shows(pilot, screen, lambda listing: listing.total == 6)
        assert "/home/ada/notes" not in groups(screen.sessions.listing)


async def test_a_file_that_is_no_session_says_why(tmp_path: Path) -> None:
    SessionFile(tmp_path, "/home/ada/orchard", "a sound one", ago=timedelta(hours=1))
    (tmp_path / "notes.jsonl").write_text("this is not a session\n")
    async with browsing(tmp_path) as (pilot, screen):
        await pilot.press("G")
        await previewed(pilot, screen)
        text = "\n".join(rows(pilot.app))
        assert "! notes.jsonl" in text
        assert "cannot be read" in text
        assert screen.enabled("session.resume") is False


async def test_the_preview_of_a_prompt_without_a_reply_has_no_empty_one(tmp_path: Path) -> None:
    PiFile(tmp_path / "one.jsonl").user("is anybody here?")
    async with browsing(tmp_path) as (pilot, screen):
        await previewed(pilot, screen)
        assert any("you  is anybody here?" in row for row in rows(pilot.app))
        assert not any(row.rstrip().endswith(" ai") for row in rows(pilot.app))


async def test_a_session_that_was_copied_later_than_it_ended_says_so_with_its_year(tmp_path: Path) -> None:
    made = PiFile(tmp_path / "one.jsonl", {**HEADER, "timestamp": "2026-11-21T21:18:00.000Z"})
    said = {"role": "user", "content": "hello", "timestamp": 1_765_238_520_000}
    made.entry("message", message=said)
    async with browsing(tmp_path) as (pilot, screen):
        await previewed(pilot, screen)
        (row,) = (row for row in rows(pilot.app) if "copied " in row)
        assert re.search(r"last \d+ Dec 2025 .* copied \d+ Nov \d\d:\d\d", row)
        assert "started" not in row
    async with browsing(tmp_path, size=(120, 32)) as (pilot, screen):
        await previewed(pilot, screen)
        (row,) = (row for row in rows(screen.app) if "copied " in row)
        assert re.search(r"copied \d+ Nov \d\d:\d\d", row)
        assert "last" not in row, "where one of them has room, it is what the list gives the age of"


async def test_the_preview_has_both_times_of_a_session_beside_its_cost(tmp_path: Path) -> None:
    made = SessionFile(tmp_path, "/home/ada/orchard", "first", ago=timedelta(days=2))
    made.time += timedelta(days=1)
    made.turn("second")
    async with browsing(tmp_path, size=(120, 32)) as (pilot, screen):
        await previewed(pilot, screen)
        (row,) = (row for row in rows(screen.app) if "$0.02" in row and " to " in row)
        assert re.search(r"│ +\d+ \w+ \d\d:\d\d to \d+ \w+ \d\d:\d\d +\$0\.02", row), row


async def test_the_preview_of_a_fork_says_that_a_cost_is_its_own(store: Path) -> None:
    """History that a fork copied is counted in its source, so the whole session cost more."""
    async with browsing(store) as (pilot, screen):
        lines = screen.sessions.listing.lines
        for title, own in (("Light theme, second attempt", True), ("Refactor the agent loop", False)):
            screen.sessions.go(
                next(
                    at for at, line in enumerate(lines) if line.card is not None and line.card.title == title
                )
            )
            await previewed(pilot, screen)
            (row,) = (row for row in rows(pilot.app) if "$" in row and "last " in row.partition("│")[2])
            assert row.rstrip().endswith(" since fork") is own, row


async def test_the_preview_of_a_project_tells_sessions_of_one_title_apart(tmp_path: Path) -> None:
    """It fails where the preview lists the same title twice, although the list beside it says which is which."""
    for hours, last in ((1, "write the tests"), (2, "mend the worker")):
        SessionFile(tmp_path, "/gone/orchard", "begin", ago=timedelta(hours=hours)).turn(last)
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("k")
        await until(pilot, lambda: screen.preview.group == "/gone/orchard")
        await until(pilot, lambda: any("Sessions" in row.partition("│")[2] for row in rows(app)))
        beside = [row.partition("│")[2] for row in rows(app)]
        assert any("begin   last: write the tests" in row for row in beside)
        assert any("begin   last: mend the worker" in row for row in beside)


async def test_what_a_key_says_of_an_empty_list_ends_with_the_first_session(tmp_path: Path) -> None:
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await reached(pilot, CatalogueScreen)
        await until(pilot, lambda: not screen.state.stores.searching)
        await pilot.press("dollar_sign")
        await until(pilot, lambda: any("no sessions here" in row for row in rows(app)))
        screen.state.stores.searching = True
        assert screen.reason("totals.open") == "totals: still looking for sessions"
        PiFile(tmp_path / "one.jsonl").user("is anybody here?")
        await pilot.press("ctrl+r")
        await shows(pilot, screen, lambda listing: listing.total == 1)
        await until(pilot, lambda: not any("no sessions here" in row for row in rows(app)))


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Set, it lets the first look for sessions go on."""
    going = Event()

    def late(*given: Any) -> float:
        going.wait(HELD)
        return read_stores(*given)

    monkeypatch.setattr(stores_module, "read_stores", late)
    return going


async def test_keys_typed_before_the_first_list_are_carried_out_once_it_is_there(
    store: Path, looked: Event
) -> None:
    """It fails where a key that finds no row is dropped."""
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await reached(pilot, CatalogueScreen)
        await pilot.press("j", "enter")
        await until(pilot, lambda: any("open: still looking for sessions" in row for row in rows(app)))
        looked.set()
        opened = await reached(pilot, ExplorerScreen)
        assert screen.sessions.card is not None
        second = [line.card for line in screen.sessions.listing.lines if line.card is not None][1]
        assert str(opened.state.path) == second.path == screen.sessions.card.path


@pytest.mark.parametrize("over", ["question_mark", ""])
async def test_a_key_typed_before_the_list_opens_nothing_where_it_is_no_longer_meant(
    tmp_path: Path, looked: Event, over: str
) -> None:
    """It fails where Enter opens a session over the help, or one that came after an empty list."""
    if over:
        PiFile(tmp_path / "one.jsonl").user("is anybody here?")
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await reached(pilot, CatalogueScreen)
        await pilot.press("enter", *([over] if over else []))
        looked.set()
        await until(pilot, lambda: not screen.view.awaits_row)
        if not over:
            await until(pilot, lambda: "still looking for sessions" not in rows(app)[-1])
            PiFile(tmp_path / "one.jsonl").user("is anybody here?")
            await pilot.press("ctrl+r")
        await shows(pilot, screen, lambda listing: listing.total == 1)
        await until(pilot, lambda: not screen.view.early)
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen if over else CatalogueScreen)


async def test_enter_opens_and_q_comes_back_to_the_same_row(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.press("j", "enter")
        await reached(pilot, ExplorerScreen)
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert sure(screen.sessions.card).title == "Light theme, second attempt"


async def test_the_mouse_selects_folds_and_opens(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.click(screen.sessions, offset=(20, 2))
        assert screen.sessions.cursor == 2
        await pilot.click(screen.sessions, offset=(5, 0))
        await shows(pilot, screen, lambda listing: listing.lines[0].folded)
        await pilot.click(screen.sessions, offset=(20, 3), times=2)
        await reached(pilot, ExplorerScreen)


async def test_a_double_click_on_a_project_folds_it_once(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.double_click(screen.sessions, offset=(5, 0))
        await shows(pilot, screen, lambda listing: listing.lines[0].folded)
        await rested(pilot)
        assert screen.sessions.listing.lines[0].folded


async def test_a_file_to_blame_is_one_of_the_project_under_the_cursor(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.press("g")
        assert sure(screen.view.line).card is None
        await pilot.press("number_sign")
        await reached(pilot, TextSheet)
        assert any("/home/ada/orchard" in row for row in rows(pilot.app)[-6:])


async def test_a_click_on_a_heading_sorts(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        heading = rows(pilot.app)[screen.view.head.region.y].index("context")
        await pilot.click(screen.view.head, offset=(heading + 1, 0))
        await shows(pilot, screen, lambda listing: listing.view.sort is Sort.TOKENS)


def seen(widget: Widget) -> bool:
    return widget.is_on_screen


async def test_a_narrow_screen_without_sessions_has_no_other_pane(tmp_path: Path) -> None:
    async with browsing(tmp_path, size=NARROW) as (pilot, _):
        await pilot.press("tab")
        assert any("No sessions yet" in row for row in rows(pilot.app))


async def test_a_narrow_screen_has_one_pane(store: Path) -> None:
    async with browsing(store, size=NARROW) as (pilot, screen):
        assert not seen(screen.preview)
        assert "compact" not in rows(pilot.app)[2]
        await pilot.press("space")
        await previewed(pilot, screen)
        assert seen(screen.preview)
        assert not seen(screen.sessions)
        await pilot.press("escape")
        await until(pilot, lambda: seen(screen.sessions))
        await pilot.press("tab")
        await until(pilot, lambda: seen(screen.preview))


@pytest.mark.parametrize("size", [(59, 30), (100, 15), (20, 5)])
async def test_what_is_too_small_says_so(store: Path, size: tuple[int, int]) -> None:
    async with browsing(store, size=size) as (pilot, _):
        text = "\n".join(rows(pilot.app))
        assert f"{size[0]} × {size[1]}"[: size[0] - 2] in text or size[0] < 30
        assert "Port the selectors" not in text


async def test_without_sessions_it_says_where_it_looked_and_offers_the_demo(tmp_path: Path) -> None:
    app = app_over(tmp_path / "nothing")
    async with app.run_test(size=NARROW) as pilot:
        screen = await listed(pilot)
        text = "\n".join(rows(app))
        assert "No sessions yet" in text
        assert "nothing" in text
        assert "opens a demo session" in text
        assert not screen.preview.display
        await pilot.press("O")
        await reached(pilot, ExplorerScreen)
        demo = sure(app.screens.demo_file)
        assert demo.is_file()
    assert not demo.exists()


async def test_ascii_has_nothing_else(store: Path) -> None:
    app = app_over(store, config=Config(ascii=True))
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await previewed(pilot, screen)
        assert app.glyphs is ASCII
        assert "\n".join(rows(app)).isascii()


async def test_the_path_is_copied(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.press("y")
        assert pilot.app.clipboard == sure(screen.sessions.card).path


@pytest.mark.frames
async def test_painting_does_not_grow_with_the_list(tmp_path: Path) -> None:
    for number in range(120):
        SessionFile(tmp_path, "/home/ada/orchard", f"session {number}", ago=timedelta(hours=number + 1))
    async with browsing(tmp_path) as (pilot, screen):
        await pilot.pause()
        painted: list[int] = []
        original = screen.sessions._painter

        def counting(width: int) -> Any:
            painted.append(width)
            return original(width)

        screen.sessions._painter = counting  # type: ignore[method-assign]  # counts rows that are made
        await pilot.press("j")
        await until(pilot, lambda: len(painted) <= 2)
        painted.clear()
        await pilot.press("G")
        await until(pilot, lambda: len(painted) <= 40)
