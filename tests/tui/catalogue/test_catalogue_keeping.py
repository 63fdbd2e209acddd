"""The catalogue: forest and days, what goes soon, sessions kept, archived and thrown away."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.base.config import Config
from leafward.catalogue.backups import kept_root
from leafward.catalogue.catalogue_status import CatalogueStatus
from leafward.compaction.aftermath.aftermath_totals import OWN, AftermathSum, Maker
from leafward_tui.catalogue.model.listing import (
    ALONE,
    FAMILIES,
    Grouping,
    LineKind,
    Stock,
    View,
    list_sessions,
)
from leafward_tui.catalogue.model.totals_table import AftermathReading, aftermath_rows
from leafward_tui.catalogue.widgets.session_row import day_words
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.claude_transcript import IDS
from tests.tui.session_store import (
    NARROW,
    NOW,
    NOW_MS,
    browsing,
    groups,
    lines_of,
    previewed,
    reached,
    rows,
    shows,
    titles,
    until,
)
from tests.tui.sure import sure

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

    from leafward_tui.catalogue.screen import CatalogueScreen


async def to_title(pilot: Pilot[int], screen: CatalogueScreen, title: str) -> None:
    at = next(
        number
        for number, line in enumerate(screen.sessions.listing.lines)
        if line.card is not None and line.card.title == title
    )
    screen.sessions.go(at)
    await pilot.pause()


# --- lines ------------------------------------------------------------------------------------------------------------


def test_the_forest_nests_across_projects(mixed: Path) -> None:
    listing = lines_of(mixed, grouping=Grouping.FOREST)
    assert groups(listing) == [FAMILIES, ALONE]
    assert titles(listing, FAMILIES) == [
        "Port the selectors to the theme system",
        "Light theme, second attempt",
        "and once more, in blue",
        "the same in the attic",
    ]
    nested = {line.card.title: line for line in listing.lines if line.card is not None}
    assert nested["the same in the attic"].nest == (False,)
    assert nested["the same in the attic"].elsewhere == "/home/ada/attic", "it says where it is"
    assert nested["Light theme, second attempt"].elsewhere == ""
    assert nested["Light theme, second attempt"].relation == "fork"
    by_project = {line.card.title: line for line in lines_of(mixed).lines if line.card is not None}
    assert by_project["the same in the attic"].nest == ()


def test_whose_relatives_are_hidden_stands_alone(mixed: Path) -> None:
    first, *others = titles(lines_of(mixed, grouping=Grouping.FOREST), FAMILIES)
    stock = lines_of(mixed).stock
    cards = [card._replace(archived=card.title in others) for card in stock.cards]
    listing = list_sessions(Stock(cards), View(grouping=Grouping.FOREST), NOW_MS)
    assert groups(listing) == [ALONE]
    assert first in titles(listing, ALONE)
    assert groups(list_sessions(Stock(cards), View(grouping=Grouping.FOREST, archived=True), NOW_MS)) == [
        FAMILIES,
        ALONE,
    ]


def test_days_begin_at_midnight_here_and_the_latest_is_first(mixed: Path) -> None:
    found = groups(lines_of(mixed, grouping=Grouping.DAY))
    assert found[0] == "2026-11-21", "the transcript is from a later year"
    assert found == sorted(found, reverse=True)
    assert day_words("2026-03-02", NOW.timestamp()) == "today"
    assert day_words("2026-03-01", NOW.timestamp()) == "yesterday"
    assert day_words("2026-02-21", NOW.timestamp()) == "Saturday 21 February"
    assert day_words("2025-12-31", NOW.timestamp()) == "Wednesday 31 December 2025"


def test_what_is_excluded_leaves_a_line(mixed: Path) -> None:
    stock = Stock(lines_of(mixed).stock.cards, None, lambda *_: CatalogueStatus(excluded=3))
    last = list_sessions(stock, View(), NOW_MS).lines[-1]
    assert (last.kind, last.shown, last.words) == (LineKind.HIDDEN, 3, "excluded by the configuration")


# --- on the screen ----------------------------------------------------------------------------------------------------


async def test_v_goes_through_the_groupings(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, screen):
        seen = [screen.sessions.listing.view.grouping]
        for _ in range(4):
            await pilot.press("v")
            await until(pilot, lambda: screen.sessions.listing.view.grouping is not seen[-1])
            seen.append(screen.sessions.listing.view.grouping)
        assert seen == list(Grouping)


async def test_missing_folders_and_costs_stand_in_the_heads(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, screen):
        head = next(row for row in rows(pilot.app) if "~/orchard" in row)
        assert "project folder not found" in head
        assert "$0.07" in head
        await to_title(pilot, screen, "Port the selectors to the theme system")
        await previewed(pilot, screen)
        await until(pilot, lambda: "\n".join(rows(pilot.app)).count("project folder not found") > 1)
        assert any("last " in row and "$0.04" in row for row in rows(pilot.app)), "what the session cost"


def _says(app: App[Any], words: str) -> bool:
    return words in rows(app)[-1]


async def test_a_key_for_a_session_says_what_the_row_is_instead(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, screen):
        await pilot.press("g")
        await until(pilot, lambda: screen.view.card is None)
        for key, said in (
            ("A", "this row is a project or a day"),
            ("L", "new folder not found: name it with leafward relocate OLD NEW"),
        ):
            await pilot.press(key)
            await until(pilot, partial(_says, pilot.app, said))


async def test_what_goes_soon_is_kept_by_a_key(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, screen):
        assert any("Count the pears" in row and "deleted in 2 days" in row for row in rows(pilot.app))
        await to_title(pilot, screen, "Count the pears")
        await previewed(pilot, screen)
        assert any("Y  keeps a copy" in row for row in rows(pilot.app))
        await pilot.press("Y")
        await until(
            pilot,
            lambda: any(
                "kept a copy (1 file): Count the pears" in one.message for one in pilot.app._notifications
            ),
        )
        assert [path.name for path in kept_root("claude").rglob("*.jsonl")] == [f"{IDS[0]}.jsonl"]
        await pilot.press("delete")
        await reached(pilot, ChoiceSheet)
        assert any("claude's own files are never changed" in row for row in rows(pilot.app))
        await pilot.press("d", "escape")


async def test_a_session_is_thrown_away_and_brought_back(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, screen):
        await to_title(pilot, screen, "Port the selectors to the theme system")
        card = sure(screen.sessions.card)
        await pilot.press("delete")
        await reached(pilot, ChoiceSheet)
        text = "\n".join(rows(pilot.app))
        assert "2 sessions made from it stay" in text
        assert "Move to the trash" in text
        assert "move 1 file to" in text, "where to comes first, the name of the file stands above"
        await pilot.press("enter")
        await until(pilot, lambda: not Path(card.path).exists())
        await shows(pilot, screen, lambda listing: card.path not in listing.at)
        await until(pilot, lambda: screen.enabled("session.undo"))
        title = "Port the selectors to the theme system"
        await until(
            pilot, lambda: f"in the trash: {title}" in [one.message for one in pilot.app._notifications]
        )
        await pilot.press("u")
        await shows(pilot, screen, lambda listing: card.path in listing.at)
        assert not screen.enabled("session.undo")


async def test_the_keys_say_how_to_go_on_where_the_only_session_that_a_filter_found_is_gone(
    mixed: Path,
) -> None:
    async with browsing(mixed) as (pilot, screen):
        await pilot.press("slash", *"selectors")
        await shows(pilot, screen, lambda listing: listing.view.text == "selectors")
        await pilot.press("enter")
        card = sure(screen.sessions.card)
        await pilot.press("delete")
        await reached(pilot, ChoiceSheet)
        await pilot.press("enter")
        await shows(pilot, screen, lambda listing: not listing.lines)
        await until(pilot, lambda: "u undo   esc clear filter" in rows(pilot.app)[-1])
        assert "demo" not in rows(pilot.app)[-1]
        await pilot.press("u")
        await shows(pilot, screen, lambda listing: card.path in listing.at)


async def test_the_keys_are_back_after_a_look_that_found_nothing_new_under_a_filter_that_finds_nothing(
    mixed: Path,
) -> None:
    async with browsing(mixed) as (pilot, screen):
        await pilot.press("slash", *"zzz")
        await shows(pilot, screen, lambda listing: listing.view.text == "zzz" and not listing.lines)
        await pilot.press("enter")
        screen.stores.look_around()
        screen.show_hints()
        await until(pilot, lambda: "esc clear filter" in rows(pilot.app)[-1])


async def test_a_session_is_archived_and_brought_back(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, screen):
        await to_title(pilot, screen, "Refactor the agent loop")
        before = screen.sessions.listing.archived
        stood = screen.sessions.cursor
        await pilot.press("A")
        await shows(pilot, screen, lambda listing: listing.archived == before + 1)
        assert screen.sessions.card is not None, "the next session, not the head of its project"
        assert screen.sessions.cursor in (stood, stood - 1)
        await until(pilot, lambda: screen.enabled("session.undo"))
        await pilot.press("u")
        await shows(pilot, screen, lambda listing: listing.archived == before)


async def test_where_the_last_session_of_a_project_is_archived_the_cursor_stays_near(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, screen):
        await to_title(pilot, screen, "Fix the idempotency bug")
        lines, stood = screen.sessions.listing.lines, screen.sessions.cursor
        below = next(line.card for line in lines[stood + 1 :] if line.card is not None)
        before = screen.sessions.listing.archived
        await pilot.press("A")
        await shows(pilot, screen, lambda listing: listing.archived == before + 1)
        assert sure(screen.sessions.card).path == below.path


def test_who_compacted_is_said_where_it_was_leafward() -> None:
    sums = {
        Maker("pi", "anthropic/a", OWN): AftermathSum(compactions=2),
        Maker("pi", "anthropic/a", "codex"): AftermathSum(compactions=1),
    }
    table = aftermath_rows(AftermathReading(sums, 3, 3, 0))
    # Rows below are parts of the row above, as in the sums by project.
    assert [(row.name, row.figures[0]) for row in table[2:]] == [
        ("pi, a", "3"),
        ("  by the agent", "2"),
        ("  Leafward, codex rules", "1"),
    ]
    assert {row.figures[1:] for row in table[2:]} == {("·", "·", "·")}
    alone = {Maker("pi", "anthropic/a", "opencode"): AftermathSum(compactions=1)}
    table = aftermath_rows(AftermathReading(alone, 3, 3, 0))
    assert [(row.name, row.figures[:1]) for row in table[2:]] == [
        ("pi, a", ("1",)),
        ("  Leafward, opencode rules", ("1",)),
    ]
    # In 80 columns four figures leave 26 cells.
    assert len(table[3].name) <= 26


async def test_all_excluded_says_so(mixed: Path) -> None:
    config = Config(
        exclude=("/home/ada",), roots={"pi": (str(mixed / "pi"),), "claude": (), "codex": (), "opencode": ()}
    )
    async with browsing(config=config, size=NARROW) as (pilot, _):
        # It stood there that sessions are looked for until the list was drawn anew for another reason.
        await until(pilot, lambda: any("All 8 sessions are excluded." in row for row in rows(pilot.app)))
