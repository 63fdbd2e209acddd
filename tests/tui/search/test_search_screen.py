"""The screen that searches all text: results by session as they come, and back and forth between them and the sessions."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from leafward.query.vocabulary import PARTS
from leafward_tui.catalogue.screen import CatalogueScreen
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.search.controllers.results import words_at
from leafward_tui.search.model.finds import HITS_SHOWN, FindKind, Finds, label_of
from leafward_tui.search.screen import SearchScreen
from leafward_tui.search.widgets.result_list import windowed
from leafward_tui.ui.panes.two_panes import has_two_panes
from tests.searched import found
from tests.tui.app.test_typeahead import at_once
from tests.tui.session_store import app_over, browsing, complete, listed, reached, rows, small_store, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.app import App
    from textual.pilot import Pilot

    from tests.tui.session_store import SessionFile

WIDE, SMALL = (140, 40), (80, 24)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, SessionFile]:
    monkeypatch.setenv("HOME", "/home/ada")
    files = small_store(tmp_path)
    notes = files["notes"]
    for number in range(9):
        notes.turn(f"theme number {number}", edit="/home/ada/notes/src/theme.ts")
    return files


async def searched(pilot: Pilot[int], text: str) -> SearchScreen:
    """The screen with a search that is finished, the keys in the results."""
    await listed(pilot)
    await pilot.press("S")
    screen = await reached(pilot, SearchScreen)
    await until(pilot, lambda: screen.bar.editing)
    await pilot.press(*text, "enter")
    await until(
        pilot, lambda: not screen.state.searching and screen.state.text == text and screen.results.has_focus
    )
    return screen


async def in_text(pilot: Pilot[int], screen: SearchScreen) -> None:
    """The text of the hit under the cursor is there."""
    line = sure(screen.results.line)
    await until(
        pilot,
        lambda: (
            screen.view.hit._hit is (line.hit or line.found.hits[0]) and screen.view.hit._text is not None
        ),
    )
    await pilot.pause()


async def test_hits_stand_below_their_sessions_newest_first(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        screen = await searched(pilot, "theme")
        titles = [found.card.title for found in screen.results.finds.sessions]
        assert titles == [
            "Port the selectors to the theme system",
            "Light theme, second attempt",
            "Spike: themeable checkout",
            "Dark theme for the reading view",
        ]
        assert screen.results.cursor == 1
        await in_text(pilot, screen)
        shown = rows(pilot.app)
        assert any("27 hits in 4 sessions" in row for row in shown)
        assert screen.view.hit._text == "Port the selectors to the theme system"
        more = next(line for line in screen.results.finds.lines if line.kind is FindKind.MORE)
        assert more.more == more.found.total - HITS_SHOWN


@pytest.mark.parametrize(
    ("text", "found", "words"),
    [
        (
            "the index was stale, and the index in cache-tree of it",
            ["index", "cache-tree"],
            "index in cache-tree",
        ),
        ("Theme, theme and theme", ["theme"], "Theme"),
        ("cache " + "x " * 90 + "tree", ["cache", "tree"], "cache"),
        ("nothing of it", [], "first"),
    ],
)
def test_a_hit_of_several_words_is_opened_at_the_place_that_has_them_all(
    text: str, found: list[str], words: str
) -> None:
    spans = sorted(at.span() for word in found for at in re.finditer(word, text, re.IGNORECASE))
    matched = text[slice(*spans[0])] if spans else "first"
    assert words_at(SimpleNamespace(text=text, spans=tuple(spans), matched=matched)) == words  # type: ignore[arg-type]


async def test_enter_opens_at_the_entry_and_back_again_all_stands_as_it_was(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        screen = await searched(pilot, "number 3")
        await pilot.press("j")
        line = sure(screen.results.line)
        assert line.hit is not None
        assert (line.hit.part, line.hit.role) == ("reply", "assistant")
        await pilot.press("enter")
        explorer = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: explorer.state.search.rows and explorer.state.exploration is not None)
        exploration = sure(explorer.state.exploration)
        at = exploration.session.columns.index(line.hit.entry)
        assert exploration.layout.head[explorer.panes.tree.row] == at
        assert explorer.state.search.text == "number 3"
        assert any("with “number 3”" in row for row in rows(pilot.app))
        await pilot.press("escape", "q")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert screen.results.line is line
        await pilot.press("q")
        await reached(pilot, CatalogueScreen)
        await pilot.press("S")
        again = await reached(pilot, SearchScreen)
        await until(pilot, lambda: again.bar.editing)
        assert again.results.line is line


async def test_the_key_of_the_search_leads_into_the_field_each_time(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    # What was typed the second time ran as commands, and so named and moved a session.
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        await searched(pilot, "theme")
        await pilot.press("q")
        await reached(pilot, CatalogueScreen)
        at_once(pilot, "Snumber")
        screen = await reached(pilot, SearchScreen)
        await until(pilot, lambda: screen.state.text == "number" and not screen.state.searching)
        assert screen.bar.editing


@pytest.mark.parametrize("key", ["down", "tab", "enter", "escape"])
async def test_the_results_of_before_are_one_key_away(
    tmp_path: Path, store: dict[str, SessionFile], key: str
) -> None:
    async with app_over(tmp_path).run_test(size=SMALL) as pilot:
        await searched(pilot, "theme")
        await pilot.press("j", "q")
        await reached(pilot, CatalogueScreen)
        await pilot.press("S")
        screen = await reached(pilot, SearchScreen)
        await until(pilot, lambda: screen.bar.editing and screen.results.finds.hits > 0)
        before = screen.results.cursor
        await pilot.press(key)
        await until(pilot, lambda: screen.results.has_focus)
        assert screen.state.text == "theme"
        assert screen.results.cursor == before


async def test_what_is_typed_is_searched_for_without_enter(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with browsing(tmp_path) as (pilot, _):
        await pilot.press("ctrl+f")
        screen = await reached(pilot, SearchScreen)
        assert any("on every branch" in row for row in rows(pilot.app))
        await until(pilot, lambda: screen.bar.editing)
        await pilot.press(*"selectors")
        await until(pilot, lambda: screen.results.finds.hits == 2)
        assert screen.bar.editing
        await pilot.press(*" nowhere")
        await until(pilot, lambda: screen.state.text.endswith("nowhere") and not screen.state.searching)
        assert any("Nothing found." in row for row in rows(pilot.app))


async def test_what_the_sessions_are_filtered_by_is_searched_for(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with browsing(tmp_path) as (pilot, _):
        await pilot.press("/", *"footer", "enter")
        await pilot.press("S")
        screen = await reached(pilot, SearchScreen)
        await until(pilot, lambda: screen.results.finds.hits == 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/(a/", "missing )"),
        ("since:7d", "Nothing to search for yet"),
        ("sice:7d selectors", "did you mean since:?"),
    ],
)
async def test_what_is_wrong_with_a_search_is_said(
    tmp_path: Path, store: dict[str, SessionFile], text: str, said: str
) -> None:
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        await searched(pilot, text)
        assert any(said in row for row in rows(pilot.app))


BROKEN = [
    ("in:foo theme", "system, not foo (column 1)"),
    ("since:lately", "since: takes 12h, 7d, 3mo, today or a date, not lately"),
    ("agent:foo theme", "agent: takes pi, codex, claude or opencode, not foo"),
    ("/[/", "unterminated character set"),
]
"""Searches that cannot be made, and why."""


async def test_a_broken_search_lists_nothing_and_says_why_in_full(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with app_over(tmp_path).run_test(size=SMALL) as pilot:
        for text, said in BROKEN:
            # Who comes back types another one in its place.
            screen = await searched(pilot, text)
            shown = " ".join(" ".join(row.split()) for row in rows(pilot.app))
            assert said in shown
            assert not screen.results.finds.lines
            await pilot.press("escape", "escape")
        await pilot.press("S")
        screen = await reached(pilot, SearchScreen)
        await until(pilot, lambda: screen.bar.editing)
        await pilot.press(*"selectors")
        await until(pilot, lambda: screen.state.text == "selectors" and screen.results.finds.hits)


async def test_what_a_search_takes_as_text_is_said_beside_its_hits(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        screen = await searched(pilot, '"theme')
        assert screen.results.finds.lines
        assert any("this quotation is never closed; read up to the end" in row for row in rows(pilot.app))


async def test_the_start_lists_every_part_that_in_takes(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with app_over(tmp_path).run_test(size=SMALL) as pilot:
        await searched(pilot, "")
        shown = " ".join(" ".join(row.split()) for row in rows(pilot.app))
        assert all(part in shown for part in PARTS)
        assert "leafward select" not in shown


async def test_keys_move_over_hits_sessions_and_panes(tmp_path: Path, store: dict[str, SessionFile]) -> None:
    async with app_over(tmp_path).run_test(size=SMALL) as pilot:
        screen = await searched(pilot, "theme")
        results = screen.results

        def panes() -> tuple[bool, bool]:
            return bool(screen.query_one("#results").display), bool(screen.view.hit.display)

        def kind() -> FindKind | None:
            return results.line.kind if results.line is not None else None

        await pilot.press("n")
        assert kind() is FindKind.SESSION
        await pilot.press("N")
        assert results.cursor == 0
        await pilot.press("G")
        assert results.cursor == len(results.finds.lines) - 1
        assert kind() is FindKind.MORE
        before = len(results.finds.lines)
        await pilot.press("enter")
        assert len(results.finds.lines) > before
        assert kind() is FindKind.HIT
        assert panes() == (True, False)
        await pilot.press("space")
        await in_text(pilot, screen)
        assert panes() == (False, True)
        await pilot.press("escape")
        assert panes() == (True, False)
        await pilot.press("g", "k", "k")
        assert results.cursor == 0


async def test_hidden_hits_are_shown_by_a_double_click_and_none_is_opened(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        screen = await searched(pilot, "theme")
        lines = screen.results.finds.lines
        at = next(at for at, line in enumerate(lines) if line.kind is FindKind.MORE)
        await pilot.double_click(screen.results, offset=(10, at - screen.results.scroll_offset.y))
        await complete(pilot)
        assert pilot.app.screen is screen
        assert [line for line in screen.results.finds.lines if line.kind is FindKind.MORE] == []


def test_a_line_of_hits_that_are_not_kept_is_not_said_to_show_them(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    finds = Finds()
    for session in found("theme", tmp_path):
        finds.add(replace(session, total=session.total + 7))
    assert [line.opens for line in finds.lines if line.kind is FindKind.MORE] == [False, False, False, True]
    finds.open_up(finds.sessions[-1].card.path)
    assert [line.opens for line in finds.lines if line.kind is FindKind.MORE] == [False] * 4


@pytest.mark.parametrize("size", [WIDE, SMALL])
async def test_without_results_no_key_goes_to_the_text(
    tmp_path: Path, store: dict[str, SessionFile], size: tuple[int, int]
) -> None:
    async with app_over(tmp_path).run_test(size=size) as pilot:
        await listed(pilot)
        await pilot.press("S")
        screen = await reached(pilot, SearchScreen)
        await until(pilot, lambda: screen.bar.editing)
        await pilot.press("tab", "tab")
        assert any("all of them, case ignored" in row for row in rows(pilot.app))
        assert "no other pane here" in rows(pilot.app)[-1]
        await pilot.press("slash", *"theme", "enter")
        await until(pilot, lambda: screen.results.finds.lines and not screen.state.searching)
        assert not screen.view.in_text
        await pilot.press("j")
        assert screen.results.cursor == 2


async def test_a_click_selects_and_a_second_opens(tmp_path: Path, store: dict[str, SessionFile]) -> None:
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        screen = await searched(pilot, "theme")
        await pilot.click(screen.results, offset=(10, 3))
        assert screen.results.cursor == 3
        await pilot.click(screen.results, offset=(10, 3), times=2)
        await reached(pilot, ExplorerScreen)


async def test_the_key_copies_what_the_verbs_take(
    tmp_path: Path, store: dict[str, SessionFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        screen = await searched(pilot, "selectors")
        copied: list[str] = []
        monkeypatch.setattr(pilot.app, "copy", copied.append)
        await pilot.press("y")
        assert screen.results.line is not None
        assert copied == [f"{store['port'].path} {sure(screen.results.line.hit).entry}"]


async def test_a_session_that_went_away_is_told(tmp_path: Path, store: dict[str, SessionFile]) -> None:
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        screen = await searched(pilot, "theme")
        await in_text(pilot, screen)
        store["light"].path.unlink()
        await pilot.press("n", "j")
        await until(pilot, lambda: bool(screen.view.hit._problem))
        assert any("No such file" in row for row in rows(pilot.app))


async def test_hostile_text_is_shown_and_never_acts(tmp_path: Path) -> None:
    from datetime import timedelta

    from tests.tui.session_store import SessionFile

    SessionFile(
        tmp_path,
        "/home/ada/x",
        "needle \x1b[31mred\x07 \u202e [bold]no[/bold] \ud83d",
        ago=timedelta(hours=1),
    )
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        screen = await searched(pilot, "needle")
        await in_text(pilot, screen)
        shown = "\n".join(rows(pilot.app))
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "[bold]no[/bold]" in shown


async def test_a_worktree_is_called_by_its_project(tmp_path: Path) -> None:
    from datetime import timedelta

    from tests.tui.session_store import SessionFile

    SessionFile(tmp_path, "/home/ada/orchard/.worktrees/1", "needle", ago=timedelta(hours=1))
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        await searched(pilot, "needle")
        assert any("needle   orchard/1  pi" in row for row in rows(pilot.app))


async def test_sessions_of_one_title_say_when_they_were_used(tmp_path: Path) -> None:
    """It fails where two sessions of one title, project and age are the same row twice."""
    from datetime import timedelta

    from tests.tui.session_store import SessionFile

    for days, prompt in ((3.1, "plant the needle"), (3.2, "plant the needle"), (2, "water the needle")):
        SessionFile(tmp_path, "/home/ada/orchard", prompt, ago=timedelta(days=days))
    async with app_over(tmp_path).run_test(size=WIDE) as pilot:
        await searched(pilot, "needle")
        heads = [row.split("orchard  pi")[1].split() for row in rows(pilot.app) if "orchard  pi" in row]
        assert [head[:2] for head in heads] == [["2", "hits"]] * 3
        assert [head[2] for head in heads] == ["2d", "27", "27"]
        assert heads[1] != heads[2]


def test_lines_never_move_while_results_come(tmp_path: Path, store: dict[str, SessionFile]) -> None:
    finds = Finds()
    lines: list[object] = []
    for session in found("theme", tmp_path):
        finds.add(session)
        assert finds.lines[: len(lines)] == lines
        lines = list(finds.lines)
    assert [line.kind for line in finds.lines[:5]] == [
        FindKind.SESSION, FindKind.HIT, FindKind.HIT, FindKind.HIT, FindKind.BLANK,
    ]  # fmt: skip
    assert label_of(finds.sessions[0].hits[0]) == ("you", "")


def test_a_window_shows_the_first_place() -> None:
    text = "x" * 100 + "needle" + "y" * 50
    shown, spans = windowed(text, [(100, 106)], 40, "…")
    assert [shown[start:stop] for start, stop in spans] == ["needle"]
    assert spans[0][1] < 40
    # A window begins with a whole word where there is one before the place.
    sentence = "Current branch: main Status: M src/calc.py Recent commits: one of them, then another"
    at = sentence.index("calc.py")
    shown, spans = windowed(sentence, [(at, at + 7)], 40, "…")
    assert shown.startswith("…M src/calc.py")
    assert [shown[start:stop] for start, stop in spans] == ["calc.py"]
    assert windowed("a needle", [(2, 8)], 40, "…") == ("a needle", [(2, 8)])
    # Nothing is left out where all of it has room, or where nothing stands before it that could be.
    ends = "x" * 30 + " needle"
    assert windowed(ends, [(31, 37)], 40, "…") == (ends, [(31, 37)])
    assert windowed("needle" * 10, [(0, 60)], 40, "…") == ("needle" * 10, [(0, 60)])


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
def test_the_search(
    snap_compare: Callable[..., bool], tmp_path: Path, store: dict[str, SessionFile], size: tuple[int, int]
) -> None:
    async def before(pilot: Pilot[int]) -> None:
        screen = await searched(pilot, "theme")
        await pilot.press("j")
        if has_two_panes(screen.app.size):
            await in_text(pilot, screen)
        await complete(pilot)

    app: App[int] = app_over(tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=before)


async def test_what_is_typed_at_once_with_the_key_stands_in_the_field(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with browsing(tmp_path) as (pilot, _):
        at_once(pilot, "Sfactorial")
        screen = await reached(pilot, SearchScreen)
        await until(pilot, lambda: screen.state.text == "factorial")


async def test_what_is_typed_at_once_with_the_filter_key_filters(
    tmp_path: Path, store: dict[str, SessionFile]
) -> None:
    async with browsing(tmp_path) as (pilot, screen):
        at_once(pilot, "/theme")
        await until(pilot, lambda: screen.state.list.view.text == "theme")


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_the_key_bar_offers_no_key_that_the_field_takes(
    size: tuple[int, int], store: dict[str, SessionFile], tmp_path: Path
) -> None:
    async with browsing(tmp_path, size=size) as (pilot, _):
        assert "? keys" in rows(pilot.app)[-1]
        await pilot.press("S")
        screen = await reached(pilot, SearchScreen)
        await until(pilot, lambda: screen.bar.editing)
        await until(pilot, lambda: "? keys" not in rows(pilot.app)[-1])
        assert "ctrl+p commands" in rows(pilot.app)[-1]
        await pilot.press(*"theme", "enter")
        await until(pilot, lambda: screen.results.has_focus)
        await until(pilot, lambda: "? keys" in rows(pilot.app)[-1])
