"""The catalogue: forest and days, totals, what goes soon, sessions kept, archived and thrown away, and live ones."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.catalog import About, totals
from leafward.catalog.backups import kept_root
from leafward.compaction.aftermath_totals import OWN, AftermathSum, Maker
from leafward_tui.catalogue.model.listing import (
    ALONE,
    FAMILIES,
    Grouping,
    LineKind,
    Stock,
    View,
    list_sessions,
)
from leafward_tui.catalogue.model.totals_table import AftermathReading, aftermath_rows, totals_rows
from leafward_tui.catalogue.totals import TotalsScreen
from leafward_tui.catalogue.widgets.session_row import day_words
from leafward_tui.ui.keys.key_help import HelpScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.claude_transcript import IDS, Transcript
from tests.codex_rollout import Rollout
from tests.compacted_session import Compacted
from tests.opencode_store import Conversation, Database
from tests.tui.explored import exploring
from tests.tui.session_store import (
    NARROW,
    NOW,
    NOW_MS,
    WIDE,
    SessionFile,
    app_over,
    groups,
    lines_of,
    listed,
    mixed_store,
    previewed,
    reached,
    rows,
    shows,
    titles,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.pilot import Pilot

    from leafward_tui.catalogue.screen import CatalogueScreen


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pi's sessions, a fork of one in another project, and one that Claude Code deletes soon."""
    monkeypatch.setenv("HOME", "/home/ada")
    root = tmp_path / "all"
    mixed_store(root)
    return root


async def to_title(pilot: Pilot[int], screen: CatalogueScreen, title: str) -> None:
    at = next(
        number
        for number, line in enumerate(screen.sessions.listing.lines)
        if line.card is not None and line.card.title == title
    )
    screen.sessions.go(at)
    await pilot.pause()


# --- lines ------------------------------------------------------------------------------------------------------------


def test_the_forest_nests_across_projects(store: Path) -> None:
    listing = lines_of(store, grouping=Grouping.FOREST)
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
    by_project = {line.card.title: line for line in lines_of(store).lines if line.card is not None}
    assert by_project["the same in the attic"].nest == ()


def test_whose_relatives_are_hidden_stands_alone(store: Path) -> None:
    first, *others = titles(lines_of(store, grouping=Grouping.FOREST), FAMILIES)
    stock = lines_of(store).stock
    cards = [card._replace(archived=card.title in others) for card in stock.cards]
    listing = list_sessions(Stock(cards), View(grouping=Grouping.FOREST), NOW_MS)
    assert groups(listing) == [ALONE]
    assert first in titles(listing, ALONE)
    assert groups(list_sessions(Stock(cards), View(grouping=Grouping.FOREST, archived=True), NOW_MS)) == [
        FAMILIES,
        ALONE,
    ]


def test_days_begin_at_midnight_here_and_the_latest_is_first(store: Path) -> None:
    found = groups(lines_of(store, grouping=Grouping.DAY))
    assert found[0] == "2026-11-21", "the transcript is from a later year"
    assert found == sorted(found, reverse=True)
    assert day_words("2026-03-02", NOW.timestamp()) == "today"
    assert day_words("2026-03-01", NOW.timestamp()) == "yesterday"
    assert day_words("2026-02-21", NOW.timestamp()) == "Saturday 21 February"
    assert day_words("2025-12-31", NOW.timestamp()) == "Wednesday 31 December 2025"


def test_heads_add_up_to_the_totals(store: Path) -> None:
    for grouping in Grouping:
        listing = lines_of(store, grouping=grouping, archived=True)
        heads = [line for line in listing.lines if line.kind is LineKind.GROUP]
        used = sum(one.tokens for one in listing.stock.used.values())
        assert grouping is Grouping.NONE or sum(line.used.tokens for line in heads) == used
        assert used > 0


def test_rows_of_the_totals_add_up(store: Path) -> None:
    stock = lines_of(store).stock
    table = totals_rows(totals(stock.cards, stock.about.spent), frozenset({"/home/ada/attic"}))
    whole = next(row for row in table if row.name == "Total")
    assert whole.figures[0] == str(len(stock.cards))
    heads = [number for number, row in enumerate(table) if row.head]
    for first, last in zip(heads[1:], [*heads[2:], len(table)], strict=True):
        part = [row for row in table[first + 1 : last] if row.figures and not row.quiet]
        if table[first].name != "By day of use":
            assert sum(int(row.figures[0]) for row in part) == len(stock.cards)
    assert [row.name for row in table if row.missing] == ["/home/ada/attic"]
    assert max(row.share for row in table) == 1.0


def test_what_is_excluded_leaves_a_line(store: Path) -> None:
    stock = Stock(lines_of(store).stock.cards, None, lambda *_: About(excluded=3))
    last = list_sessions(stock, View(), NOW_MS).lines[-1]
    assert (last.kind, last.shown, last.words) == (LineKind.HIDDEN, 3, "excluded by the configuration")


# --- on the screen ----------------------------------------------------------------------------------------------------


async def test_v_goes_through_the_groupings(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        seen = [screen.sessions.listing.view.grouping]
        for _ in range(4):
            await pilot.press("v")
            await until(pilot, lambda: screen.sessions.listing.view.grouping is not seen[-1])
            seen.append(screen.sessions.listing.view.grouping)
        assert seen == list(Grouping)


async def test_missing_folders_and_costs_stand_in_the_heads(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        head = next(row for row in rows(app) if "~/orchard" in row)
        assert "project folder not found" in head
        assert "$0.07" in head
        await to_title(pilot, screen, "Port the selectors to the theme system")
        await previewed(pilot, screen)
        await until(pilot, lambda: "\n".join(rows(app)).count("project folder not found") > 1)
        assert any("started" in row and "$0.04" in row for row in rows(app)), "what the session cost"


def _says(app: App[Any], words: str) -> bool:
    return words in rows(app)[-1]


async def test_a_key_for_a_session_says_what_the_row_is_instead(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("g")
        await until(pilot, lambda: screen.view.card is None)
        for key, said in (
            ("A", "this row is a project or a day"),
            ("L", "no other project here has its name"),
        ):
            await pilot.press(key)
            await until(pilot, partial(_says, app, said))


async def test_what_goes_soon_is_kept_by_a_key(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        assert any("Count the pears" in row and "deleted in 2 days" in row for row in rows(app))
        await to_title(pilot, screen, "Count the pears")
        await previewed(pilot, screen)
        assert any("Y  keeps a copy" in row for row in rows(app))
        await pilot.press("Y")
        await until(
            pilot,
            lambda: any("kept a copy (1 file): Count the pears" in one.message for one in app._notifications),
        )
        assert [path.name for path in kept_root("claude").rglob("*.jsonl")] == [f"{IDS[0]}.jsonl"]
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, ChoiceSheet))
        assert any("claude's own files are never touched" in row for row in rows(app))
        await pilot.press("d", "escape")


async def test_a_session_is_thrown_away_and_brought_back(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await to_title(pilot, screen, "Port the selectors to the theme system")
        card = screen.sessions.card
        assert card is not None
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, ChoiceSheet))
        text = "\n".join(rows(app))
        assert "2 sessions made from it stay" in text
        assert "Move to the trash" in text
        assert "move 1 file to" in text, "where to comes first, the name of the file stands above"
        await pilot.press("enter")
        await until(pilot, lambda: not Path(card.path).exists())
        await shows(pilot, screen, lambda listing: card.path not in listing.at)
        await until(pilot, lambda: screen.enabled("session.undo"))
        title = "Port the selectors to the theme system"
        await until(pilot, lambda: f"in the trash: {title}" in [one.message for one in app._notifications])
        await pilot.press("u")
        await shows(pilot, screen, lambda listing: card.path in listing.at)
        assert not screen.enabled("session.undo")


async def test_a_session_is_archived_and_brought_back(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
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


async def test_where_the_last_session_of_a_project_is_archived_the_cursor_stays_near(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await to_title(pilot, screen, "Fix the idempotency bug")
        lines, stood = screen.sessions.listing.lines, screen.sessions.cursor
        below = next(line.card for line in lines[stood + 1 :] if line.card is not None)
        before = screen.sessions.listing.archived
        await pilot.press("A")
        await shows(pilot, screen, lambda listing: listing.archived == before + 1)
        assert screen.sessions.card is not None
        assert screen.sessions.card.path == below.path


async def test_the_totals_are_of_what_is_listed(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("slash", *"theme", "enter")
        await shows(pilot, screen, lambda listing: listing.view.text == "theme")
        await pilot.press("dollar_sign")
        await until(pilot, lambda: isinstance(app.screen, TotalsScreen))
        text = "\n".join(rows(app))
        assert "Totals" in text
        assert f"{screen.sessions.listing.shown + 1} of {screen.sessions.listing.total} sessions" in text
        await pilot.press("G", "q")
        await until(pilot, lambda: app.screen is screen)


@pytest.mark.parametrize(("size", "whole"), [((120, 60), True), ((80, 24), False)])
async def test_the_totals_use_the_height(store: Path, size: tuple[int, int], whole: bool) -> None:
    app = app_over(store)
    async with app.run_test(size=size) as pilot:
        await listed(pilot)
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.rows.size.height)
        assert (totals.rows.size.height >= totals.rows.count) == whole
        assert totals.rows.outer_size.height > 20


async def test_the_totals_in_sixty_columns_name_each_project_and_its_cost(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=(60, 40)) as pilot:
        screen = await listed(pilot)
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.rows.size.height)
        width = totals.rows.scrollable_content_region.width
        drawn = [
            "".join(piece.text for piece in totals.rows.render_line(y)) for y in range(totals.rows.count)
        ]
        heads = [row for row in drawn if row.split()[-3:] == ["sessions", "tokens", "cost"]]
        assert heads
        assert {len(row.rstrip()) for row in heads} == {width}, "the cost is in sight"
        paths = [line for line in totals.lines if line.path]
        assert any(line.missing for line in paths)
        for line in paths:
            row = drawn[totals.lines.index(line)]
            assert row.strip().startswith(("/", "~", "…")), row
            assert line.name.rpartition("/")[2][:12] in row, row
            assert row.split()[-2:] == [line.figures[1], line.figures[2]] if line.figures[2] else True
        for line in totals.lines:
            if line.share >= 0:
                assert drawn[totals.lines.index(line)].startswith(line.name)
        await pilot.press("q")
        await until(pilot, lambda: app.screen is screen)


async def test_the_totals_tell_projects_of_one_name_apart(tmp_path: Path) -> None:
    folders = ("/gone/soph/work/entire/devenv/cli", "/gone/alex/work/space/workspace/cli")
    for folder in folders:
        SessionFile(tmp_path, folder, "begin", ago=timedelta(hours=1)).turn("go on")
    app = app_over(tmp_path)
    async with app.run_test(size=NARROW) as pilot:
        await listed(pilot)
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.rows.size.height)
        text = "\n".join(rows(app))
        assert "/devenv/cli  not found" in text
        assert "/workspace/cli  not found" in text


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_totals_add_up_what_was_repeated(tmp_path: Path, size: tuple[int, int]) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    file = Compacted(folder / "s.jsonl")
    file.repeats()
    # A copy shares the compaction: it counts once.
    shutil.copy(file.path, folder / "copy.jsonl")
    app = app_over(folder)
    async with app.run_test(size=size) as pilot:
        await listed(pilot)
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.followed is not None)
        await pilot.press("G")
        await pilot.pause()
        head, line = (
            next(row for row in rows(app) if words in row) for words in ("Repeated after", "pi, scripted-1")
        )
        assert head.split("afterwards")[1].split()[:4] == ["compactions", "repeats", "tokens", "cost"]
        assert line.split("scripted-1")[1].split()[:3] == ["1", "4", str(file.aftermath().tokens)]
        assert "counting" not in "\n".join(rows(app))
        await pilot.press("q")


def test_who_compacted_is_said_where_it_was_leafward() -> None:
    sums = {
        Maker("pi", "anthropic/a", OWN): AftermathSum(compactions=2),
        Maker("pi", "anthropic/a", "codex"): AftermathSum(compactions=1),
    }
    table = aftermath_rows(AftermathReading(sums, 3, 3, 0))
    assert [row.name for row in table[2:]] == ["pi, a", "  Leafward, codex rules"]
    assert {row.figures[1:] for row in table[2:]} == {("·", "·", "·")}
    alone = {Maker("pi", "anthropic/a", "opencode"): AftermathSum(compactions=1)}
    table = aftermath_rows(AftermathReading(alone, 3, 3, 0))
    assert [(row.name, row.figures[:1]) for row in table[2:]] == [
        ("pi, a", ()),
        ("  Leafward, opencode rules", ("1",)),
    ]
    # In 80 columns four figures leave 26 cells.
    assert len(table[3].name) <= 26


def test_figures_that_still_grow_say_so_at_their_head() -> None:
    sums = {Maker("pi", "anthropic/a", OWN): AftermathSum(compactions=2)}
    names = [row.name for row in aftermath_rows(AftermathReading(sums, 2, 3, 0))]
    assert names[1:] == ["Repeated afterwards", "counting: session 3 of 3 with compactions", "pi, a"]


async def test_the_totals_explain_their_signs_and_words(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        await listed(pilot)
        await pilot.press("dollar_sign")
        await reached(pilot, TotalsScreen)
        await pilot.press("question_mark")
        await reached(pilot, HelpScreen)
        text = "\n".join(rows(app))
        assert "No session of the row records its cost" in text
        assert "Sent and received in all requests" in text


async def test_all_excluded_says_so(store: Path) -> None:
    config = Config(
        exclude=("/home/ada",), roots={"pi": (str(store / "pi"),), "claude": (), "codex": (), "opencode": ()}
    )
    app = app_over(config=config)
    async with app.run_test(size=NARROW) as pilot:
        await listed(pilot)
        # It stood there that sessions are looked for until the list was drawn anew for another reason.
        await pilot.pause()
        assert any("All 8 sessions are excluded." in row for row in rows(app))


# --- live -------------------------------------------------------------------------------------------------------------


async def test_a_session_that_grows_moves_up_by_itself(store: Path) -> None:
    app = app_over(store / "pi")
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        assert titles(screen.sessions.listing)[0] == "Port the selectors to the theme system"
        late = next(
            Path(line.card.path)
            for line in screen.sessions.listing.lines
            if line.card is not None and line.card.title == "Dark theme for the reading view"
        )
        message = {"role": "user", "content": "one more", "timestamp": NOW_MS - 1000}
        entry = {"type": "message", "id": "ffffffff", "parentId": "00000002", "message": message}
        with late.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        screen.stores.rested = 0.0
        await shows(pilot, screen, lambda listing: titles(listing)[0] == "Dark theme for the reading view")
        line = next(line for line in screen.sessions.listing.lines if line.card is not None)
        assert line.card is not None
        assert line.card.turns == 2


async def test_looking_again_rests_much_longer_than_it_looked(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        asked: list[int] = []
        monkeypatch.setattr(screen.stores, "look_around", lambda: asked.append(1))
        screen.stores.rested = float("inf")
        screen.stores.look_in_time()
        assert asked == []
        screen.stores.rested = 0.0
        screen.stores.look_in_time()
        assert asked == [1]


def growing_codex(root: Path) -> tuple[Path, Callable[[], object]]:
    rollout = Rollout(root / ".codex")
    rollout.turn("Plant pears", "Planted.")
    return rollout.path, lambda: rollout.turn("and plums", "Plums too.")


def growing_claude(root: Path) -> tuple[Path, Callable[[], object]]:
    talk = Transcript(root / ".claude")
    talk.turn("Plant pears", "Planted.")
    return talk.path, lambda: talk.turn("and plums", "Plums too.")


def growing_opencode(root: Path) -> tuple[Path, Callable[[], object]]:
    base, talk = Database(root / "opencode"), Conversation()
    talk.turn("Plant pears")
    base.write(talk)

    def grow() -> None:
        talk.turn("and plums")
        base.write(talk)

    return base.path / "ses_one", grow


@pytest.mark.parametrize("agent", [growing_codex, growing_claude, growing_opencode])
async def test_a_session_of_any_agent_is_followed(
    agent: Callable[[Path], tuple[Path, Callable[[], object]]], tmp_path: Path
) -> None:
    path, grow = agent(tmp_path)
    async with exploring(path) as (pilot, screen):
        assert "Plant pears" in "\n".join(rows(pilot.app))
        assert screen.state.following
        assert screen.state.session is not None
        known = len(screen.state.session)
        grow()
        await until(pilot, lambda: "and plums" in "\n".join(rows(pilot.app)))
        assert len(screen.state.session) > known
