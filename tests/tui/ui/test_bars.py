"""Bars, and the commands in the words of the key bar."""

from __future__ import annotations

import pytest

from leafward_tui.app.command_palette import IntentCommands
from leafward_tui.ui.bars.title_bar import Fact, Progress
from leafward_tui.ui.messages import IntentPressed
from tests.tui.session_store import until
from tests.tui.ui.plain_screen import plain

FACTS = (
    Fact("pi", keep=9),
    Fact("678", "entries", keep=8),
    Fact("8", "branches", short="", keep=2),
    Fact("4", "compactions", short="", keep=1),
    Fact("following", short="live", keep=10, hue="leaf"),
)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 140, 200])
async def test_bars_fill_every_width_and_say_the_most_important(width: int) -> None:
    async with plain((width, 30)) as (pilot, screen):
        screen.title_bar.show("Port the selectors to the theme system", crumb="pi-mono", facts=FACTS)
        await pilot.pause()
        for bar in (screen.title_bar, screen.key_bar):
            assert bar.render_line(0).cell_length == width
        title, keys = screen.title_bar.render_line(0).text, screen.key_bar.render_line(0).text
        assert title.startswith(" leafward")
        assert "following" in title or " live " in title
        assert ("pi-mono › Port" in title) == (width >= 100)
        assert ("›" in title) == ("pi-mono" in title), "nothing stands before the sign"
        assert ("compactions" in title) == (width >= 140)
        assert keys.startswith(" enter move")
        assert "? keys" in keys
        assert ("ctrl+p commands" in keys) == (width >= 100)
        assert ("back to leaf" in keys) == (width >= 100)


async def test_progress_stands_before_every_other_fact() -> None:
    async with plain((80, 24)) as (pilot, screen):
        screen.title_bar.show("Sessions", facts=FACTS)
        screen.title_bar.progress(Progress("indexing", 1904, 2318))
        await pilot.pause()
        text = screen.title_bar.render_line(0).text
        assert "━━━━╍╍ 1,904 / 2,318" in text
        assert text.endswith("live ")
        for progress, said in (
            (Progress("reading", 63, 300, "MB"), "╍ 63 / 300 MB"),
            (Progress("reading", None, 300, "MB"), "reading 300 MB"),
        ):
            screen.title_bar.progress(progress)
            await pilot.pause()
            assert said in screen.title_bar.render_line(0).text


async def test_a_click_on_a_hint_runs_it() -> None:
    async with plain() as (pilot, screen):
        await pilot.pause()
        at = screen.key_bar.render_line(0).text.index("@ leaf")
        await pilot.click(screen.key_bar, offset=(at + 3, 0))
        await until(pilot, lambda: screen.done)
        assert screen.done == ["leaf.go"]


async def test_a_click_on_one_of_two_keys_runs_that_key() -> None:
    async with plain() as (pilot, screen):
        await pilot.pause()
        at = screen.key_bar.render_line(0).text.index("[ ] ")
        for x in (0, 2, 4):
            await pilot.click(screen.key_bar, offset=(at + x, 0))
            await pilot.pause()
        assert screen.done == ["branch.previous", "branch.next", "branch.previous"]


async def test_a_click_on_a_key_that_does_nothing_now_says_why() -> None:
    async with plain() as (pilot, screen):
        screen.post_message(IntentPressed("theme.keep"))
        await until(pilot, lambda: screen.reason("theme.keep") in screen.key_bar.render_line(0).text)


async def test_a_command_is_found_by_its_words_in_the_key_bar() -> None:
    async with plain() as (_, screen):
        provider = IntentCommands(screen)
        found = [str(hit.text) async for hit in provider.search("compact")]
        assert "Open the compaction lab here" in found
        found = [str(hit.text) async for hit in provider.search("x-ray")]
        assert "Show a compaction or context edit before and after" in found


async def test_a_narrow_bar_says_in_words_what_fits() -> None:
    async with plain((80, 24)) as (pilot, screen):
        fact = Fact("8 branches", short="8", keep=5)
        screen.title_bar.show("Stop jobs running twice", crumb="hopper", facts=(fact,))
        await pilot.pause()
        assert screen.title_bar.render_line(0).text.endswith("8 branches ")
        screen.title_bar.show(
            "Stop jobs running twice, and tell the shop about it today", crumb="hopper", facts=(fact,)
        )
        await pilot.pause()
        assert screen.title_bar.render_line(0).text.endswith(" 8 ")


async def test_commands_that_hold_the_words_leave_the_others_out() -> None:
    async with plain() as (_, screen):
        found = [str(hit.text) async for hit in IntentCommands(screen).search("theme")]
        assert found == ["Choose a theme"]
