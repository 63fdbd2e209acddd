"""The catalogue filtered, folded, sorted and grouped."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from leafward.catalogue.lineage import Sort
from leafward_tui.catalogue.controllers import arrangement
from leafward_tui.catalogue.controllers.arrangement import make_lines
from leafward_tui.catalogue.model.listing import Grouping, View
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.search.screen import SearchScreen
from tests.claude_transcript import IDS, Transcript
from tests.tui.session_store import (
    HELD,
    NARROW,
    WIDE,
    SessionFile,
    browsing,
    previewed,
    reached,
    rows,
    shows,
    titles,
    until,
)
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.catalogue.controllers.arrangement import ListedView
    from leafward_tui.catalogue.screen import CatalogueScreen


async def filtered(pilot: Pilot[int], screen: CatalogueScreen, text: str) -> None:
    await pilot.press("slash", *({" ": "space", ":": "colon"}.get(one, one) for one in text))
    await shows(pilot, screen, lambda listing: listing.view.text == text.strip())


@pytest.fixture
def lines_may_be_made(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Cleared, it holds the making of lines up."""
    going = threading.Event()
    going.set()

    def held(*given: Any) -> ListedView:
        going.wait(HELD)
        return make_lines(*given)

    monkeypatch.setattr(arrangement, "make_lines", held)
    return going


async def test_a_session_that_is_opened_at_once_is_the_one_that_the_filter_finds(
    store: Path, lines_may_be_made: threading.Event
) -> None:
    """It fails where the row that the cursor was on before is opened."""
    async with browsing(store) as (pilot, screen):
        lines_may_be_made.clear()
        await pilot.press("slash", *"bug", "enter", "enter")
        assert pilot.app.screen is screen
        lines_may_be_made.set()
        opened = await reached(pilot, ExplorerScreen)
        assert str(opened.state.path) == sure(screen.sessions.card).path
        assert titles(screen.sessions.listing) == ["Fix the idempotency bug"]


async def test_a_cursor_moved_at_once_goes_on_over_what_was_unfolded(
    store: Path, lines_may_be_made: threading.Event
) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.press("g", "enter")
        await shows(pilot, screen, lambda _: sure(screen.sessions.line).folded)
        lines_may_be_made.clear()
        await pilot.press("enter", "j")
        lines_may_be_made.set()
        await until(pilot, lambda: screen.sessions.card is not None)
        assert sure(screen.sessions.line).group == "/home/ada/orchard"


async def test_the_filter_follows_as_one_types_and_marks_what_it_finds(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await filtered(pilot, screen, "theme")
        assert titles(screen.sessions.listing) == [
            "Port the selectors to the theme system",
            "Light theme, second attempt",
            "Dark theme for the reading view",
        ]
        assert "4 of 7 sessions" in "\n".join(rows(pilot.app))
        hits = [
            segment.text
            for y in range(3)
            for segment in screen.sessions.render_line(y)
            if segment.style is not None and segment.style.underline
        ]
        assert hits == ["theme", "theme"]
        await pilot.press("enter")
        assert not screen.view.filter_bar.editing
        assert screen.sessions.has_focus
        await pilot.press("n")
        assert screen.sessions.card is not None
        assert screen.sessions.card.title == "Light theme, second attempt"
        await pilot.press("escape")
        await shows(pilot, screen, lambda listing: not listing.view.text)
        assert screen.sessions.card.title == "Light theme, second attempt"


async def test_letters_typed_into_the_filter_are_no_commands(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await filtered(pilot, screen, "jq svz")
        assert pilot.app.screen is screen
        assert screen.sessions.listing.view == View(text="jq svz")
        assert any("No session matches." in row for row in rows(pilot.app))
        assert any("ctrl+f  searches all text of all sessions" in row for row in rows(pilot.app))
        await pilot.press("ctrl+f")
        search = await reached(pilot, SearchScreen)
        await until(pilot, lambda: search.state.text == "jq svz")


async def test_the_preview_shows_nothing_that_is_not_in_the_list(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await previewed(pilot, screen)
        assert "Context" in "\n".join(rows(pilot.app))
        await filtered(pilot, screen, "zzzz")
        await until(pilot, lambda: "No session matches." in "\n".join(rows(pilot.app)))
        assert screen.preview.card is None
        assert "Context" not in "\n".join(rows(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: "Context" in "\n".join(rows(pilot.app)))


async def test_a_filter_typed_on_the_head_of_a_group_goes_to_a_session(store: Path) -> None:
    async with browsing(store) as (pilot, screen):

        def here() -> str:
            card = screen.sessions.card
            return card.title if card is not None else ""

        await pilot.press("g")
        assert not here()
        await filtered(pilot, screen, "theme")
        assert "theme" in here()
        await pilot.press("enter", "g", "escape")
        await shows(pilot, screen, lambda listing: not listing.view.text)
        assert not here(), "where it was"


async def test_what_can_be_typed_is_said_again_once_the_filter_is_empty(store: Path) -> None:
    async with browsing(store, size=NARROW) as (pilot, screen):
        before = rows(pilot.app)[1]
        assert "words   file:" in before
        await filtered(pilot, screen, "port")
        assert "words" not in rows(pilot.app)[1]
        await pilot.press("escape")
        await until(pilot, lambda: rows(pilot.app)[1] == before)
        await pilot.press("/")
        await until(pilot, lambda: screen.view.filter_bar.editing)
        assert "words   file:" in rows(pilot.app)[1]


WRONG = [
    ("since:soon", "left out: since: takes 12h, 7d, 3mo, today or a date, not soon (column 1)", "7 of 7"),
    (
        "theme agent:nobody",
        "left out: agent: takes pi, codex, claude or opencode, not nobody (column 7)",
        "4 of 7",
    ),
    (
        "sinze:tomorrow selectors theme",
        "sinze: is not a condition (did you mean since:?); searched for as text (column 1)",
        "0 of 7",
    ),
]
"""Filters, what is said of each, and the count of the sessions that the rest of it finds."""


@pytest.mark.parametrize("size", [(60, 16), (80, 24), WIDE])
async def test_what_is_wrong_with_a_filter_is_said_whole(store: Path, size: tuple[int, int]) -> None:
    async with browsing(store, size=size) as (pilot, screen):
        height = screen.sessions.size.height
        for text, said, counted in WRONG:
            await filtered(pilot, screen, text)
            await pilot.pause()
            shown = " ".join(" ".join(row.split()) for row in rows(pilot.app))
            assert said in shown
            assert text in shown
            assert screen.view.filter_bar.size.height == 1 or counted in shown
            # It has no more than it needs, and is gone with its cause.
            await pilot.press("escape")
            await shows(pilot, screen, lambda listing: not listing.view.text)
            await until(pilot, lambda: screen.sessions.size.height == height)


async def test_text_of_a_session_is_neither_markup_nor_escape(tmp_path: Path) -> None:
    evil = "a [/nope] \x1b]52;c;aGk=\x07 [red]b \u202eback"
    session = SessionFile(tmp_path, "/home/ada/[bold]x\x1b[2J", evil, ago=timedelta(hours=1))
    session.name(evil + " named")
    async with browsing(tmp_path) as (pilot, screen):
        await previewed(pilot, screen)
        text = "\n".join(rows(pilot.app))
        assert "[/nope]" in text
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


async def test_a_folder_that_is_missing_takes_no_sums_away(store: Path) -> None:
    async with browsing(store) as (pilot, _):

        def heads() -> list[str]:
            lists = [row.partition("│")[0] for row in rows(pilot.app)[:-1]]
            return [row for row in lists if "project folder not found" in row]

        await until(pilot, heads)
        assert [row for row in heads() if "$" not in row] == []


async def test_projects_fold_one_by_one_and_all_together(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.press("z")
        await shows(pilot, screen, lambda listing: listing.lines[0].folded)
        assert titles(screen.sessions.listing) == [
            "Fix the idempotency bug",
            "Dark theme for the reading view",
        ]
        assert sure(screen.sessions.line).group == "/home/ada/orchard"
        await until(pilot, lambda: "enter unfold" in rows(pilot.app)[-1])
        await pilot.press("enter")
        await shows(pilot, screen, lambda listing: not listing.lines[0].folded)
        await until(pilot, lambda: "enter fold" in rows(pilot.app)[-1])
        await pilot.press("Z")
        await shows(pilot, screen, lambda listing: not any(line.card for line in listing.lines))
        await pilot.press("Z")
        await shows(pilot, screen, lambda listing: any(line.card for line in listing.lines))
        await pilot.press("left")
        await shows(pilot, screen, lambda listing: listing.lines[0].folded)
        await pilot.press("right")
        await shows(pilot, screen, lambda listing: not listing.lines[0].folded)


async def test_sort_and_grouping_are_remembered(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        await pilot.press("greater_than_sign")
        await shows(pilot, screen, lambda listing: listing.view.sort is Sort.NAME)
        await pilot.press("v", "v", "v")
        await shows(pilot, screen, lambda listing: listing.view.grouping is Grouping.NONE)
        assert titles(screen.sessions.listing)[0] == "Dark theme for the reading view"
        assert any("sort by size" in row for row in rows(pilot.app))
    async with browsing(store) as (pilot, screen):
        assert screen.sessions.listing.view == View(sort=Sort.NAME, grouping=Grouping.NONE)


async def test_archived_sessions_are_a_key_away(store: Path) -> None:
    async with browsing(store) as (pilot, screen):
        assert "Spike: themeable checkout" not in titles(screen.sessions.listing)
        await pilot.press("full_stop")
        await shows(pilot, screen, lambda listing: listing.view.archived)
        assert "Spike: themeable checkout" in titles(screen.sessions.listing)


async def test_sub_agents_without_a_task_are_the_same_key_away(tmp_path: Path) -> None:
    Transcript(tmp_path).turn("go", "gone")
    sleeping = Transcript(tmp_path, "agent-99")
    sleeping.defaults = {"isSidechain": True, "agentId": "99", "sessionId": IDS[5]}
    sleeping.prompt("Warmup")
    async with browsing(tmp_path, size=(240, 40)) as (pilot, screen):
        assert ". show hidden" in rows(pilot.app)[-1]
        await pilot.press("full_stop")
        await shows(pilot, screen, lambda listing: "Warmup" in titles(listing))
        await until(pilot, lambda: ". hide again" in rows(pilot.app)[-1])
