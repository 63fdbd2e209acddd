"""The explorer under keys and mouse: what moves, what is written, what is said."""

from __future__ import annotations

import json
import os
import random
import subprocess
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from leafward.config import Config
from leafward.demo import demo_session
from leafward.entries import Kind
from leafward_tui.commands import working_intents
from leafward_tui.exploration import Filter
from leafward_tui.folds import LineKind
from leafward_tui.graph import Density
from leafward_tui.intents import WRITES, intents_for
from leafward_tui.screens.explorer import ExplorerScreen
from leafward_tui.screens.explorer.finding import _FILTER_KEYS
from leafward_tui.screens.log import LogScreen
from leafward_tui.widgets.inspector import Tab
from leafward_tui.widgets.sheet import ChoiceSheet, TextSheet
from tests.pi_file import HEADER, PiFile
from tests.trees import random_plan, write_plan
from tests.tui.explored import NARROW, WIDE, Named, exploring, forked, here, note, ready, tree
from tests.tui.session_store import app_over, rows, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


@pytest.fixture
def file(tmp_path: Path) -> Named:
    return forked(tmp_path / "session.jsonl")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


async def chosen(pilot: Pilot[int], *keys: str) -> None:
    """Opens a sheet with the first key and answers with the others."""
    await pilot.press(keys[0])
    await until(pilot, lambda: isinstance(pilot.app.screen, (ChoiceSheet, TextSheet)))
    await pilot.press(*keys[1:])
    await pilot.pause()


def here_is(screen: ExplorerScreen, name: str) -> bool:
    return here(screen) == name


async def written(pilot: Pilot[int], screen: ExplorerScreen, total: int) -> None:
    """Waits until the session has so many entries and the screen shows them."""
    await until(
        pilot,
        lambda: (
            not screen.writing
            and screen.session is not None
            and len(screen.session) == total
            and screen.exploration is not None
            and screen.exploration.layout.tree is screen.session.tree
        ),
    )
    await pilot.pause()


class TestOpening:
    async def test_the_cursor_is_on_the_leaf(self, file: Named) -> None:
        async with exploring(file.path) as (_, screen):
            assert here(screen) == "d"
            assert screen.graph.has_focus
            drawn = tree(screen)
            assert "d prompt" in drawn[screen.graph.state.cursor]
            assert "leaf" in drawn[screen.graph.state.cursor]
            head = rows(screen.app)[0]
            assert "orchard › a prompt" in head
            assert f"{len(lines(file.path)) - 1} entries" in head
            assert "2 branches" in head
            assert "following" in head

    async def test_numbers_of_a_turn_are_in_their_columns(self, file: Named) -> None:
        async with exploring(file.path, (160, 40)) as (_, screen):
            assert [name for name, _ in screen.graph.columns.numbers] == ["edits", "calls", "tok"]
            row = next(row for row in tree(screen) if "b prompt" in row)
            assert row.split()[-3:-1] == ["1", "2"]
            failed = next(row for row in tree(screen) if "y prompt" in row)
            assert failed.split()[-4:-1] == ["×", "1", "2"]
            silent = next(row for row in tree(screen) if "a prompt" in row)
            assert silent.split()[-3:-1] == ["·", "·"]

    async def test_the_demo(self) -> None:
        with demo_session() as path:
            async with exploring(path) as (_, screen):
                assert "Stop jobs running twice" in rows(screen.app)[0]
                assert screen.exploration is not None
                assert not screen.exploration.session.columns.damage
                assert any("compaction" in row for row in tree(screen))

    @pytest.mark.parametrize("size", [(60, 16), NARROW, (100, 30), WIDE, (200, 60)])
    async def test_every_size_is_filled_to_the_cell(self, size: tuple[int, int], file: Named) -> None:
        async with exploring(file.path, size) as (pilot, screen):
            assert "d prompt" in "\n".join(rows(screen.app))
            strips: list[Any] = list(screen._compositor.render_strips())
            for strip in strips:
                parts = strip if isinstance(strip, list) else [strip]
                assert sum(part.cell_length for part in parts) == size[0]
            await pilot.press("k", "k", "enter")
            assert isinstance(screen.app.screen, ChoiceSheet)

    @pytest.mark.parametrize("size", [(59, 16), (60, 15), (40, 10)])
    async def test_below_sixty_by_sixteen_it_says_so(self, size: tuple[int, int], file: Named) -> None:
        app = app_over(file.path)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            shown = [row.strip() for row in rows(app) if row.strip()]
            assert shown == [f"needs 60 × 16, has {size[0]} × {size[1]}"]

    async def test_from_small_to_large_and_back(self, file: Named) -> None:
        async with exploring(file.path, (40, 10)) as (pilot, screen):
            await pilot.resize_terminal(*WIDE)
            await pilot.pause()
            panes = [screen.two_panes]
            await pilot.resize_terminal(*NARROW)
            await pilot.pause()
            panes.append(screen.two_panes)
            assert panes == [True, False]
            assert any("d prompt" in row for row in tree(screen))

    async def test_keys_before_it_is_read_do_nothing(self, file: Named) -> None:
        app = app_over(file.path)
        async with app.run_test(size=WIDE) as pilot:
            screen = app.screen
            assert isinstance(screen, ExplorerScreen)
            if screen.exploration is None:
                await pilot.press("j", "enter", "slash", "ampersand", "z", "v", "u", "l")
            await until(pilot, lambda: ready(screen))


class TestGoing:
    async def test_rows(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            names = []
            await pilot.press("g")
            for _ in range(7):
                names.append(here(screen))
                await pilot.press("j")
            assert names == ["a", "b", "x", "z", "y", "c", "d"]
            assert here(screen) == "d"
            await pilot.press("j")
            assert here(screen) == "d"
            await pilot.press("home")
            assert here(screen) == "a"
            await pilot.press("k")
            assert here(screen) == "a"
            await pilot.press("G")
            assert here(screen) == "d"
            await pilot.press("pageup")
            assert here(screen) == "a"
            await pilot.press("ctrl+d")
            assert here(screen) == "d"
            await pilot.press("ctrl+u", "pagedown")
            assert here(screen) == "d"

    async def test_along_the_tree(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            steps = [
                ("K", "c"),
                ("K", "b"),
                ("J", "c"),
                ("left_square_bracket", "x"),
                ("J", "y"),
                ("K", "x"),
                ("K", "b"),
                ("right_curly_bracket", "x"),
                ("left_curly_bracket", "b"),
                ("left_curly_bracket", "b"),
                ("at", "d"),
                ("right_square_bracket", "y"),
                ("right_square_bracket", "z"),
                ("right_square_bracket", "y"),
            ]
            for key, expected in steps:
                await pilot.press(key)
                assert here(screen) == expected, key

    async def test_the_mark(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("apostrophe")
            assert here(screen) == "d"
            await pilot.press("K", "K", "m", "G", "apostrophe")
            assert here(screen) == "b"
            assert any("'" in row[:3] and "b prompt" in row for row in tree(screen))
            await pilot.press("m", "G", "apostrophe")
            assert here(screen) == "d"

    async def test_letters_jump_to_a_row(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("f")
            row = next(row for row in tree(screen) if "x prompt" in row)
            letter = row.partition("x prompt")[0].split()[-1]
            await pilot.press(letter)
            assert here(screen) == "x"
            await pilot.press("f", "escape")
            assert here(screen) == "x"
            await pilot.press("f", "1")
            assert not screen.graph.jumping
            assert screen.inspector.tab is Tab.ENTRY

    async def test_folds(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("left_square_bracket", "K", "K")
            while here(screen) != "x":
                await pilot.press("j")
            await pilot.press("z")
            assert screen.graph.line is not None
            assert screen.graph.line.kind is LineKind.FOLDED_BRANCH
            assert "3 turns" in next(row for row in tree(screen) if "x prompt" in row)
            assert not any("y prompt" in row for row in tree(screen))
            await pilot.press("z")
            assert any("y prompt" in row for row in tree(screen))
            await pilot.press("Z")
            assert not any("y prompt" in row for row in tree(screen))
            await pilot.press("G", "left_square_bracket")  # a step leads into a fold
            assert any("y prompt" in row for row in tree(screen)) or here(screen) == "x"
            await pilot.press("Z", "Z")
            assert screen.exploration is not None
            assert len(screen.exploration.lines) <= len(screen.exploration.layout)

    async def test_densities_keep_the_entry(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K")
            for density in (Density.ENTRIES, Density.COMFORTABLE, Density.TURNS):
                await pilot.press("v")
                await pilot.pause()
                assert screen.exploration is not None
                assert screen.exploration.layout.density is density
                assert here(screen) == "b"
                assert any("b prompt" in row for row in tree(screen))

    async def test_the_density_of_the_configuration(self, file: Named) -> None:
        async with exploring(file.path, config=Config(density="entries")) as (_, screen):
            assert screen.exploration is not None
            assert screen.exploration.layout.density is Density.ENTRIES
            assert any("make b" in row for row in tree(screen))

    async def test_a_step_draws_two_rows(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("g")
            await pilot.pause()
            before = screen.graph.rendered
            await pilot.press("j")
            assert screen.graph.rendered - before <= 2


class TestGhost:
    async def test_appears_with_its_price_once_the_cursor_rests(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("right_square_bracket")  # from d to y
            await until(pilot, lambda: screen.price is not None)
            await pilot.pause()
            assert screen.ghost is not None
            drawn = "\n".join(tree(screen))
            assert "would be leaf" in drawn
            assert "┡━●" in drawn
            left = [row for row in tree(screen) if row.startswith((" −", "▌−"))]
            assert [" ".join(row.split()[2:4]) for row in left] == ["c prompt", "d prompt"]
            assert "leave" in note(screen)
            assert "enter" in note(screen)
            assert screen.price is not None
            assert (screen.price.left.entries, screen.price.entered.entries) == (4, 8)
            await pilot.press("escape")
            await until(pilot, lambda: screen.ghost is None)
            assert here(screen) == "d"
            assert "would be leaf" not in "\n".join(tree(screen))

    async def test_nothing_is_written(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("right_square_bracket")
            await until(pilot, lambda: screen.price is not None)
            await pilot.press("enter")
            await pilot.press("escape")
            await pilot.press("escape")
        assert file.path.read_bytes() == before


class TestMoving:
    async def test_appends_one_line_and_the_tree_follows(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("right_square_bracket")
            await until(pilot, lambda: screen.price is not None)
            await chosen(pilot, "enter", "m")
            await written(pilot, screen, total + 1)
            after = file.path.read_bytes()
            assert after.startswith(before)
            line = json.loads(after[len(before) :])
            assert (line["customType"], line["parentId"]) == ("leafward.leaf", file.ends["y"])
            assert here(screen) == "y"
            assert screen.ghost is None
            assert any("◎" in row and "y prompt" in row and " leaf" in row for row in tree(screen))
            assert "moved" in note(screen)
            assert "u undoes it" in note(screen)

    async def test_the_sheet_says_what_it_writes_and_esc_writes_nothing(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("right_square_bracket", "enter")
            await until(pilot, lambda: isinstance(screen.app.screen, ChoiceSheet))
            await pilot.pause()
            shown = "\n".join(rows(screen.app))
            assert "Move the leaf here" in shown
            assert f"append 1 line to {file.path.name}" in shown
            assert "c prompt" in shown  # the tree stays visible
            await pilot.press("escape")
            await pilot.pause()
            assert screen.app.screen is screen
            assert file.path.read_bytes() == before

    async def test_at_the_leaf_there_is_nothing_to_move(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(screen.app.screen, ChoiceSheet))
            await pilot.press("m")
            await pilot.pause()
            assert isinstance(screen.app.screen, ChoiceSheet)
            assert "the leaf is here" in "\n".join(rows(screen.app))

    async def test_before_a_prompt_its_text_is_copied(
        self, file: Named, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copied: list[str] = []
        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "copy", copied.append)
            total = len(lines(file.path)) - 1
            await pilot.press("K")
            await chosen(pilot, "enter", "e")
            await written(pilot, screen, total + 1)
            assert copied == ["c prompt"]
            assert lines(file.path)[-1]["parentId"] == file.ends["b"]
            assert here(screen) == "b"

    async def test_from_a_folded_branch_to_its_tip(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("g")
            while here(screen) != "x":
                await pilot.press("j")
            await pilot.press("z")
            await chosen(pilot, "enter", "m")
            await written(pilot, screen, total + 1)
            assert lines(file.path)[-1]["parentId"] == file.ends["y"]

    async def test_undo_and_redo(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("right_square_bracket")
            await chosen(pilot, "enter", "m")
            await written(pilot, screen, total + 1)
            await pilot.press("u")
            await written(pilot, screen, total + 2)
            assert here(screen) == "d"
            await pilot.press("U")
            await written(pilot, screen, total + 3)
            assert here(screen) == "y"
            await pilot.press("U")
            await until(pilot, lambda: "nothing to redo" in note(screen))
            assert len(lines(file.path)) - 1 == total + 3

    async def test_nothing_to_undo_is_said(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("u")
            await until(pilot, lambda: "refused: nothing to undo" in note(screen))

    async def test_a_write_over_another_s_is_refused(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("F")
            await pilot.press("right_square_bracket", "enter")
            await until(pilot, lambda: isinstance(screen.app.screen, ChoiceSheet))
            file.turn("e")
            before = file.path.read_bytes()
            await pilot.press("m")
            await until(pilot, lambda: "grew by 2 entries" in note(screen))
            assert file.path.read_bytes() == before

    async def test_a_newer_version_is_read_only(self, tmp_path: Path) -> None:
        newer = PiFile(tmp_path / "newer.jsonl", {**HEADER, "version": 4})
        newer.user("one")
        newer.user("two")
        before = newer.path.read_bytes()
        async with exploring(newer.path) as (pilot, screen):
            assert "read only" in rows(screen.app)[0]
            await pilot.press("k")
            await until(pilot, lambda: screen.price is not None)
            assert "move" not in rows(screen.app)[-1]
            assert not {entry.id for entry in working_intents(screen)} & WRITES
            for key in ("enter", "u", "U", "l", "r", "A"):
                screen.tell("")
                await pilot.press(key)
                await pilot.pause()
                assert screen.app.screen is screen, "nothing is asked that is refused afterwards"
                assert "read only: the file is of version 4" in note(screen), key
        assert newer.path.read_bytes() == before

    async def test_an_old_version_is_migrated_and_says_so(self, tmp_path: Path) -> None:
        old = PiFile(tmp_path / "old.jsonl", {**HEADER, "version": 2})
        old.user("one")
        old.user("two")
        old.user("three")
        async with exploring(old.path) as (pilot, screen):
            await pilot.press("k", "k")
            await chosen(pilot, "enter", "m")
            await until(pilot, lambda: lines(old.path)[0]["version"] == 3)
            await until(pilot, lambda: not screen.writing)
            await pilot.pause()
            assert "backup" in note(screen)
            assert lines(old.path)[-1]["parentId"] == "00000001"


class TestBookmarks:
    async def test_a_label(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("K")
            await chosen(pilot, "l", *"here", "space", *"now", "enter")
            await written(pilot, screen, total + 1)
            assert lines(file.path)[-1]["targetId"] == file.prompts["c"]
            assert any("[here now]" in row and "c prompt" in row for row in tree(screen))
            assert here(screen) == "c"
            await chosen(pilot, "l", *["backspace"] * 8, "enter")
            await written(pilot, screen, total + 2)
            assert not any("[here now]" in row for row in tree(screen))

    async def test_left_or_unchanged_it_writes_nothing(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "l", *"x", "escape")
            await chosen(pilot, "l", "enter")
            await chosen(pilot, "r", "enter")
            await pilot.pause()
            assert screen.app.screen is screen
        assert file.path.read_bytes() == before

    async def test_a_name(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await chosen(pilot, "r", *"named", "enter")
            await written(pilot, screen, total + 1)
            assert "orchard › named" in rows(screen.app)[0]
            assert here(screen) == "d"
            await pilot.press("u")
            await written(pilot, screen, total + 2)
            assert "orchard › a prompt" in rows(screen.app)[0]

    async def test_what_is_typed_is_no_markup(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await chosen(pilot, "l", "left_square_bracket", *"red", "right_square_bracket", "enter")
            await written(pilot, screen, total + 1)
            assert any("[[red]]" in row for row in tree(screen))

    async def test_a_branch_is_put_away_and_brought_back(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("right_square_bracket", "A")
            await written(pilot, screen, total + 1)
            drawn = tree(screen)
            assert not any("y prompt" in row for row in drawn)
            assert any("3 turns archived" in row for row in drawn)
            assert "1 archived" in rows(screen.app)[0]
            await pilot.press("g")
            while screen.graph.line is not None and screen.graph.line.kind is not LineKind.ARCHIVED:
                await pilot.press("j")
            await pilot.press("z")
            assert any("y prompt" in row for row in tree(screen))
            await pilot.press("A")
            await written(pilot, screen, total + 2)
            assert any("y prompt" in row for row in tree(screen))
            assert "archived" not in rows(screen.app)[0]

    async def test_the_path_cannot_be_put_away(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("A")
            await until(pilot, lambda: "cannot be archived" in note(screen))
        assert file.path.read_bytes() == before


class TestFinding:
    async def test_hits_are_lit_and_stepped_through(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"make", "enter")
            await until(pilot, lambda: len(screen.hits) == 2)
            assert screen.searched == "make"
            seen = []
            for _ in range(3):
                await pilot.press("n")
                seen.append(here(screen))
            assert set(seen) == {"b", "y"}
            assert seen[0] == seen[2]
            await pilot.press("N")
            assert here(screen) == seen[1]
            assert "of 2 rows" in note(screen)
            assert sum("›" in row[:3] for row in tree(screen)) == 2
            await pilot.press("escape")
            assert screen.searched == ""
            assert not screen.hits
            assert not any("›" in row[:3] for row in tree(screen))

    async def test_a_search_finds_folded_rows_and_leaving_it_goes_back(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("Z")
            await chosen(pilot, "slash", *"z", "space", *"prompt")
            await until(pilot, lambda: here(screen) == "z")
            await pilot.press("escape")
            await until(pilot, lambda: screen.app.screen is screen)
            assert here(screen) == "d"
            assert screen.searched == ""

    async def test_nothing_found_is_said(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"xyzzy", "enter")
            await until(pilot, lambda: "nothing found" in note(screen))
            await pilot.press("n")
            assert here(screen) == "d"

    async def test_commands_results_and_files_are_searched(self, file: Named) -> None:
        for words, where in (("it failed", "y"), ("src/b.py", "b"), ("C ANSWERED", "c")):
            async with exploring(file.path) as (pilot, screen):
                keys = ["space" if letter == " " else letter for letter in words]
                await chosen(pilot, "slash", *keys, "enter")
                await until(pilot, partial(here_is, screen, where))

    @pytest.mark.parametrize(
        ("wanted", "shown"),
        [
            (Filter.PROMPTS, "abxyzcd"),
            (Filter.COMPACTIONS, ""),
            (Filter.ERRORS, "y"),
            (Filter.EDITS, "by"),
            (Filter.LABELLED, "b"),
        ],
    )
    async def test_filters_leave_what_passes_and_count_the_rest(
        self, wanted: Filter, shown: str, file: Named
    ) -> None:
        key = dict(zip(Filter, _FILTER_KEYS, strict=False))[wanted]
        file.entry("label", targetId=file.prompts["b"], label="here")
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "ampersand", key)
            exploration = screen.exploration
            assert exploration is not None
            assert exploration.filter is wanted
            found = [exploration.lines.line(y) for y in range(len(exploration.lines))]
            names = {
                screen.painter.headline(exploration.layout.head[line.row]).text[0]
                for line in found
                if line.kind is LineKind.ROW
            }
            assert names == set(shown)
            assert sum(line.rows for line in found) == len(exploration.layout)
            await pilot.press("escape")
            assert exploration.filter is Filter.CONVERSATION

    async def test_every_filter_has_a_key_and_can_be_left(self, file: Named) -> None:
        assert len(_FILTER_KEYS) >= len(Filter)
        async with exploring(file.path) as (pilot, screen):
            exploration = screen.exploration
            assert exploration is not None
            for key, wanted in zip(_FILTER_KEYS, Filter, strict=False):
                await chosen(pilot, "ampersand", key)
                assert exploration.filter is wanted
                await pilot.press("j", "k", "g", "G")
                await pilot.pause()
            await pilot.press("escape")
            assert exploration.filter is Filter.CONVERSATION


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
                assert screen.inspector.tab is tab
                assert screen.graph.has_focus

    async def test_tab_goes_to_the_pane_and_esc_comes_back(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            focused = []
            for keys in (("tab",), ("j", "j", "k"), ("escape",), ("shift+tab",), ("tab",)):
                await pilot.press(*keys)
                focused.append(screen.graph.has_focus)
            assert focused == [False, False, True, False, True]
            assert here(screen) == "d"

    async def test_on_a_narrow_screen_panes_are_tabs(self, file: Named) -> None:
        async with exploring(file.path, NARROW) as (pilot, screen):
            shown = [(screen.graph.display, screen.inspector.display)]
            for key in (*["tab"] * 6, "x", "escape"):
                await pilot.press(key)
                shown.append((screen.graph.display, screen.inspector.display))
            tree_only, pane_only = (True, False), (False, True)
            assert shown == [tree_only, *[pane_only] * 5, tree_only, pane_only, tree_only]
            assert screen.inspector.tab is Tab.CONTEXT
            assert screen.graph.has_focus


class TestFollowing:
    async def test_what_is_appended_appears_and_the_cursor_goes_along(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.turn("e")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            assert here(screen) == "e"

    async def test_off_the_leaf_the_cursor_stays(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K")
            file.turn("e")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            assert here(screen) == "b"

    async def test_an_agent_that_branches_changes_what_is_straight(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.turn("e", "y")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            row = next(row for row in tree(screen) if "d prompt" in row)
            assert "┃ ○" in row

    async def test_it_can_be_switched_off(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("F")
            await pilot.pause()
            assert "following" not in rows(screen.app)[0]
            file.turn("e")
            for _ in range(20):
                await pilot.pause()
            assert not any("e prompt" in row for row in tree(screen))
            await pilot.press("F")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))

    async def test_bytes_read_are_bytes_appended(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            session = screen.session
            assert session is not None
            decoded = session.scan.decoded
            file.turn("e")
            await until(pilot, lambda: any("e prompt" in row for row in tree(screen)))
            assert session.scan.decoded == decoded
            assert session.scan.end == file.path.stat().st_size

    async def test_a_file_that_is_replaced_is_read_anew(self, file: Named, tmp_path: Path) -> None:
        async with exploring(file.path) as (pilot, screen):
            other = Named(tmp_path / "other.jsonl")
            other.turn("q")
            os.replace(other.path, file.path)
            await until(pilot, lambda: any("q prompt" in row for row in tree(screen)))
            assert not any("d prompt" in row for row in tree(screen))
            await until(pilot, lambda: ready(screen))
            await pilot.press("j", "k", "v")

    async def test_what_was_set_outlasts_that_the_file_is_replaced(self, file: Named, tmp_path: Path) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", "p", "r", "o", "m", "p", "t", "enter")
            await chosen(pilot, "ampersand", "p")
            await pilot.press("g", "j", "m")
            marked = here(screen)
            assert screen.session is not None
            old = screen.session
            text = file.path.read_bytes()
            other = tmp_path / "other.jsonl"
            head, _, rest = text.partition(b"\n")
            label = {"type": "session_info", "id": "99999999", "parentId": None, "name": "first of all"}
            other.write_bytes(head + b"\n" + json.dumps(label).encode() + b"\n" + rest)
            os.replace(other, file.path)
            await until(pilot, lambda: screen.session is not old and ready(screen))
            await pilot.pause()
            exploration = screen.exploration
            assert exploration is not None
            assert exploration.filter is Filter.PROMPTS
            assert exploration.session.columns.id(exploration.mark) == file.prompts[marked]
            assert here(screen) == marked
            await until(pilot, lambda: bool(screen.hits))

    async def test_folds_outlast_that_the_file_is_replaced(self, file: Named, tmp_path: Path) -> None:
        async with exploring(file.path) as (pilot, screen):
            while here(screen) != "x":
                await pilot.press("k")
            await pilot.press("z", "g")
            # The ghost of a move to the branch, with its own signs, goes once the cursor has rested.
            await until(pilot, lambda: any("┠─▸" in row for row in tree(screen)))
            folded = tree(screen)
            old = screen.session
            other = tmp_path / "other.jsonl"
            other.write_bytes(file.path.read_bytes())
            os.replace(other, file.path)
            await until(pilot, lambda: screen.session is not old and ready(screen))
            await until(pilot, lambda: tree(screen) == folded)

    async def test_a_file_that_shrinks_is_read_anew(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            whole = file.path.read_bytes().splitlines(keepends=True)
            file.path.write_bytes(b"".join(whole[:3]))
            await until(pilot, lambda: not any("d prompt" in row for row in tree(screen)))
            assert any("a prompt" in row for row in tree(screen))

    async def test_a_file_that_turns_into_something_else_is_said(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.path.write_bytes(b"")
            await until(pilot, lambda: "is empty" in note(screen))
            await pilot.press("j", "k", "enter", "escape")

    async def test_a_file_that_goes_away_stays_on_show(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            file.path.unlink()
            for _ in range(10):
                await pilot.pause()
            await pilot.press("K")
            assert here(screen) == "c"


class TestBadFiles:
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", "is empty"),
            (b"nonsense\n", "is not a session"),
            (b"\0" * 4000, "is not a session"),
        ],
        ids=["empty", "nonsense", "NULs"],
    )
    async def test_no_session_is_one_clear_line(self, data: bytes, said: str, tmp_path: Path) -> None:
        path = tmp_path / "bad.jsonl"
        path.write_bytes(data)
        async with exploring(path, (200, 32)) as (pilot, screen):
            await until(pilot, lambda: said in note(screen))
            for intent in intents_for("explorer"):
                if intent.id not in ("app.back", "app.quit", "app.palette", "app.help", "app.themes"):
                    screen.run_intent(intent.id)
                    await pilot.pause()
            assert screen.app.screen is screen
            await pilot.press("q")
        assert pilot.app.return_code == 0

    async def test_a_header_alone_has_nothing_to_show(self, tmp_path: Path) -> None:
        async with exploring(PiFile(tmp_path / "new.jsonl").path) as (pilot, screen):
            assert "0 entries" in rows(screen.app)[0]
            await pilot.press(
                "j", "k", "enter", "escape", "l", "escape", "z", "v", "f", "escape", "A", "y", "at"
            )
            assert screen.app.screen is screen

    async def test_damage_is_shown_where_it_is(self, file: Named) -> None:
        file.raw("{nonsense")
        file.raw("null")
        file.turn("e")
        file.user("lost", "ffffffff")
        file.turn("f", "e")
        async with exploring(file.path) as (_, screen):
            drawn = tree(screen)
            assert sum("malformed" in row for row in drawn) == 2
            assert any("the parent is not in this file" in row for row in drawn)
            assert "3 damaged" in rows(screen.app)[0]
            assert here(screen) == "f"

    async def test_a_line_that_proves_broken_moves_to_the_damage(self, file: Named) -> None:
        broken = (
            '{"type":"message","id":"0000fffe","parentId":"00000001","timestamp":"2026-11-21T21:00:00.000Z",'
            '"message":{"role":"user","content":[}'
        )
        file.raw(broken)
        file.turn("e", "d")
        async with exploring(file.path) as (_, screen):
            assert any("malformed" in row for row in tree(screen))
            assert "1 damaged" in rows(screen.app)[0]

    async def test_text_of_a_session_is_neither_markup_nor_escape(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "hostile.jsonl")
        file.user("[bold]not bold[/bold] \x1b[31mred\x1b]0;title\x07 \u202eback")
        file.said("[red]no[/red]\x1b[2J")
        file.entry("session_info", name="\x1b]0;owned\x07[blink]name")
        file.entry("label", targetId="00000001", label="\x1b[31m[b]")
        async with exploring(file.path) as (_, screen):
            shown = "\n".join(rows(screen.app))
            assert "[bold]not bold" in shown
            assert "\x1b" not in shown
            assert "\x07" not in shown
            assert "\u202e" not in shown
            assert "[blink]name" in shown

    async def test_a_random_tree_takes_any_keys(self, tmp_path: Path) -> None:
        path = write_plan(
            tmp_path / "wild.jsonl", random_plan(random.Random(3), 300, jumpy=0.15, shuffled=0.02)
        )
        rng = random.Random(8)
        keys = [
            *(
                "j",
                "k",
                "J",
                "K",
                "g",
                "G",
                "left_square_bracket",
                "right_square_bracket",
                "left_curly_bracket",
            ),
            *(
                "right_curly_bracket",
                "at",
                "m",
                "apostrophe",
                "z",
                "Z",
                "v",
                "escape",
                "tab",
                "x",
                "w",
                "1",
                "4",
            ),
            *("n", "N", "pagedown", "pageup", "F", "ctrl+d", "ctrl+u", "A", "u", "U"),
        ]
        before = path.read_bytes()
        async with exploring(path) as (pilot, screen):
            for _ in range(80):
                await pilot.press(rng.choice(keys))
                assert screen.app.screen is screen
            await until(pilot, lambda: not screen.writing)
        after = path.read_bytes()
        assert after.startswith(before)
        assert after.endswith(b"\n")
        assert all(isinstance(line, dict) for line in lines(path))


class TestMouse:
    async def test_a_click_selects_and_two_ask(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            y = next(y for y, row in enumerate(tree(screen)) if "c prompt" in row)
            await pilot.click("#graph", offset=(12, y))
            assert here(screen) == "c"
            assert screen.app.screen is screen
            await pilot.click("#graph", offset=(12, y), times=2)
            await until(pilot, lambda: isinstance(screen.app.screen, ChoiceSheet))

    async def test_a_click_on_its_sign_opens_a_fold(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("Z")
            await pilot.pause()
            y, row = next((y, row) for y, row in enumerate(tree(screen)) if "▸" in row and "x prompt" in row)
            await pilot.click("#graph", offset=(row.index("▸"), y))
            await until(pilot, lambda: any("y prompt" in row for row in tree(screen)))

    async def test_the_wheel_scrolls(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "long.jsonl")
        for number in range(80):
            file.turn(f"t{number}")
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("Z", "g")
            await pilot.pause()
            top = screen.graph.scroll_offset.y
            screen.graph.scroll_down(animate=False)
            await pilot.pause()
            assert screen.graph.scroll_offset.y > top

    async def test_a_hint_of_the_key_bar_runs(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            bar = rows(screen.app)[-1]
            await pilot.click(offset=(bar.index("search"), WIDE[1] - 1))
            await until(pilot, lambda: isinstance(screen.app.screen, TextSheet))


class TestHandingOn:
    async def test_y_copies_what_was_said(self, file: Named, monkeypatch: pytest.MonkeyPatch) -> None:
        copied: list[str] = []
        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "copy", copied.append)
            await pilot.press("y")
            assert copied
            assert "d prompt" in copied[0]

    async def test_an_export_is_written_to_the_folder(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "out"
        folder.mkdir()
        monkeypatch.chdir(folder)
        async with exploring(file.path) as (pilot, screen):
            for _ in range(2):
                await chosen(pilot, "e", "m")
                await until(pilot, lambda: screen.app.screen is screen)
            await until(pilot, lambda: len(list(folder.iterdir())) == 2)
        texts = [path.read_text() for path in folder.iterdir()]
        assert all("d prompt" in text and "y prompt" not in text for text in texts)

    async def test_resume_runs_the_agent_s_command_in_its_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = forked(tmp_path / "here.jsonl", cwd=tmp_path)
        ran: list[tuple[Any, dict[str, Any]]] = []
        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "suspend", nullcontext)
            monkeypatch.setattr(subprocess, "run", lambda argv, **named: ran.append((argv, named)))
            monkeypatch.setenv("LEAFWARD_SECRET", "ours")
            await pilot.press("R")
            await until(pilot, lambda: ran)
            argv, named = ran[0]
            assert argv[0].endswith("pi")
            assert str(file.path) in argv
            assert "LEAFWARD_SECRET" not in named["env"]
            assert named["cwd"] == named["env"]["PWD"] == str(tmp_path)

    async def test_where_the_terminal_cannot_be_lent_the_command_is_copied(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = forked(tmp_path / "here.jsonl", cwd=tmp_path)
        copied: list[str] = []
        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "copy", copied.append)
            await pilot.press("R")
            await until(pilot, lambda: copied)
            assert str(file.path) in copied[0]


class TestLog:
    async def test_shows_and_comes_back_to_the_entry(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("o")
            await until(pilot, lambda: isinstance(screen.app.screen, LogScreen))
            log = screen.app.screen
            assert isinstance(log, LogScreen)
            await until(pilot, lambda: log.list.deeds is not None)
            await pilot.press("g", "enter")
            await until(pilot, lambda: screen.app.screen is screen)
            assert here(screen) == "x"

    async def test_what_was_undone_there_is_undone_here(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("right_square_bracket")
            await chosen(pilot, "enter", "m")
            await written(pilot, screen, total + 1)
            await pilot.press("o")
            await until(pilot, lambda: isinstance(screen.app.screen, LogScreen))
            log = screen.app.screen
            assert isinstance(log, LogScreen)
            await until(pilot, lambda: log.list.operation is not None)
            await pilot.press("u")
            await until(pilot, lambda: isinstance(screen.app.screen, ChoiceSheet))
            await pilot.press("u")
            session = log.session
            await until(pilot, lambda: screen.app.screen is log and len(session) == total + 2)
            await until(pilot, lambda: not log.writing)
            await pilot.press("q")
            await written(pilot, screen, total + 2)
            assert here(screen) == "d"
            assert any("◎" in row and "d prompt" in row for row in tree(screen))


async def test_every_intent_of_the_explorer_can_be_run_anywhere(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        for intent in intents_for("explorer"):
            if intent.id in ("app.back", "app.quit", "agent.resume"):
                continue
            screen.run_intent(intent.id)
            await pilot.pause()
            for _ in range(4):
                if screen.app.screen is screen:
                    break
                await pilot.press("escape")
                await pilot.pause()
            assert screen.app.screen is screen, intent.id
        await until(pilot, lambda: not screen.writing)
    assert all(line["type"] for line in lines(file.path))


async def test_marks_of_every_kind_are_drawn(tmp_path: Path) -> None:
    file = Named(tmp_path / "kinds.jsonl")
    file.turn("a")
    file.compacted(file.prompts["a"])
    file.turn("b")
    file.entry("branch_summary", fromId="root", summary="elsewhere")
    file.entry("custom", customType="note", data={})
    file.turn("c")
    async with exploring(file.path) as (pilot, screen):
        assert any("◆" in row and "compaction" in row for row in tree(screen))
        assert any("◇" in row and "branch summary" in row for row in tree(screen))
        assert screen.session is not None
        assert Kind.CUSTOM in screen.session.columns.kind
        await chosen(pilot, "ampersand", "a")
        assert any("note" in row for row in tree(screen))
