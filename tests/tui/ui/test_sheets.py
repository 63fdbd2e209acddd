"""Sheets that every screen shares."""

from __future__ import annotations

import re

import pytest
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Offset
from textual.screen import Screen
from textual.widgets import Input

from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.sheets.choice_sheet import LETTERS, Choice, ChoiceSheet
from leafward_tui.ui.sheets.key_help import HelpScreen
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import SheetLine, TextSheet
from leafward_tui.ui.sheets.theme_choice import ThemesScreen
from tests.tui.session_store import reached, rows, until
from tests.tui.ui.plain_screen import plain


async def test_keys_in_the_rule_of_a_modal_are_clicked_as_well() -> None:
    async with plain() as (pilot, screen):
        await pilot.press("t")
        themes = await reached(pilot, ThemesScreen)
        await until(pilot, lambda: any("esc cancel" in row for row in rows(pilot.app)))
        y, row = next((y, row) for y, row in enumerate(rows(pilot.app)) if "esc cancel" in row)
        y -= themes.rows.region.y
        await pilot.click(themes.rows, offset=(row.index("enter keep") - 3, y))
        await pilot.pause()
        assert pilot.app.screen is themes
        await pilot.click(themes.rows, offset=(row.index("esc cancel"), y))
        await until(pilot, lambda: pilot.app.screen is screen)


CHOICES = (
    Choice("m", "Move the leaf", "drops 79 entries, adds 55", "append 1 line to port.jsonl"),
    Choice("s", "Move with a summary", refused="comes later"),
    Choice("f", "Fork a new session", "writes a new file"),
)


async def test_a_choice_is_made_by_letter_by_enter_or_by_click() -> None:
    async with plain() as (pilot, screen):

        async def answer(*keys: str) -> object:
            screen.done.clear()
            sheet = ChoiceSheet("Move here", CHOICES, [SheetLine("careful", "warn")])
            pilot.app.push_screen(sheet, screen.done.append)
            await pilot.pause()
            if keys[0] == "click":
                await pilot.click(sheet.rows, offset=(10, int(keys[1])))
            else:
                await pilot.press(*keys)
            await until(pilot, lambda: screen.done)
            return screen.done[0]

        assert await answer("f") == "f"
        assert await answer("enter") == "m"
        assert await answer("j", "j", "enter") == "f"
        assert await answer("k", "enter") == "f"
        assert await answer("click", "2") == "f"
        assert await answer("escape") is None
        assert await answer("s", "q") is None


async def test_a_key_that_a_sheet_does_not_have_is_answered_until_the_next_key() -> None:
    async with plain() as (pilot, _screen):
        pilot.app.push_screen(ChoiceSheet("Move here", CHOICES))
        await pilot.pause()
        await pilot.press("exclamation_mark")
        await pilot.pause()
        assert "! does nothing here" in rows(pilot.app)[-1]
        await pilot.press("j")
        await pilot.pause()
        assert "does nothing here" not in rows(pilot.app)[-1]


async def test_a_sheet_explains_its_own_keys_and_words_ahead_of_those_of_the_screen_below() -> None:
    async with plain(size=(80, 150)) as (pilot, screen):
        cold = SheetLine("drops 5 entries; cache expired")
        sheet = ChoiceSheet("Move here", [*CHOICES, Choice("z", "Move there", "with an effect")], [cold])
        pilot.app.push_screen(sheet)
        await pilot.pause()
        await pilot.press("question_mark")
        await reached(pilot, HelpScreen)
        text = "\n".join(rows(pilot.app))
        assert "Keys, signs and words: Move here" in text
        assert re.search(r"^\W+z +Move there: with an effect", text, re.MULTILINE)
        assert "The last request is more than an hour old" in text
        assert text.index("cache expired") < text.index("Signs of the tree") < text.index("preview leaf")
        assert "Go to the child entry" not in text, "a key of the tree does nothing here"
        await pilot.press("question_mark")
        await until(pilot, lambda: pilot.app.screen is sheet)
        assert not screen.done


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_what_follows_from_a_choice_stands_beside_its_title(size: tuple[int, int]) -> None:
    async with plain(size=size) as (pilot, _):
        pilot.app.push_screen(ChoiceSheet("Move here", CHOICES))
        await pilot.pause()
        text = "\n".join(rows(pilot.app))
        assert "Move the leaf         drops 79 entries" in text
        assert "Move with a summary   comes later" in text


async def test_files_of_one_deep_folder_are_told_apart_by_their_names() -> None:
    deep = "/Users/ada/workspaces/orchard/packages/queue/src/modes/interactive"
    names = ("parse.py", "store.py")
    choices = [Choice(name[0], f"{deep}/{name}", "not there now", file=True) for name in names]
    async with plain(size=(80, 24)) as (pilot, _):
        pilot.app.push_screen(ChoiceSheet("Timeline", choices))
        await pilot.pause()
        text = "\n".join(rows(pilot.app))
        for name in names:
            assert f"/{name}" in text


async def test_a_long_title_leaves_room_for_what_follows_from_it() -> None:
    choices = [Choice("a", "word " * 40, "effect " * 20), Choice("b", "short", "something else")]
    async with plain() as (pilot, _):
        pilot.app.push_screen(ChoiceSheet("Move here", choices))
        await pilot.pause()
        first, *_, last = (row for row in rows(pilot.app) if "effect" in row or "something" in row)
        assert first.index("effect") == last.index("something")
        assert 0.3 < first.index("effect") / pilot.app.size.width < 0.7


async def test_a_choice_is_whole_on_a_narrow_screen() -> None:
    """It fails where only a reason is broken into lines: titles and effects were cut at the edge."""
    choices = [
        Choice("b", "Leave this prompt out, to write it anew", "puts the prompt on the clipboard"),
        Choice("h", "In the folder that Leafward runs in", "/home/ada/deep/er/and/deeper/still/x", path=True),
    ]
    async with plain(size=(60, 24)) as (pilot, screen):
        sheet = ChoiceSheet("New session from here", choices)
        pilot.app.push_screen(sheet, screen.done.append)
        await until(pilot, lambda: len(sheet.rows._lines) == 4)
        _, titles, effects = zip(*sheet.rows._lines, strict=True)
        assert " ".join(titles).split() == " ".join(one.title for one in choices).split()
        assert " ".join(effects).split() == " ".join(one.effect for one in choices).split()
        assert any("clipboard" in row for row in rows(pilot.app))
        assert [sheet.rows.row_at(y) for y in range(len(sheet.rows._lines))] == [0, 0, 1, 1]


async def test_choices_that_are_more_than_the_screen_scroll_above_their_keys() -> None:
    """It fails where the keys and the last choices lie below the screen."""
    choices = [Choice(letter, f"Choice {letter}", "an effect") for letter in "abcdefghilmnoprst"]
    async with plain((60, 16)) as (pilot, _):
        sheet = ChoiceSheet("New session from here", choices, [SheetLine("careful", "warn")])
        pilot.app.push_screen(sheet)
        await until(pilot, lambda: "esc cancel" in rows(pilot.app)[-1])
        assert "Choice a" in "\n".join(rows(pilot.app))
        assert "Choice t" not in "\n".join(rows(pilot.app))
        await pilot.press("k")
        await until(pilot, lambda: "Choice t" in rows(pilot.app)[-3])
        assert rows(pilot.app)[-3].startswith("▌")
        assert "esc cancel" in rows(pilot.app)[-1]
        for event, row in ((MouseScrollDown, "t"), (MouseScrollUp, "s")):
            sheet.rows.post_message(event(sheet.rows, 8, 0, 0, 0, 0, False, False, False))
            await pilot.pause()
            assert f"▌ {row}" in "\n".join(rows(pilot.app))
        await pilot.click(sheet.rows, offset=(8, 0))
        await until(pilot, lambda: pilot.app.screen is not sheet)
        assert sheet.rows.choices[sheet.rows.at].key == "h"


async def test_beside_the_bar_effects_are_whole_and_a_choice_in_force_has_one_mark() -> None:
    title = "is told in words that take two lines here"
    choices = [Choice(letter, f"{letter} {title}", "8 errors", current=letter == "a") for letter in LETTERS]
    async with plain((60, 16)) as (pilot, _):
        pilot.app.push_screen(ChoiceSheet("Branches", choices))
        await until(pilot, lambda: "esc cancel" in rows(pilot.app)[-1])
        shown = [row for row in rows(pilot.app) if "is told" in row]
        assert shown[0].endswith(UNICODE.tick)
        assert all("8 errors" in row for row in shown)
        assert "\n".join(rows(pilot.app)).count(UNICODE.ok) == 1


async def test_the_cursor_starts_on_the_first_choice_that_can_be_chosen() -> None:
    choices = (Choice("m", "Move the leaf", refused="the leaf is here"), Choice("e", "Move before this"))
    async with plain() as (pilot, screen):
        sheet = ChoiceSheet("Move here", choices)
        pilot.app.push_screen(sheet, screen.done.append)
        await pilot.pause()
        await pilot.press("k")
        assert any("the leaf is here" in row for row in rows(pilot.app))
        await pilot.press("enter", "enter")
        await pilot.pause()
        assert (pilot.app.screen, screen.done) == (sheet, [])
        await pilot.press("j", "enter")
        await until(pilot, lambda: screen.done)
        assert screen.done == ["e"]
        again = ChoiceSheet("Move here", choices)
        pilot.app.push_screen(again, screen.done.append)
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: len(screen.done) == 2)
        assert screen.done == ["e", "e"]


async def test_a_sheet_covers_the_foot_and_writes_the_operation_out() -> None:
    async with plain((80, 24)) as (pilot, screen):
        screen.title_bar.show("Port the selectors")
        pilot.app.push_screen(ChoiceSheet("Move here", CHOICES, note="turn 51"))
        await pilot.pause()
        shown = rows(pilot.app)
        assert "Port the selectors" in shown[0]
        assert shown[-8] == "━" * 80
        assert shown[-7].startswith(" Move here")
        assert shown[-7].endswith("turn 51")
        assert shown[-5].startswith("▌ m")
        assert shown[-1].startswith(" enter choose   esc cancel")
        assert shown[-1].endswith("append 1 line to port.jsonl")
        await pilot.press("j")
        await pilot.pause()
        assert rows(pilot.app)[-4].endswith("comes later")


async def test_the_key_that_opened_a_sheet_steps_through_it() -> None:
    async with plain() as (pilot, screen):
        pilot.app.push_screen(ChoiceSheet("Filter", CHOICES, cycle="ampersand"), screen.done.append)
        await pilot.pause()
        await pilot.press("ampersand", "ampersand", "enter")
        await until(pilot, lambda: screen.done)
        assert screen.done == ["f"]


async def test_a_text_is_followed_kept_or_left() -> None:
    heard: list[str] = []
    async with plain() as (pilot, screen):
        sheet = TextSheet(
            "Label this entry", "chec", operation_of=lambda text: f"label {text!r}", changed=heard.append
        )
        pilot.app.push_screen(sheet, screen.done.append)
        await pilot.pause()
        await pilot.press("k", "q")
        await pilot.pause()
        assert heard[-1] == "checkq"
        assert rows(pilot.app)[-1].endswith("label 'checkq'")
        await pilot.press("enter")
        await until(pilot, lambda: screen.done)
        pilot.app.push_screen(TextSheet("Name"), screen.done.append)
        await pilot.pause()
        await pilot.press("x", "escape")
        await until(pilot, lambda: len(screen.done) == 2)
        assert screen.done == ["checkq", None]


async def test_a_text_longer_than_its_field_is_seen_at_its_end() -> None:
    async with plain() as (pilot, screen):
        pilot.app.push_screen(TextSheet("Folder", "/" + "far/" * 60 + "here"), screen.done.append)
        await until(pilot, lambda: any(row.endswith("far/far/here") for row in rows(pilot.app)))
        await pilot.press("home")
        await until(pilot, lambda: any("/far/far/" in row and "here" not in row for row in rows(pilot.app)))


async def test_sheets_take_hostile_text() -> None:
    async with plain() as (pilot, _):
        pilot.app.push_screen(ChoiceSheet("a [/nope] b", [Choice("a", "[red]x", "[/]", "[/b]")], note="[/c]"))
        await pilot.pause()
        assert "a [/nope] b" in "\n".join(rows(pilot.app))


async def test_a_click_on_a_widget_just_removed_is_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    async with plain() as (pilot, screen):
        removed = Input()
        monkeypatch.setattr(Screen, "get_widget_and_offset_at", lambda *_: (removed, Offset(0, 0)))
        assert screen.get_widget_and_offset_at(3, 3) == (None, None)
        await pilot.click(offset=(3, 3))
        assert pilot.app.screen is screen


async def test_what_becomes_known_while_a_sheet_is_put_up_is_said_once() -> None:
    async with plain((80, 24)) as (pilot, _):
        sheet = ChoiceSheet("Move here", CHOICES)
        pilot.app.push_screen(sheet)
        sheet.show_about([SheetLine("it costs nothing")])
        await pilot.pause()
        await pilot.pause()
        assert sum("it costs nothing" in row for row in rows(pilot.app)) == 1


async def test_what_a_sheet_is_about_fits_every_size() -> None:
    about = SheetLine(
        "drops 63 entries (~14.0k tokens); 777 cached, 49.7k at full price; context 33.3k to 50.5k"
    )
    async with plain((100, 24)) as (pilot, _):
        pilot.app.push_screen(ChoiceSheet("Move", CHOICES, [about]))
        await until(pilot, lambda: any("33.3k to 50.5k" in row for row in rows(pilot.app)))
        await pilot.resize_terminal(70, 24)
        await until(pilot, lambda: any(row.strip() == "context 33.3k to 50.5k" for row in rows(pilot.app)))
        await pilot.resize_terminal(100, 24)
        await until(pilot, lambda: any("33.3k to 50.5k" in row for row in rows(pilot.app)))


async def test_a_key_that_does_nothing_while_one_reads_says_so() -> None:
    """On sheets with a text, in the list of keys and in a table, as on every other screen."""
    async with plain() as (pilot, _screen):

        def last() -> str:
            return " ".join(" ".join(row.split()) for row in rows(pilot.app)[-6:])

        sheet = ReadingSheet("What would be sent", "a text")
        pilot.app.push_screen(sheet)
        await pilot.pause()
        for key, said in (("enter", "nothing to choose in this text"), ("x", "x does nothing here; ?")):
            await pilot.press(key)
            await pilot.pause()
            assert said in last()
        await pilot.press("j")
        await pilot.pause()
        assert "does nothing" not in last()
        sheet.running = True
        await pilot.press("y")
        await pilot.pause()
        assert "copy: not finished yet" in last()
        sheet.ended("a text", "whole", operation="append 1 line")
        await pilot.pause()
        assert "not finished yet" not in last()
        assert "append 1 line" in last()
        pilot.app.pop_screen()

        pilot.app.push_screen(HelpScreen("draft"))
        await pilot.pause()
        await pilot.press("x")
        await pilot.pause()
        assert "x does nothing here" in "\n".join(rows(pilot.app))
        await pilot.press("j")
        await pilot.pause()
        text = "\n".join(rows(pilot.app))
        assert "does nothing here" not in text
        assert "scroll" in text
