"""Contrast as it is drawn: whatever chose an ink, a stylesheet or a line of its own, each word can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.command import CommandList

from leafward.base.config import Config
from leafward_tui.ui.appearance.colours import contrast
from tests.tui.session_store import NARROW, app_over, complete, listed, press_each, shown

if TYPE_CHECKING:
    from pathlib import Path

    from textual.geometry import Region

    from leafward_tui.app.app import LeafwardApp

READABLE = 4.5
"""The least contrast of text by WCAG 2.2, level AA."""


def weak_words(app: LeafwardApp, within: Region) -> dict[str, float]:
    """The words in a part of the screen that have less contrast than text needs."""
    found = {}
    for y, row in enumerate(app.screen._compositor.render_strips()):
        if not within.y <= y < within.bottom:
            continue
        for text, style, _ in row.crop(within.x, within.right):
            if style is None or style.color is None or style.bgcolor is None:
                continue
            ratio = contrast(style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex)
            if ratio < READABLE and any(sign.isalnum() for sign in text):
                found[text.strip()] = ratio
    return found


@pytest.mark.parametrize("theme", ["understory", "clearing"])
async def test_each_word_of_the_list_its_filter_and_the_commands_can_be_read(store: Path, theme: str) -> None:
    """It fails where what an empty field asks for, or the key of the chosen command, is faint: too weak on their grounds."""
    app = app_over(store, config=Config(theme=theme))
    async with app.run_test(size=NARROW) as pilot:
        await listed(pilot)
        await complete(pilot)
        assert "project:" in shown(pilot)
        assert weak_words(app, app.screen.region) == {}
        await press_each(pilot, "slash")
        await complete(pilot)
        assert weak_words(app, app.screen.region) == {}
        await press_each(pilot, "escape", "ctrl+p", "down")
        await complete(pilot)
        assert weak_words(app, app.screen.query_one(CommandList).region) == {}
