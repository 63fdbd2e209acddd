"""The list of keys: the screen's own first, in columns, searched; the key bar beside it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from leafward.context.entry_metrics import EntryMetrics
from leafward.session.session import Session
from leafward_tui.explorer.controllers.modes import Situation, hints
from leafward_tui.explorer.model.overview import Overview
from leafward_tui.explorer.model.overview_drawing import draw
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.keys.intents import EVERYWHERE, INTENTS, Intent, intents_for
from leafward_tui.ui.keys.key_overrides import Keymap
from leafward_tui.ui.keys.legend import legend_of
from leafward_tui.ui.sheets.key_help import HelpScreen, columns_of, matching, sections_of
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.pi_file import conversation
from tests.tui.explored import Named, exploring, forked
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.ui.sheets.key_help import Sections

KEYMAP = Keymap.of({})


@pytest.mark.parametrize("screen", EVERYWHERE)
def test_the_screens_own_keys_come_first_and_none_is_missing(screen: str) -> None:
    sections = sections_of(screen)
    assert [title for title, _ in sections][-1] == "On every screen"
    assert sorted(entry.id for _, group in sections for entry in group) == sorted(
        entry.id for entry in intents_for(screen)
    )


@pytest.mark.parametrize("screen", EVERYWHERE)
@pytest.mark.parametrize(("width", "height", "most"), [(72, 21, 1), (112, 29, 2), (192, 57, 4)])
def test_columns_fill_the_width_and_cut_no_word(screen: str, width: int, height: int, most: int) -> None:
    sections = sections_of(screen)
    columns, keys, cells = columns_of(sections, KEYMAP, width, height)
    assert 1 <= len(columns) <= most
    assert len(columns) * (cells + 3) - 3 <= width
    assert all(cell_len(line.title) <= cells - keys for column in columns for line in column)
    words = " ".join(line.title for column in columns for line in column).split()
    assert words == " ".join(entry.title for _, group in sections for entry in group).split()
    lengths = [len(column) for column in columns]
    assert max(lengths) <= height or len(columns) == most


def test_a_key_is_found_by_itself_and_by_what_it_does() -> None:
    sections = sections_of("explorer")

    def found(words: str) -> list[str]:
        narrowed = matching(sections, words, KEYMAP)
        return [entry.id for _, group in narrowed for entry in group if isinstance(entry, Intent)]

    assert found("d") == ["compare.open"]
    assert found("fold") == ["fold.toggle", "fold.open", "fold.close", "fold.all"]
    assert found("NEW session") == ["session.fork", "session.heal"]
    assert found("nothing of the kind") == []


@pytest.mark.parametrize("screen", EVERYWHERE)
def test_signs_and_words_have_their_meaning_behind_the_keys(screen: str) -> None:
    legend = legend_of(screen, UNICODE)
    for width, height in ((67, 22), (112, 29), (192, 57)):
        columns, keys, cells = columns_of([*sections_of(screen), *legend], KEYMAP, width, height)
        assert all(cell_len(line.title) <= cells - keys for column in columns for line in column)
    assert [len(group) == len({entry.sign for entry in group}) for _, group in legend] == [True] * len(legend)
    plain = legend_of(screen, ASCII)
    assert all(entry.sign.isascii() for _, group in plain for entry in group)


def test_the_problems_of_a_row_are_explained() -> None:
    signs = dict(legend_of("catalogue", UNICODE)[0][1])
    assert "leafward doctor" in signs["! 1 damaged"]


def test_a_sign_and_a_word_are_found() -> None:
    sections: Sections = [*sections_of("explorer"), *legend_of("explorer", UNICODE)]
    assert [entry.title for _, group in matching(sections, "≠", KEYMAP) for entry in group] == [
        "A context edit: the model reads another text here"
    ]
    assert "Where the agent goes on" in [
        entry.title for _, group in matching(sections, "leaf", KEYMAP) for entry in group
    ]


async def test_the_list_of_keys_is_searched_while_one_types(tmp_path: Path) -> None:
    file = Named(tmp_path / "s.jsonl")
    file.turn("one")
    async with exploring(file.path) as (pilot, screen):
        await pilot.press("question_mark")
        await reached(pilot, HelpScreen)
        await until(pilot, lambda: "Keys, signs and words of the tree" in "\n".join(rows(pilot.app)))
        await pilot.press("slash")
        await reached(pilot, TextSheet)
        await pilot.press(*"unfold")
        await pilot.pause()
        text = "\n".join(rows(pilot.app))
        assert "Fold or unfold here" in text
        assert "Go to the parent entry" not in text
        await pilot.press(*" zzz")
        await until(pilot, lambda: "no key or sign has these words" in "\n".join(rows(pilot.app)))
        await pilot.press("enter", "escape")
        await pilot.pause()
        assert "Go to the parent entry" in "\n".join(rows(pilot.app)), "all keys again"
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)


@pytest.mark.parametrize("size", [(80, 24), (120, 32), (200, 60)])
async def test_nothing_is_left_of_the_screen_beside_the_list_of_keys(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    file = Named(tmp_path / "s.jsonl")
    file.turn("one")
    async with exploring(file.path, size) as (pilot, _screen):
        await pilot.press("question_mark")
        await reached(pilot, HelpScreen)
        await pilot.pause()
        shown = rows(pilot.app)
    framed = [row for row in shown if "│" in row and row.strip().startswith("│")]
    assert len(framed) > 15
    assert all(row.startswith("│") and row.endswith("│") for row in framed)


def test_every_sign_of_the_map_is_explained(tmp_path: Path) -> None:
    file = forked(tmp_path / "s.jsonl")
    with closing(Session.open(file.path)) as session:
        metrics = EntryMetrics(session)
        metrics.fill(session, range(len(session)))
        overview = sure(Overview.of(session, metrics))
        moved = overview.detour(session.columns.index(file.prompts["z"]))
        for glyphs in (UNICODE, ASCII):
            signs = {
                sign
                for detour in (None, moved)
                for line in draw(overview, 120, 4, glyphs, detour, [1]).signs
                for sign in line[11:]
            }
            known = {sign for _, group in legend_of("explorer", glyphs) for one in group for sign in one.sign}
            assert signs - known - set(glyphs.levels) == set()


def test_the_key_bar_of_the_tree_begins_with_what_one_wants_next() -> None:
    first = [hint.ids for hint in hints(Situation(on_path=True))]
    assert first[:4] == ["tab.context", "compare.open", "session.fork", "lab.open"]
    every = [
        hint.ids
        for now in (
            Situation(),
            Situation(proposed=True),
            Situation(in_tree=False),
            Situation(summarising=True),
        )
        for hint in hints(now)
    ]
    assert "row.down" not in every


def test_beside_the_tree_the_pane_names_the_keys_of_its_tabs() -> None:
    narrow = [hint.ids for hint in hints(Situation(in_tree=False))]
    wide = [hint.ids for hint in hints(Situation(in_tree=False, two_panes=True))]
    assert "pane.next" in narrow, "the key goes from tab to tab"
    assert "pane.next" not in wide, "there it leaves the pane"
    assert wide[2:6] == ["tab.context", "tab.compaction", "tab.files", "tab.raw"]


async def test_enter_is_named_where_a_page_has_something_to_open(tmp_path: Path) -> None:
    async with exploring(conversation(tmp_path / "s.jsonl").path, size=(80, 24)) as (pilot, screen):
        await pilot.press("3")
        await until(pilot, lambda: "No compaction" in "\n".join(rows(pilot.app)))
        await until(pilot, lambda: "open" not in rows(pilot.app)[-1])
        await pilot.press("2")
        await until(pilot, lambda: not screen.panes.in_tree and "open" in rows(pilot.app)[-1])


@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
async def test_the_key_bar_holds_whole_words(size: tuple[int, int], tmp_path: Path) -> None:
    file = Named(tmp_path / "s.jsonl")
    file.turn("one")
    async with exploring(file.path, size) as (pilot, _):
        await pilot.pause()
        bar = rows(pilot.app)[-1]
        assert bar.startswith(" x context")
        assert "b new session" in bar
        words = {word for entry in INTENTS for word in entry.hint.split()}
        keys = {label for entry in INTENTS for label in KEYMAP.labels(entry.id)}
        assert [word for word in bar.split() if word not in words | keys] == []
