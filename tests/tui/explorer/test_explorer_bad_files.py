"""The explorer on files that are no sessions, on damaged and hostile ones, and on random trees."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from leafward_tui.ui.keys.intents import intents_for
from tests.pi_file import PiFile
from tests.trees import random_plan, write_plan
from tests.tui.explored import (
    Named,
    exploring,
    here,
    lines,
    note,
    tree,
)
from tests.tui.session_store import HELD, rows, until

if TYPE_CHECKING:
    from pathlib import Path


PATIENCE = HELD


class TestBadFiles:
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", "bad.jsonl is empty"),
            (b"nonsense\n", "bad.jsonl is not a session: no line of it is a header or an entry"),
            (b"\0" * 4000, "bad.jsonl is not a session"),
        ],
        ids=["empty", "nonsense", "NULs"],
    )
    async def test_no_session_is_one_clear_line(self, data: bytes, said: str, tmp_path: Path) -> None:
        path = tmp_path / "bad.jsonl"
        path.write_bytes(data)
        async with exploring(path, (80, 32)) as (pilot, screen):
            await until(pilot, lambda: said in note(screen))
            assert str(tmp_path) not in note(screen)
            assert all("/ 0" not in line for line in rows(screen.app))
            for intent in intents_for("explorer"):
                if intent.id not in ("app.back", "app.quit", "app.palette", "app.help", "app.themes"):
                    screen.run_intent(intent.id)
                    await pilot.pause()
            assert screen.app.screen is screen
            await pilot.press("q")
        assert pilot.app.return_code == 0

    async def test_a_file_that_is_there_again_is_not_said_to_be_gone(
        self, file: Named, tmp_path: Path
    ) -> None:
        async with exploring(file.path) as (pilot, screen):
            aside = file.path.rename(tmp_path / "aside.jsonl")
            await until(pilot, lambda: "the file is gone" in note(screen))
            aside.rename(file.path)
            await until(pilot, lambda: "the file is there again" in note(screen))

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
            orphan = next(row for row in drawn if "the parent is not in this file" in row)
            assert orphan.count("!") == 1
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
            await until(pilot, lambda: not screen.state.busy)
        after = path.read_bytes()
        assert after.startswith(before)
        assert after.endswith(b"\n")
        assert all(isinstance(line, dict) for line in lines(path))
