from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from leafward.catalog import Catalogue, Sort, projects
from leafward.config import Config
from leafward_tui import resume as resume_module
from leafward_tui.glyphs import ASCII
from leafward_tui.listing import Grouping, LineKind, Stock, View, list_sessions
from leafward_tui.screens.explorer import ExplorerScreen
from leafward_tui.widgets.session_row import Columns, tilde
from tests.tui.session_store import (
    NOW,
    SessionFile,
    app_over,
    listed,
    previewed,
    rows,
    small_store,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot
    from textual.widget import Widget

    from leafward_tui.listing import Listing, ListLine
    from leafward_tui.screens.catalogue import CatalogueScreen

WIDE = (140, 40)
NARROW = (80, 24)
NOW_MS = int(NOW.timestamp() * 1000)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "sessions"
    small_store(root)
    return root


def titles(screen: CatalogueScreen) -> list[str]:
    return [line.card.title for line in screen.sessions.listing.lines if line.card is not None]


def groups(screen: CatalogueScreen) -> list[str]:
    return [line.group for line in screen.sessions.listing.lines if line.kind is LineKind.GROUP]


async def shows(pilot: Pilot[int], screen: CatalogueScreen, holds: Callable[[Listing], object]) -> None:
    await until(pilot, lambda: holds(screen.sessions.listing))


async def filtered(pilot: Pilot[int], screen: CatalogueScreen, text: str) -> None:
    await pilot.press("slash", *({" ": "space", ":": "colon"}.get(one, one) for one in text))
    await shows(pilot, screen, lambda listing: listing.view.text == text.strip())


# --- lines ------------------------------------------------------------------------------------------------------------


def lines_of(store: Path, **view: Any) -> Listing:
    catalogue = Catalogue(Config(), [store])
    catalogue.refresh()
    return list_sessions(Stock(catalogue.cards(), catalogue.files()), View(**view), NOW_MS)


def nesting(lines: list[ListLine]) -> list[tuple[str, tuple[bool, ...]]]:
    return [(line.card.title, line.nest) for line in lines if line.card is not None]


def test_forks_hang_under_what_they_were_forked_from(store: Path) -> None:
    listing = lines_of(store)
    assert nesting(list(listing.lines))[:4] == [
        ("Port the selectors to the theme system", ()),
        ("Light theme, second attempt", (False,)),
        ("and once more, in blue", (False, False)),
        ("Refactor the agent loop", ()),
    ]


def test_a_fork_whose_parent_is_filtered_out_hangs_under_the_nearest_that_is_shown(store: Path) -> None:
    listing = lines_of(store, text="e")
    assert ("and once more, in blue", (False, False)) in nesting(list(listing.lines))
    only_blue = lines_of(store, text="blue")
    assert nesting(list(only_blue.lines)) == [("and once more, in blue", ())]


def test_counts_of_groups_and_hidden_rows_add_up(store: Path) -> None:
    listing = lines_of(store, text="theme")
    shown = sum(line.shown for line in listing.lines if line.kind is LineKind.GROUP)
    hidden = sum(line.shown for line in listing.lines if line.kind is LineKind.HIDDEN)
    assert shown == listing.shown == 3
    assert shown + hidden == listing.total == 7
    assert listing.archived == 1


def test_folded_groups_keep_their_count_and_lose_their_rows(store: Path) -> None:
    listing = lines_of(store, folded=frozenset({"/home/ada/orchard"}))
    (group,) = [line for line in listing.lines if line.group == "/home/ada/orchard"]
    assert (group.folded, group.shown, group.total) == (True, 4, 4)
    assert listing.shown == 6


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize("grouping", list(Grouping))
def test_every_session_stands_once_whatever_the_order(store: Path, sort: Sort, grouping: Grouping) -> None:
    listing = lines_of(store, sort=sort, grouping=grouping, archived=True)
    paths = [line.card.path for line in listing.lines if line.card is not None]
    assert len(paths) == len(set(paths)) == 7
    assert all(listing.lines[listing.at[path]].card.path == path for path in paths)  # type: ignore[union-attr]  # sessions
    assert listing.lines[0].kind is (LineKind.SESSION if grouping is Grouping.NONE else LineKind.GROUP)


def test_what_belongs_to_no_project_stands_last(store: Path) -> None:
    (store / "broken.jsonl").write_text("this is not a session\n")
    listing = lines_of(store)
    named = [line.group for line in listing.lines if line.kind is LineKind.GROUP]
    assert named[-1] == ""
    assert "" not in named[:-1]


def test_files_are_found_by_name(store: Path) -> None:
    listing = lines_of(store, text="file:header")
    (line,) = [line for line in listing.lines if line.card is not None]
    assert line.card is not None
    assert listing.files_found(line.card.path) == ("src/header.ts",)


@pytest.mark.parametrize("agents", [False, True])
@pytest.mark.parametrize("width", [*range(20, 160, 7)])
def test_columns_fill_the_width_and_the_text_yields_last(width: int, agents: bool) -> None:
    columns = Columns.of(width, agents=agents)
    used = 5 + columns.text + sum(size + gap for _, size, gap in columns.shown)
    assert used == width or columns.text == 0
    names = [name for name, _, _ in columns.shown]
    assert names[-1] == "when"
    if columns.text < 40:
        assert names == ["when"]
    for earlier, later in (("compact", "branches"), ("branches", "turns"), ("turns", "tokens")):
        assert later in names or earlier not in names


def test_the_home_folder_is_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert tilde("/home/ada/work") == "~/work"
    assert tilde("/home/adam/work") == "/home/adam/work"
    assert "\x1b" not in tilde("/home/ada/\x1b]52;c;x\x07")


# --- the screen -------------------------------------------------------------------------------------------------------


async def test_sessions_are_grouped_with_the_cursor_on_the_latest(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        assert groups(screen) == ["/home/ada/orchard", "/home/ada/payments", "/home/ada/notes"]
        assert screen.sessions.card is not None
        assert screen.sessions.card.title == "Port the selectors to the theme system"
        text = "\n".join(rows(app))
        assert "6 of 7" not in text
        assert "├─" not in text.split("Refactor", maxsplit=1)[0].split("Port", maxsplit=1)[0]
        assert "! 3 damaged" in text
        assert "1 session archived" in text


async def test_every_row_is_as_wide_as_its_pane(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        width = screen.sessions.scrollable_content_region.width
        assert {screen.sessions.render_line(y).cell_length for y in range(20)} == {width}


async def test_keys_move_over_blank_rows(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        seen = []
        for _ in range(7):
            line = screen.sessions.line
            assert line is not None
            seen.append(line.card.title if line.card else line.group)
            await pilot.press("j")
        assert seen[3:6] == ["Refactor the agent loop", "/home/ada/payments", "Fix the idempotency bug"]
        await pilot.press("G")
        assert screen.sessions.card is not None
        assert screen.sessions.card.title == "Dark theme for the reading view"
        await pilot.press("g")
        assert screen.sessions.cursor == 0
        await pilot.press("k")
        assert screen.sessions.cursor == 0


async def test_the_filter_follows_as_one_types_and_marks_what_it_finds(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await filtered(pilot, screen, "theme")
        assert titles(screen) == [
            "Port the selectors to the theme system",
            "Light theme, second attempt",
            "Dark theme for the reading view",
        ]
        assert "3 of 7 sessions" in "\n".join(rows(app))
        hits = [
            segment.text
            for y in range(3)
            for segment in screen.sessions.render_line(y)
            if segment.style is not None and segment.style.underline
        ]
        assert hits == ["theme", "theme"]
        await pilot.press("enter")
        assert not screen.filter_bar.editing
        assert screen.sessions.has_focus
        await pilot.press("n")
        assert screen.sessions.card is not None
        assert screen.sessions.card.title == "Light theme, second attempt"
        await pilot.press("escape")
        await shows(pilot, screen, lambda listing: not listing.view.text)
        assert screen.sessions.card.title == "Light theme, second attempt"


async def test_letters_typed_into_the_filter_are_no_commands(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await filtered(pilot, screen, "jq svz")
        assert app.screen is screen
        assert screen.sessions.listing.view == View(text="jq svz")
        assert any("No session matches." in row for row in rows(app))


async def test_a_term_that_means_nothing_is_named(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await filtered(pilot, screen, "since:soon")
        assert any("since: takes 30m" in row for row in rows(app))


async def test_text_of_a_session_is_neither_markup_nor_escape(tmp_path: Path) -> None:
    evil = "a [/nope] \x1b]52;c;aGk=\x07 [red]b \u202eback"
    session = SessionFile(tmp_path, "/home/ada/[bold]x\x1b[2J", evil, ago=timedelta(hours=1))
    session.name(evil + " named")
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await previewed(pilot, screen)
        text = "\n".join(rows(app))
        assert "[/nope]" in text
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


async def test_projects_fold_one_by_one_and_all_together(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("z")
        await shows(pilot, screen, lambda listing: listing.lines[0].folded)
        assert titles(screen) == ["Fix the idempotency bug", "Dark theme for the reading view"]
        assert screen.sessions.line is not None
        assert screen.sessions.line.group == "/home/ada/orchard"
        await pilot.press("enter")
        await shows(pilot, screen, lambda listing: not listing.lines[0].folded)
        await pilot.press("Z")
        await shows(pilot, screen, lambda listing: not any(line.card for line in listing.lines))
        await pilot.press("Z")
        await shows(pilot, screen, lambda listing: any(line.card for line in listing.lines))
        await pilot.press("left")
        await shows(pilot, screen, lambda listing: listing.lines[0].folded)
        await pilot.press("right")
        await shows(pilot, screen, lambda listing: not listing.lines[0].folded)


async def test_sort_and_grouping_are_remembered(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("s")
        await shows(pilot, screen, lambda listing: listing.view.sort is Sort.NAME)
        await pilot.press("v", "v", "v")
        await shows(pilot, screen, lambda listing: listing.view.grouping is Grouping.NONE)
        assert titles(screen)[0] == "Dark theme for the reading view"
        assert any("sort: name" in row for row in rows(app))
    again = app_over(store)
    async with again.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        assert screen.sessions.listing.view == View(sort=Sort.NAME, grouping=Grouping.NONE)


async def test_archived_sessions_are_a_key_away(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        assert "Spike: themeable checkout" not in titles(screen)
        await pilot.press("a")
        await shows(pilot, screen, lambda listing: listing.view.archived)
        assert "Spike: themeable checkout" in titles(screen)


async def test_the_preview_follows_once_the_cursor_rests(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await previewed(pilot, screen)
        text = "\n".join(row[93:] for row in rows(app))
        assert "1 branch" in text
        assert "now the header" in text
        assert "src/theme.ts" in text
        assert "+2" in text
        assert "4.2k / 200k" in text
        await pilot.press("j")
        await previewed(pilot, screen)
        assert any("Done: Light theme, second attempt." in row for row in rows(app))


async def test_the_cursor_stays_on_its_session_while_others_come(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("j", "j", "j")
        before = screen.sessions.card
        assert before is not None
        SessionFile(store, "/home/ada/orchard", "brand new", ago=timedelta(minutes=1))
        await pilot.press("ctrl+r")
        await shows(pilot, screen, lambda listing: listing.total == 8)
        assert titles(screen)[0] == "brand new"
        assert screen.sessions.card is not None
        assert screen.sessions.card.path == before.path


async def test_a_session_that_is_gone_leaves_the_list(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        shutil.rmtree(store / "--home-ada-notes--")
        await pilot.press("ctrl+r")
        await shows(pilot, screen, lambda listing: listing.total == 6)
        assert "/home/ada/notes" not in groups(screen)


async def test_a_file_that_is_no_session_says_why(tmp_path: Path) -> None:
    SessionFile(tmp_path, "/home/ada/orchard", "a sound one", ago=timedelta(hours=1))
    (tmp_path / "notes.jsonl").write_text("this is not a session\n")
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("G")
        await previewed(pilot, screen)
        text = "\n".join(rows(app))
        assert "! notes.jsonl" in text
        assert "cannot be read" in text
        assert screen.check_action("session_resume", ()) is False


async def test_enter_opens_and_q_comes_back_to_the_same_row(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(app.screen, ExplorerScreen))
        await pilot.press("q")
        await until(pilot, lambda: app.screen is screen)
        assert screen.sessions.card is not None
        assert screen.sessions.card.title == "Light theme, second attempt"


async def test_the_mouse_selects_folds_and_opens(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.click(screen.sessions, offset=(20, 2))
        assert screen.sessions.cursor == 2
        await pilot.click(screen.sessions, offset=(5, 0))
        await shows(pilot, screen, lambda listing: listing.lines[0].folded)
        await pilot.click(screen.sessions, offset=(20, 3), times=2)
        await until(pilot, lambda: isinstance(app.screen, ExplorerScreen))


async def test_a_click_on_a_heading_sorts(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        heading = rows(app)[screen.head.region.y].index("tokens")
        await pilot.click(screen.head, offset=(heading + 1, 0))
        await shows(pilot, screen, lambda listing: listing.view.sort is Sort.TOKENS)


def seen(widget: Widget) -> bool:
    return widget.is_on_screen


async def test_a_narrow_screen_has_one_pane(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=NARROW) as pilot:
        screen = await listed(pilot)
        assert not seen(screen.preview)
        assert "compact" not in rows(app)[2]
        await pilot.press("space")
        await previewed(pilot, screen)
        assert seen(screen.preview)
        assert not seen(screen.sessions)
        await pilot.press("escape")
        await pilot.pause()
        assert seen(screen.sessions)
        await pilot.press("tab")
        await pilot.pause()
        assert seen(screen.preview)


@pytest.mark.parametrize("size", [(59, 30), (100, 15), (20, 5)])
async def test_what_is_too_small_says_so(store: Path, size: tuple[int, int]) -> None:
    app = app_over(store)
    async with app.run_test(size=size) as pilot:
        await listed(pilot)
        text = "\n".join(rows(app))
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
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, ExplorerScreen))
        demo = app._demo
        assert demo is not None
        assert demo.is_file()
    assert not demo.exists()


async def test_ascii_has_nothing_else(store: Path) -> None:
    app = app_over(store, config=replace(Config(), ascii=True))
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await previewed(pilot, screen)
        assert app.glyphs is ASCII
        assert "\n".join(rows(app)).isascii()


async def test_the_path_is_copied(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("y")
        assert screen.sessions.card is not None
        assert app.clipboard == screen.sessions.card.path


async def test_resuming_hands_over_the_agents_own_command(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = SessionFile(store, str(tmp_path), "resume me", ago=timedelta(minutes=3))
    asked = []
    monkeypatch.setattr(resume_module, "run_in_agent", lambda _app, resume: asked.append(resume))
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        assert screen.sessions.card is not None
        assert screen.sessions.card.title == "resume me"
        await pilot.press("r")
        await until(pilot, lambda: asked)
    assert asked[0].argv == ("pi", "--session", str(session.path))
    assert asked[0].cwd == str(tmp_path)


async def test_a_session_whose_folder_is_gone_is_not_resumed(store: Path) -> None:
    app = app_over(store)
    async with app.run_test(size=WIDE) as pilot:
        await listed(pilot)
        await pilot.press("r")
        await until(
            pilot, lambda: any("folder of this session is gone" in one.message for one in app._notifications)
        )


async def test_painting_does_not_grow_with_the_list(tmp_path: Path) -> None:
    for number in range(120):
        SessionFile(tmp_path, "/home/ada/orchard", f"session {number}", ago=timedelta(hours=number + 1))
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.pause()
        painted: list[int] = []
        original = screen.sessions._painter

        def counting(width: int) -> Any:
            painted.append(width)
            return original(width)

        screen.sessions._painter = counting  # type: ignore[method-assign]  # counts rows that are made
        await pilot.press("j")
        await pilot.pause()
        assert len(painted) <= 2
        painted.clear()
        await pilot.press("G")
        await pilot.pause()
        assert len(painted) <= 40


# --- pictures ---------------------------------------------------------------------------------------------------------


def picture(snap_compare: Any, app: Any, size: tuple[int, int], *keys: str) -> bool:
    async def before(pilot: Pilot[int]) -> None:
        screen = await listed(pilot)
        await pilot.press(*keys)
        if screen.sessions.card is not None and screen.preview.display:
            await previewed(pilot, screen)
        await pilot.pause()

    return bool(snap_compare(app, terminal_size=size, run_before=before))


@pytest.fixture
def fixed_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store where nothing that is shown depends on the folder of this test."""
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setattr(projects, "missing_folders", lambda _projects: frozenset())
    small_store(tmp_path)
    return tmp_path


def test_picture_wide(snap_compare: Any, fixed_store: Path) -> None:
    assert picture(snap_compare, app_over(fixed_store), (120, 32))


def test_picture_narrow(snap_compare: Any, fixed_store: Path) -> None:
    assert picture(snap_compare, app_over(fixed_store), NARROW, "j", "j")


def test_picture_empty(snap_compare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "/home/ada/.pi/agent")
    monkeypatch.setenv("CODEX_HOME", "/home/ada/.codex")
    monkeypatch.setenv("XDG_DATA_HOME", "/home/ada/.local/share")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/home/ada/.claude")
    monkeypatch.chdir(tmp_path)
    assert picture(snap_compare, app_over(), (120, 32))
