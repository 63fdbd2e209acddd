"""Searching and filtering in the explorer."""

from __future__ import annotations

import json
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from leafward.query.search.in_session import EntryHits, find
from leafward.query.vocabulary import FIELDS, FUNCTIONS
from leafward.session.headlines.entry_headline import headline
from leafward.session.tree.tree_layout import Layout
from leafward_tui.explorer.controllers.row_filter import FILTER_KEYS
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.ghost import Ghost
from leafward_tui.inspector.pane import Inspector
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import call
from tests.tui.explored import (
    NARROW,
    Named,
    chosen,
    exploring,
    here,
    here_is,
    note,
    tree,
)
from tests.tui.session_store import HELD, files_written, reached, rested, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.explorer.screen import ExplorerScreen


def lit(screen: ExplorerScreen) -> list[str]:
    """Highlighted texts on the visible lines of the pane."""
    view = screen.query_one(Inspector).view
    inks = {ground.strong_hit for ground in services_of(screen).styles_now}
    return [
        segment.text
        for y in range(view.size.height)
        for segment in view.render_line(y)
        if segment.style is not None
        and segment.style.without_color.underline
        and any((segment.style.color, segment.style.underline) == (ink.color, True) for ink in inks)
    ]


class TestFinding:
    async def test_a_hit_that_a_move_drops_has_both_signs(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            exploration = sure(screen.state.exploration)
            layout, view = exploration.layout, screen.panes.tree
            view.set_hits(frozenset({layout.row_of(layout.leaf)}), "")
            await until(pilot, lambda: [row[:4] for row in tree(screen) if "◎" in row] == ["▌› ◎"])
            view.set_ghost(Ghost.of(layout, layout.head[0]))
            await until(pilot, lambda: [row[:4] for row in tree(screen) if "◎" in row] == ["▌−›◎"])

    async def test_hits_are_lit_and_stepped_through(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"make", "enter")
            await until(pilot, lambda: len(screen.state.search.rows) == 2)
            assert screen.state.search.text == "make"
            seen = []
            for _ in range(3):
                await pilot.press("n")
                seen.append(here(screen))
            assert set(seen) == {"b", "y"}
            assert seen[0] == seen[2]
            await pilot.press("N")
            assert here(screen) == seen[1]
            assert "of 2 with" in note(screen)
            assert sum("›" in row[:3] for row in tree(screen)) == 2
            await pilot.press("escape")
            assert screen.state.search.text == ""
            assert not screen.state.search.rows
            assert not any("›" in row[:3] for row in tree(screen))

    async def test_the_words_are_lit_unfolded_and_in_sight_in_the_pane(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "session.jsonl")
        file.turn("a")
        file.said(*(call("bash", f"c{number}", command=f"ls {number}") for number in range(30)))
        for number in range(30):
            output = "\n".join(f"line {line} of {number}" for line in range(40))
            file.answered(f"c{number}", "bash", output + (" the needle" if number == 28 else ""))
        file.said("done")
        file.turn("b")
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"the needle")
            await until(pilot, lambda: here(screen) == "a")
            assert any("place 1 of 1" in row for row in rows(pilot.app)[-4:]), "while it is typed"
            await pilot.press("enter")
            await until(pilot, lambda: lit(screen) == ["the needle"])
            await pilot.press("escape")
            await until(pilot, lambda: not lit(screen))

    async def test_hits_find_their_rows_beside_the_screen(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = Named(tmp_path / "session.jsonl")
        for number in range(200):
            file.turn(f"turn {number}")
        placed = 0
        really = Layout.row_of

        def counted(self: Layout, entry: int) -> int:
            nonlocal placed
            placed += threading.current_thread() is threading.main_thread()
            return really(self, entry)

        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(Layout, "row_of", counted)
            await chosen(pilot, "slash", *"answered")
            await until(pilot, lambda: len(screen.state.search.places) == 200)
            assert placed < 100

    async def test_several_places_of_a_row_are_stepped_through_each(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "session.jsonl")
        file.turn("a")
        file.said(
            "\n\n".join("the needle" if number in (2, 60) else f"line {number}" for number in range(80))
        )
        file.turn("b")
        file.said("one more needle")
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"needle", "enter")
            await until(pilot, lambda: len(screen.state.search.places) == 3)
            seen = []
            await pilot.press("N", "N", "N")
            for number in range(3):
                at = f"place {1 + screen.state.search.at} of 3, in 2 entries"
                await until(pilot, lambda: lit(screen))
                await pilot.pause()
                page = sure(screen.query_one(Inspector).page)
                seen.append((here(screen), page.goal))
                assert at in note(screen), number
                await pilot.press("n")
                await rested(pilot)
                await pilot.pause()
            assert [row for row, _ in sorted(seen)] == ["a", "a", "b"]
            assert len({goal for row, goal in seen if row == "a"}) == 2

    async def test_the_context_scrolls_to_the_message_of_a_hit(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "session.jsonl")
        file.turn("a")
        for number in range(60):
            file.said(f"reply {number}" + (" the needle" if number == 40 else ""))
        async with exploring(file.path) as (pilot, screen):
            screen.query_one(Inspector).show_tab(Tab.CONTEXT)
            await chosen(pilot, "slash", *"needle", "enter")
            pane = screen.query_one(Inspector)
            await until(pilot, lambda: pane.page is not None and pane.page.goal > 0)
            page = sure(pane.page)
            assert "the needle" in page.lines[page.goal].text
            await until(pilot, lambda: lit(screen) == ["needle"])

    async def test_a_search_finds_folded_rows_and_leaving_it_goes_back(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("Z")
            await chosen(pilot, "slash", *"z", "space", *"prompt")
            await until(pilot, lambda: here(screen) == "z")
            await pilot.press("escape")
            await until(pilot, lambda: screen.app.screen is screen)
            assert here(screen) == "d"
            assert screen.state.search.text == ""

    async def test_a_query_is_stepped_through_like_words(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"tool(bash)", "enter")
            await until(pilot, lambda: len(screen.state.search.rows) == 2)
            assert "matching tool(bash)" in note(screen)
            seen = set()
            for _ in range(2):
                await pilot.press("n")
                seen.add(here(screen))
            assert seen == {"b", "y"}
            await pilot.press("escape")
            assert not screen.state.search.rows
            await chosen(pilot, "ampersand", "y")
            sheet = pilot.app.screen
            assert isinstance(sheet, TextSheet)
            assert sheet.input.value == "tool(bash)"

    async def test_a_filter_without_a_match_offers_the_search(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "ampersand", "y")
            await chosen(pilot, *"labelled(nope)", "enter")
            await until(pilot, lambda: "no entry matches" in note(screen))
            assert "/ search text" in note(screen)

    async def test_what_a_query_cannot_mean_is_said(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"ancestors(nobody)", "enter")
            await until(pilot, lambda: "nobody" in note(screen))
            assert not screen.state.search.rows

    @pytest.mark.parametrize(
        ("typed", "told"),
        [
            ("tool(", "taken as plain text, not as a query"),
            ("tool(bash) & error()tool(", "error()tool( is taken as plain text"),
            ("since:soon & error()", "since: takes"),
        ],
    )
    async def test_what_is_no_query_is_said(self, file: Named, typed: str, told: str) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *typed, "enter")
            await until(pilot, lambda: told in note(screen))

    async def test_one_row_matches(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"tool(bash) & error()", "enter")
            await until(pilot, lambda: "row 1 of 1 matching tool(bash)" in note(screen))

    async def test_where_the_words_found_have_no_room_they_go_whole(self, tmp_path: Path) -> None:
        """It fails where the note ends in `with…`, which says nothing."""
        file = Named(tmp_path / "session.jsonl")
        for name in "ab":
            file.turn(name)
            file.said("needles and needles of a long kind")
        async with exploring(file.path, NARROW) as (pilot, screen):
            await chosen(pilot, "slash", *"needles of a long kind", "enter")
            await until(pilot, lambda: "place 2 of 2" in note(screen))
            await until(pilot, lambda: "n next" in note(screen))
            assert "with" not in note(screen)
            assert "…" not in note(screen)

    async def test_what_is_typed_replaces_the_last_search(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"xyzzy", "enter")
            await chosen(pilot, "slash", *"plugh", "enter")
            await until(pilot, lambda: screen.state.search.text == "plugh")

    async def test_every_function_of_a_query_is_named_on_a_narrow_screen(self, file: Named) -> None:
        async with exploring(file.path, NARROW) as (pilot, _):
            await chosen(pilot, "ampersand", "y")
            await reached(pilot, TextSheet)
            await until(
                pilot, lambda: all(name in " ".join(rows(pilot.app)) for name in (*FUNCTIONS, *FIELDS))
            )

    @pytest.mark.parametrize("filtered", [False, True])
    async def test_what_is_chosen_is_exported(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filtered: bool
    ) -> None:
        folder = tmp_path / "out"
        folder.mkdir()
        monkeypatch.chdir(folder)
        async with exploring(file.path) as (pilot, screen):
            if filtered:
                await chosen(pilot, "ampersand", "y")
                await pilot.press(*"tool(bash)", "enter")
                await until(pilot, lambda: "showing" in note(screen))
            else:
                await chosen(pilot, "slash", *"tool(bash)", "enter")
                await until(pilot, lambda: len(screen.state.search.rows) == 2)
            await chosen(pilot, "e", "O")
            await until(pilot, lambda: bool(files_written(folder)))
            (path,) = files_written(folder)
            assert path.name.endswith("-chosen.json")
            found = json.loads(path.read_text())
            wanted = sure(screen.state.exploration).chosen if filtered else screen.state.search.entries
            assert 0 < len(found["entries"]) == len(wanted)

    async def test_a_filter_that_no_row_passes_says_so(self, file: Named) -> None:
        """It fails where only `showing compactions` stands below a tree of hidden rows."""
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "ampersand", "i")
            await until(pilot, lambda: "no compactions or branch summaries" in note(screen))
            assert "clear filter" in note(screen)

    async def test_nothing_found_is_said(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"xyzzy", "enter")
            await until(pilot, lambda: "nothing found" in note(screen))
            await pilot.press("n")
            assert here(screen) == "d"

    async def test_while_it_searches_it_does_not_say_that_nothing_was_found(
        self, file: Named, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = threading.Event()

        def slow(*given: Any, **more: Any) -> EntryHits:
            answer.wait(HELD)
            return find(*given, **more)

        monkeypatch.setattr("leafward.query.search.in_session.find", slow)
        async with exploring(file.path) as (pilot, screen):
            screen.controllers.search.start("prompt")
            screen.controllers.search.cursor_moved()
            await pilot.pause()
            assert note(screen) == "searching: prompt"
            answer.set()
            await until(pilot, lambda: "place " in note(screen))

    async def test_hits_move_with_rows_that_are_laid_out_while_it_searches_again(
        self, file: Named, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = threading.Event()
        answer.set()

        def slow(*given: Any, **more: Any) -> EntryHits:
            answer.wait(HELD)
            return find(*given, **more)

        monkeypatch.setattr("leafward.query.search.in_session.find", slow)
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"prompt", "enter")
            await until(pilot, lambda: "place " in note(screen))
            answer.clear()
            screen.controllers.filter.set(Filter.EDITS)
            await pilot.press("n")
            assert (here(screen), note(screen).partition(", with")[0]) == (
                "b",
                "place 2 of 7, 5 hidden by the filter, still searching",
            )
            answer.set()
            await until(pilot, lambda: "still searching" not in note(screen))

    async def test_where_nothing_was_found_what_comes_later_is_found(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "slash", *"e prompt".replace(" ", ""), "enter")
            await until(pilot, lambda: "nothing found" in note(screen))
            file.turn("eprompt")
            await until(pilot, lambda: "nothing found" not in note(screen))
            assert here(screen) == "eprompt"

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
        key = dict(zip(Filter, FILTER_KEYS, strict=False))[wanted]
        file.entry("label", targetId=file.prompts["b"], label="here")
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "ampersand", key)
            exploration = sure(screen.state.exploration)
            assert exploration.filter is wanted
            found = [exploration.lines.line(y) for y in range(len(exploration.lines))]
            names = {
                headline(exploration.session, exploration.layout.head[line.row]).text[0]
                for line in found
                if line.kind is LineKind.ROW
            }
            assert names == set(shown)
            assert sum(line.rows for line in found) == len(exploration.layout)
            await pilot.press("escape")
            assert exploration.filter is Filter.CONVERSATION

    async def test_every_filter_has_a_key_and_can_be_left(self, file: Named) -> None:
        assert len(FILTER_KEYS) >= len(Filter)
        async with exploring(file.path) as (pilot, screen):
            exploration = sure(screen.state.exploration)
            for key, wanted in zip(FILTER_KEYS, Filter, strict=False):
                if wanted is Filter.CHOSEN:  # asks for the query first
                    continue
                await chosen(pilot, "ampersand", key)
                assert exploration.filter is wanted
                await pilot.press("j", "k", "g", "G")
                await pilot.pause()
            await pilot.press("escape")
            assert exploration.filter is Filter.CONVERSATION
