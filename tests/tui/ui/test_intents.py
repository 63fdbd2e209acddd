from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from leafward_tui.compare.graft_sheet import GraftSheet
from leafward_tui.compare.merge_sheet import MergeSheet
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.keys import intents
from leafward_tui.ui.keys.intents import (
    APP_ACTIONS,
    EVERYWHERE,
    GROUPS,
    INTENTS,
    SCREENS,
    Intent,
    app_bindings,
    intent,
    intent_bindings,
    intents_for,
)
from leafward_tui.ui.keys.key_overrides import UNBOUND, Keymap, key_label, key_name
from leafward_tui.ui.keys.key_reasons import reason_for_intent, reason_for_key
from leafward_tui.ui.routed_screen import RoutedScreen
from tests.tui.compared import comparing, parted
from tests.tui.session_store import browsing, reached, rows, small_store, until

if TYPE_CHECKING:
    from pathlib import Path

BROAD_KEYS = {"enter", "space", "left", "right", *"12345"}
"""Keys that act on whatever is there: the row, what of it can be switched, the neighbour, the tab with this number.

Every other key has one meaning: the hints of its intents begin with the same word, and so do their titles.
"""


def test_every_intent_is_well_formed() -> None:
    ids = [entry.id for entry in INTENTS]
    assert len(set(ids)) == len(ids)
    for entry in INTENTS:
        area, verb = entry.id.split(".")
        assert area.isidentifier(), entry
        assert verb.isidentifier(), entry
        assert entry.group in GROUPS, entry
        assert set(entry.screens) <= set(SCREENS), entry
        assert 1 <= len(entry.hint.split()) <= 2, entry
        assert not entry.title.endswith("."), entry


@pytest.mark.parametrize("screen", SCREENS)
def test_no_two_intents_of_a_screen_share_a_key(screen: str) -> None:
    for one, other in combinations(intents_for(screen), 2):
        assert not {*one.default_keys} & {*other.default_keys}, (one.id, other.id)


def test_the_common_keys_mean_the_same_on_every_full_screen() -> None:
    common = {
        "j": "row.down",
        "k": "row.up",
        "g": "row.top",
        "G": "row.bottom",
        "?": "app.help",
        "tab": "pane.next",
        "escape": "mode.leave",
        "q": "app.back",
        "ctrl+p": "app.palette",
    }
    for screen in EVERYWHERE:
        found = {key: entry.id for entry in intents_for(screen) for key in entry.default_keys}
        assert {key: found.get(key) for key in common} == common


@pytest.mark.parametrize("screen", EVERYWHERE)
def test_bindings_carry_the_ids_a_keymap_needs(screen: str) -> None:
    bound = {binding.id for binding in intent_bindings(screen)}
    assert bound == {entry.id for entry in intents_for(screen)} - APP_ACTIONS.keys()
    assert {binding.id for binding in app_bindings()} == APP_ACTIONS.keys()
    assert all(binding.priority for binding in app_bindings())


def unanswered(screen: RoutedScreen[Any], name: str) -> list[str]:
    """Intents of a screen that nothing there does."""
    return [
        entry.id
        for entry in intents_for(name)
        if entry.id not in APP_ACTIONS and entry.id not in screen.routes
    ]


async def test_every_full_screen_does_something_for_each_of_its_intents(tmp_path: Path) -> None:
    small_store(tmp_path)
    async with browsing(tmp_path) as (pilot, _):
        ways = {
            "catalogue": ("S",),
            "search": ("escape", "slash", *"second", "enter", "enter"),
            "explorer": ("o",),
            "log": (),
        }
        for name, keys in ways.items():
            await until(
                pilot,
                lambda name=name: (
                    getattr(pilot.app.screen, "NAME", "") == name and pilot.app.screen.is_mounted
                ),  # type: ignore[misc]  # a screen of ours
            )
            if name == "explorer":
                explorer = await reached(pilot, ExplorerScreen)
                await until(pilot, lambda explorer=explorer: explorer.state.exploration is not None)  # type: ignore[misc]  # bound now
            assert isinstance(pilot.app.screen, RoutedScreen)
            assert unanswered(pilot.app.screen, name) == []
            await pilot.press(*keys)


def test_every_modal_does_something_for_each_of_its_intents() -> None:
    from leafward_tui.catalogue.totals import TotalsScreen
    from leafward_tui.ui.sheets.key_help import HelpScreen
    from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
    from leafward_tui.ui.sheets.theme_choice import ThemesScreen

    for screen in (HelpScreen("log"), ThemesScreen(), TotalsScreen((), ""), ReadingSheet("Summary")):
        assert unanswered(screen, screen.NAME) == []


async def test_the_comparison_does_something_for_each_of_its_intents(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (_, _, screen):
        sheets = (
            MergeSheet(cast("Any", SimpleNamespace(conflicts=()))),
            GraftSheet(screen.state.session, (), "A"),
        )
        for each in (screen, *sheets):
            assert unanswered(each, each.NAME) == []


# --- keymap -----------------------------------------------------------------------------------------------------------


def test_without_a_keymap_nothing_changes() -> None:
    keymap = Keymap.of({})
    assert keymap.textual == {}
    assert keymap.problems == ()
    assert keymap.labels("row.down") == ("j", "↓")
    assert keymap._replace(arrows=False).labels("row.down") == ("j", "down")
    assert "shift+←" in keymap.labels("slider.less_fine")
    assert keymap.label_while_typing("row.down") == "↓", "a field takes the letter"
    assert keymap.label("branch.next") == "]"


def test_keys_given_replace_all_keys_of_an_intent() -> None:
    keymap = Keymap.of({"mark.set": ("M", "ctrl+m")})
    assert keymap.textual == {"mark.set": "M,ctrl+m"}
    assert keymap.labels("mark.set") == ("M", "ctrl+m")
    assert keymap.problems == ()


def test_an_unknown_id_is_named_with_the_nearest() -> None:
    (problem,) = Keymap.of({"row.dwon": ("n",)}).problems
    assert "row.dwon" in problem
    assert "row.down" in problem


def test_the_one_the_user_bound_takes_the_key_and_the_loser_is_named() -> None:
    keymap = Keymap.of({"entry.child": ("x",)})
    assert keymap.keys["entry.child"] == ("x",)
    assert keymap.keys["tab.context"] == ("2",)
    (problem,) = keymap.problems
    assert "x is bound to entry.child and to tab.context" in problem
    assert keymap.textual == {"entry.child": "x", "tab.context": "2"}


def test_an_intent_left_without_a_key_says_so() -> None:
    keymap = Keymap.of({"entry.child": ("m",)})
    assert keymap.keys["mark.set"] == ()
    assert keymap.label("mark.set") == ""
    assert "mark.set is left without a key" in keymap.problems[0]


def test_an_empty_list_unbinds_because_textual_ignores_an_empty_text() -> None:
    keymap = Keymap.of({"app.quit": ()})
    assert keymap.textual == {"app.quit": UNBOUND}


def test_swapping_two_keys_is_no_clash() -> None:
    keymap = Keymap.of({"row.down": ("k",), "row.up": ("j",)})
    assert keymap.problems == ()
    assert keymap.keys["row.down"] == ("k",)


@pytest.mark.parametrize(
    ("written", "name", "label"),
    [
        ("[", "left_square_bracket", "["),
        ("esc", "escape", "esc"),
        ("Esc", "escape", "esc"),
        (" ", "space", "space"),
        ("J", "J", "J"),
        ("@", "at", "@"),
        ("Ctrl+P", "ctrl+p", "ctrl+p"),
        ("ctrl+/", "ctrl+slash", "ctrl+/"),
        ("return", "enter", "enter"),
    ],
)
def test_keys_are_written_as_people_write_them(written: str, name: str, label: str) -> None:
    assert key_name(written) == name
    assert key_label(name) == label


def test_the_catalogue_names_every_group_it_uses() -> None:
    assert {entry.group for entry in INTENTS} == set(GROUPS)
    assert intent("row.down") in intents.INTENTS


# --- one key, one meaning ---------------------------------------------------------------------------------------------


def two_meanings(entries: tuple[Intent, ...]) -> list[str]:
    """Keys with more than one meaning: the first words of the hints of their intents differ, or those of their titles.

    "Show" and "Choose" say nothing without what follows: behind these words the whole hints are the same.
    """
    meanings: dict[str, dict[tuple[str, str], str]] = {}
    for entry in entries:
        said, does = entry.title.split()[0].rstrip(":"), entry.hint
        meaning = (said, does if said in ("Show", "Choose", "Go", "Open") else does.split()[0])
        for key in entry.default_keys:
            if key not in BROAD_KEYS:
                meanings.setdefault(key_name(key), {})[meaning] = entry.id
    return [f"{key}: {found}" for key, found in meanings.items() if len(found) > 1]


def test_a_key_means_the_same_on_every_screen() -> None:
    assert two_meanings(INTENTS) == []


@pytest.mark.parametrize(
    ("known", "title", "hint"),
    [
        # The hint is the same, what it does is not: this was the list's `a` beside that of a restore.
        ("restore.all", "Show archived sessions", "all"),
        ("compare.open", "Move this session to the trash", "delete"),
        ("xray.open", "Show the folders of this session", "folders"),
    ],
)
def test_a_second_meaning_is_found(known: str, title: str, hint: str) -> None:
    second = intent("session.delete")._replace(keys=intent(known).keys, title=title, hint=hint)
    (found,) = two_meanings((*INTENTS, second))
    assert "session.delete" in found


def test_every_key_that_acts_on_whatever_is_there_is_used() -> None:
    assert {key for entry in INTENTS for key in entry.default_keys} >= BROAD_KEYS


def test_the_keys_of_the_contract_are_the_explorers() -> None:
    keys = {key: entry.id for entry in intents_for("explorer") for key in entry.default_keys}
    contract = {
        "J": "entry.child",
        "K": "entry.parent",
        "[": "branch.previous",
        "]": "branch.next",
        "{": "point.previous",
        "}": "point.next",
        "g": "row.top",
        "G": "row.bottom",
        "@": "leaf.go",
        "'": "mark.go",
        "f": "jump.labels",
        "tab": "pane.next",
        "enter": "move.here",
        "u": "operation.undo",
        "U": "operation.redo",
        "o": "log.open",
        "m": "mark.set",
        "d": "compare.open",
        "c": "lab.open",
        "s": "branch.summarise",
        "w": "tab.files",
        "x": "tab.context",
        "l": "label.edit",
        "r": "name.edit",
        "/": "find.open",
        "n": "find.next",
        "N": "find.previous",
        "&": "filter.choose",
        "z": "fold.toggle",
        "y": "copy.text",
        "e": "export.save",
        "t": "app.themes",
        "?": "app.help",
        "ctrl+p": "app.palette",
        "q": "app.back",
    }
    assert {key: keys.get(key) for key in contract} == contract


# --- why a key does nothing -------------------------------------------------------------------------------------------


def test_a_key_that_the_screen_does_not_have_says_so() -> None:
    keymap = Keymap.of({})
    for key in ("c", "S", "ctrl+s", "f12", "left"):
        assert reason_for_key(key, keymap) == f"{key} does nothing here; ? shows all keys"
    assert reason_for_key("question_mark") == "? does nothing here", "a sheet shows all its keys"


def test_what_an_intent_lacks_comes_with_the_key_that_helps() -> None:
    keymap = Keymap.of({})
    assert reason_for_intent("find.next", "log", keymap) == "next: no hits; / search"
    assert reason_for_intent("session.undo", "catalogue", keymap) == "nothing to undo"
    assert reason_for_intent("mark.go", "explorer", keymap) == "to mark: no mark is set; m mark"


async def test_a_key_that_can_do_nothing_says_why_until_the_next_key(tmp_path: Path) -> None:
    small_store(tmp_path)
    async with browsing(tmp_path) as (pilot, _):
        for key, words in (("u", "nothing to undo"), ("c", "c does nothing here; ? shows all keys")):
            await pilot.press(key)
            await until(pilot, lambda words=words: words in rows(pilot.app)[-1])  # type: ignore[misc]  # bound now
        await pilot.press("j")
        await until(pilot, lambda: "does nothing here" not in rows(pilot.app)[-1])
        assert "filter" in rows(pilot.app)[-1]


@pytest.mark.parametrize("key", ["\x1b", "\x07", "\u202e", "ctrl+\x1b", "\x1b[31m"])
def test_a_key_of_a_configuration_is_made_safe_before_it_is_shown(key: str) -> None:
    keymap = Keymap.of({"row.down": [key]})
    assert all(label.isprintable() for label in keymap.labels("row.down"))
