"""What opens over the explorer closes once and hides nothing; what it tells of sessions without a word, and of a file that goes away."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from textual.containers import Vertical
from textual.widgets import Input

from leafward.base.safe_text import safe
from leafward_tui.explorer.controllers.cursor_details import selection
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.lab.screen import LabScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from leafward_tui.ui.sheets.theme_choice import ThemesScreen
from leafward_tui.xray.screen import XRayScreen
from tests.acting import call, usage
from tests.tui.considered import SMALL, working
from tests.tui.explored import NARROW, Named, exploring, note
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_second_enter_behind_the_first_writes_nothing_and_closes_nothing_else(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        await pilot.press("l")
        sheet = await reached(pilot, TextSheet)
        field = sheet.query_one(Input)
        field.value = "here"
        for _ in range(3):
            sheet.post_message(Input.Submitted(field, "here"))
        await until(pilot, lambda: pilot.app.screen is screen)
        await until(pilot, lambda: not screen.state.busy and "here" in file.path.read_text())
        await until(pilot, lambda: pilot.app.screen is screen)
    labels = [line for line in map(json.loads, file.path.read_text().splitlines()) if line["type"] == "label"]
    assert len(labels) == 1


@pytest.mark.parametrize(("key", "kind"), [("ampersand", ChoiceSheet), ("t", ThemesScreen)])
async def test_a_click_beside_it_leaves_the_explorer_open(
    file: Named, key: str, kind: type[ChoiceSheet | ThemesScreen]
) -> None:
    async with exploring(file.path) as (pilot, screen):
        await pilot.press(key)
        await reached(pilot, kind)
        await pilot.click(offset=(1, 1))
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.pause()
        assert isinstance(pilot.app.screen, ExplorerScreen)
        assert pilot.app.is_running


async def test_a_folded_branch_shows_what_a_move_to_it_enters(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        exploration = sure(screen.state.exploration)
        await pilot.press("g")
        while (
            screen.panes.tree.line is not None and screen.panes.tree.line.kind is not LineKind.FOLDED_BRANCH
        ):
            before = screen.panes.tree.line
            if exploration.layout.branch_of(before.row):
                await pilot.press("z")
            else:
                await pilot.press("j")
            assert screen.panes.tree.line is not None
        line = sure(screen.panes.tree.line)
        shown = selection(exploration, line)
        assert shown.at == exploration.target(line)
        assert len(shown) > len(exploration.layout.entries_of(line.row)[0])


async def test_a_file_that_goes_away_is_told_once_and_stays_readable(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        content = file.path.read_bytes()
        file.path.unlink()
        await until(pilot, lambda: "gone" in note(screen))
        await pilot.press("g", "4")
        assert sure(screen.state.session).body(0) is not None
        file.path.write_bytes(content)
        await until(pilot, lambda: "replaced" in note(screen))


async def test_no_text_of_a_session_reaches_the_screen_unchanged_where_a_terminal_would_act_on_it(
    tmp_path: Path,
) -> None:
    acted_on = "a\x1b[31mb\x9bc\u202ed\u2066e\u200bf\x07[bold]g[/]"
    file = Named(tmp_path / "session.jsonl")
    file.user(acted_on)
    target = file.said(acted_on, call("bash", acted_on, command=acted_on), call(acted_on, "x", path=acted_on))
    file.answered(acted_on, "bash", acted_on, failed=True)
    file.entry("label", targetId=target, label=acted_on)
    file.entry("session_info", name=acted_on)
    file.entry("compaction", summary=acted_on, firstKeptEntryId=target, tokensBefore=5)
    file.entry("branch_summary", summary=acted_on, fromId=acted_on)
    file.entry("custom_message", customType=acted_on, content=acted_on, display=True)
    file.entry("model_change", provider=acted_on, modelId=acted_on)
    file.entry(acted_on)
    file.raw(acted_on)
    async with exploring(file.path) as (pilot, screen):
        for key in ("v", "k", "k", "k", "2", "3", "4", "1", "v", "g", "Z", "2", "3", "4", "o"):
            await pilot.press(key)
            await pilot.pause()
            text = "\n".join(rows(screen.app))
            assert safe(text) == text, key
            assert "[bold]g[/]" in text or "bold" not in text


async def test_a_screen_that_is_not_loaded_yet_opens_once_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = working(tmp_path / "s.jsonl", 6)
    file.compacted(str(file.leaf), "## Goal\n- the zebra")
    file.user("go on")
    monkeypatch.setattr("leafward_tui.app.screens._SOON", ())
    async with exploring(file.path, NARROW, SMALL) as (pilot, screen):
        for key, module, kind in (
            ("X", "leafward_tui.xray.screen", XRayScreen),
            ("c", "leafward_tui.lab.screen", LabScreen),
        ):
            loaded = sys.modules[module]
            with monkeypatch.context() as without:
                without.delitem(sys.modules, module)
                without.setattr(
                    "leafward_tui.app.screens.import_module",
                    lambda name, loaded=loaded: sys.modules.setdefault(name, loaded),
                    raising=False,
                )
                await pilot.press(key)
                await until(pilot, lambda kind=kind: isinstance(pilot.app.screen, kind))  # type: ignore[misc]
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is screen)


async def test_compacting_is_offered_on_the_path_only(tmp_path: Path) -> None:
    file = working(tmp_path / "s.jsonl", 3)
    fork = file.leaf
    file.user("on a branch")
    aside = file.said("yes")
    file.leaf = fork
    file.user("on the path")
    file.said("yes", tokens=usage(2_000))
    async with exploring(file.path, (120, 32), SMALL) as (pilot, screen):
        assert isinstance(screen, ExplorerScreen)
        assert "c compact" in rows(pilot.app)[-1]
        screen.controllers.navigation.go_to_entry(screen.state.session.columns.index(aside))  # type: ignore[union-attr]  # it is read
        await until(pilot, lambda: screen.state.price is not None)
        await until(pilot, lambda: "c compact" not in rows(pilot.app)[-1])


@pytest.mark.parametrize("up", [1, 3, 9])
async def test_a_sheet_leaves_the_row_it_is_about_in_sight(tmp_path: Path, up: int) -> None:
    working(tmp_path / "s.jsonl", 30)
    async with exploring(tmp_path / "s.jsonl", NARROW, SMALL) as (pilot, screen):
        # A fold proposes no move: its turns do.
        await pilot.press("k", "right", "@")
        for _ in range(up):
            await pilot.press("k")
        await until(pilot, lambda: screen.state.price is not None)
        graph = screen.panes.tree
        height = graph.size.height
        await pilot.press("enter")
        await reached(pilot, ChoiceSheet)
        sheet = pilot.app.screen.query_one(Vertical)

        def in_sight() -> bool:
            cursor = graph.region.y + graph.state.cursor - graph.scroll_offset.y
            return graph.region.y <= cursor < sheet.region.y

        await until(pilot, in_sight)
        await pilot.press("escape")
        await until(pilot, lambda: graph.size.height == height)


async def test_a_session_without_a_word_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    header = {
        "type": "session",
        "version": 3,
        "id": "x",
        "timestamp": "2026-11-21T10:00:00Z",
        "cwd": "/w",
    }
    path.write_text(json.dumps(header) + "\n", encoding="utf-8")
    async with exploring(path, NARROW, SMALL) as (pilot, screen):
        assert "nothing was said" in note(screen)
        await pilot.press("c", "escape", "X", "escape")
        assert pilot.app.screen is screen
        assert "nothing was said" in note(screen)


async def test_why_there_is_no_session_stays(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    async with exploring(path, NARROW, SMALL) as (pilot, screen):
        await until(pilot, lambda: screen.state.trouble)
        await pilot.press("escape", "c", "X")
        assert screen.state.trouble[:30] in note(screen)
        assert [hint.ids for hint in screen.hints()] == ["app.back"]
