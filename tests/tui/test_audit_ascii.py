"""Leafward's own words and signs are ASCII where the locale is not UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from tests.tui.explored import NARROW, WIDE, exploring, forked
from tests.tui.session_store import app_over, rows, until

if TYPE_CHECKING:
    from pathlib import Path

KEYS = ("k", "k", "v", "v", "v", "k", "k", "2", "3", "4", "1", "tab", "z", "Z", "o")
SHEETS = ("enter", "ampersand", "e", "l", "slash", "t", "question_mark")


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_no_other_character_is_shown(tmp_path: Path, size: tuple[int, int]) -> None:
    file = forked(tmp_path / "session.jsonl")
    file.entry("compaction", summary="s", firstKeptEntryId=file.prompts["d"], tokensBefore=130_600)
    file.turn("after")
    async with exploring(file.path, size, Config(ascii=True, follow_interval=0.02)) as (pilot, screen):

        def seen(after: str) -> None:
            for row in rows(screen.app):
                assert row.isascii(), (after, row)

        seen("start")
        for key in (*KEYS, "escape", *(press for sheet in SHEETS for press in (sheet, "escape"))):
            await pilot.press(key)
            await pilot.pause()
            seen(key)


@pytest.mark.parametrize(
    ("keymap", "words"), [({"row.dwn": ("x",)}, "row.dwn"), ({}, "exported")], ids=["problem", "effect"]
)
async def test_a_toast_has_an_edge_of_ascii(
    tmp_path: Path, keymap: dict[str, tuple[str, ...]], words: str
) -> None:
    file = forked(tmp_path / "session.jsonl")
    app = app_over(file.path, config=Config(ascii=True, keymap=keymap))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        app.say("exported to /tmp/a.md")
        await until(pilot, lambda: any(words in row for row in rows(app)))
        assert [row for row in rows(app) if not row.isascii()] == []
