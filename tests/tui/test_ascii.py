"""Leafward's own words and signs are ASCII where the locale is not UTF-8."""

from __future__ import annotations

from datetime import timedelta
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.base.paths import config_dir
from leafward_tui.ui.appearance.glyphs import ASCII
from leafward_tui.ui.bars.price_line import BarNote, price_lines
from tests.tui.explored import NARROW, WIDE, exploring, forked
from tests.tui.session_store import SessionFile, app_over, listed, rested, rows, until

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


@pytest.mark.parametrize("size", [NARROW, (60, 20)], ids=str)
async def test_what_is_cut_in_a_narrow_terminal_ends_in_ascii(tmp_path: Path, size: tuple[int, int]) -> None:
    """The placeholder of the search, titles of commands and of a theme, the effect of an action, the sentence of an empty log."""
    folder = config_dir() / "themes"
    folder.mkdir(parents=True)
    tarn = (resources.files("leafward_themes") / "tarn.toml").read_text(encoding="utf-8")
    named = tarn.replace('"Tarn"', '"Tarn with a title that is too long"').replace('"tarn"', '"own"')
    (folder / "own.toml").write_text(named)
    SessionFile(
        tmp_path / "store", "/home/ada/shop", "begin with " + "a long title " * 9, ago=timedelta(hours=1)
    )
    seen = []
    app = app_over(tmp_path / "store", config=Config(ascii=True))
    async with app.run_test(size=size, notifications=True) as pilot:
        await listed(pilot)
        for key in ("S", "escape", "ctrl+p", "escape", "t", "escape", "A", "u", "enter", "o"):
            await pilot.press(key)
            await rested(pilot)
            seen += [(key, row) for row in rows(app)]
    assert [one for one in seen if not one[1].isascii()] == []
    assert any("Tarn with" in row for key, row in seen if key == "t")
    assert any("archived: begin with a long" in row for key, row in seen if key == "A")


def test_the_last_line_of_a_summary_that_grows_is_cut_in_ascii() -> None:
    note = BarNote("writes a summary", beneath="word " * 40)
    lines = price_lines(None, None, note, 60, 2, ASCII)
    assert all(text.isascii() for line in lines for text, _ink in line)
