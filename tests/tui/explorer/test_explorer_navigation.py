"""Going about in the tree of the explorer by keys."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.cli.output.page import Page
from leafward.cli.verbs.tree import tree_text
from leafward.session.session import Session
from leafward.session.tree.density import Density
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.inspector.tab import Tab
from tests.acting import Acting, call
from tests.pi_file import HEADER
from tests.tui.explored import (
    NARROW,
    Named,
    exploring,
    here,
    note,
    tree,
)
from tests.tui.session_store import rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path


class TestGoing:
    async def test_steps_go_over_all_rows_and_stop_at_both_ends(self, file: Named) -> None:
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
            await pilot.press("K", "K", "m")
            await until(pilot, lambda: any("compare another row with it" in row for row in rows(pilot.app)))
            await pilot.press("G", "apostrophe")
            assert here(screen) == "b"
            assert any("'" in row[:3] and "b prompt" in row for row in tree(screen))
            await pilot.press("m", "G", "apostrophe")
            assert here(screen) == "d"

    async def test_letters_go_with_a_click_on_a_row(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("f")
            assert screen.panes.tree.jumping
            await pilot.click(screen.panes.tree, offset=(10, 1))
            assert (here(screen), screen.panes.tree.jumping) == ("b", False)

    async def test_no_letters_are_asked_for_where_no_row_has_any(self, tmp_path: Path) -> None:
        file = Named(tmp_path / "session.jsonl")
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("f")
            assert note(screen) == "nothing was said in this session yet"
        file.turn("a")
        async with exploring(file.path, NARROW) as (pilot, screen):
            await pilot.press("1", "f")
            assert note(screen) == "! only rows of the tree have letters   esc tree"
            assert not screen.panes.tree.jumping

    async def test_letters_jump_to_a_row(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("f")
            await until(pilot, lambda: any("type the letters beside a row" in row for row in rows(pilot.app)))
            row = next(row for row in tree(screen) if "x prompt" in row)
            letter = row.partition("x prompt")[0].split()[-1]
            await pilot.press(letter)
            assert here(screen) == "x"
            await pilot.press("f", "escape")
            assert here(screen) == "x"
            await pilot.press("f", "1")
            assert not screen.panes.tree.jumping
            await until(pilot, lambda: not any("type the letters" in row for row in rows(pilot.app)))
            assert screen.panes.inspector.tab is Tab.ENTRY

    async def test_a_folded_branch_is_one_row_that_a_step_opens(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("left_square_bracket", "K", "K")
            while here(screen) != "x":
                await pilot.press("j")
            await pilot.press("z")
            assert sure(screen.panes.tree.line).kind is LineKind.FOLDED_BRANCH
            assert "3 turns" in next(row for row in tree(screen) if "x prompt" in row)
            assert not any("y prompt" in row for row in tree(screen))
            await pilot.press("z")
            assert any("y prompt" in row for row in tree(screen))
            await pilot.press("Z")
            assert not any("y prompt" in row for row in tree(screen))
            await pilot.press("G", "left_square_bracket")  # a step leads into a fold
            assert any("y prompt" in row for row in tree(screen)) or here(screen) == "x"
            await pilot.press("Z", "Z")
            assert screen.state.exploration is not None
            assert len(screen.state.exploration.lines) <= len(screen.state.exploration.layout)

    async def test_densities_keep_the_entry(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K")
            for density in (Density.ENTRIES, Density.COMFORTABLE, Density.TURNS):
                await pilot.press("v")
                await pilot.pause()
                assert sure(screen.state.exploration).layout.density is density
                assert here(screen) == "b"
                assert any("b prompt" in row for row in tree(screen))

    async def test_the_arrows_unfold_and_fold(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("g")
            while here(screen) != "y":
                await pilot.press("j")
            await pilot.press("left")
            assert here(screen) == "x"
            assert not any("y prompt" in row for row in tree(screen))
            await pilot.press("left")
            assert "this is folded already" in note(screen)
            await pilot.press("right")
            assert any("y prompt" in row for row in tree(screen))
            await pilot.press("right")
            assert "nothing is folded here" in note(screen)

    async def test_the_density_of_the_configuration(self, file: Named) -> None:
        async with exploring(file.path, config=Config(density="entries")) as (_, screen):
            assert sure(screen.state.exploration).layout.density is Density.ENTRIES
            assert any("make b" in row for row in tree(screen))

    async def test_each_of_several_calls_has_its_own_tokens(self, tmp_path: Path) -> None:
        made = Acting(tmp_path / "s.jsonl")
        made.user("go")
        made.said(call("bash", "one", command="ls"), call("bash", "two", command="grep " + "x" * 8_000))
        made.answered("one", "bash", "a")
        made.entry("custom", customType="progress")
        made.answered("two", "bash", "b")
        made.said("done")
        async with exploring(made.path, config=Config(density="entries")) as (pilot, screen):
            shown = tree(screen)
            await pilot.press("k")
            await until(pilot, lambda: "#4" in note(screen))
            await until(pilot, lambda: "Result of bash" in "\n".join(rows(pilot.app)))
            told, entry = note(screen), "\n".join(rows(pilot.app))
        tokens = {word: next(row for row in shown if word in row).split() for word in ("ls", "grep")}
        assert "2.0k" in tokens["grep"]
        assert "2.0k" not in tokens["ls"], "the first of them does not carry the whole reply"
        assert "tokens 2.0k" in told, "at the foot stands what the row says"
        assert "entries" not in told
        assert re.search(r"result 1 token\b", entry), "the pane says that it counts the result alone"

    async def test_a_compaction_keeps_its_sizes_whatever_the_density(self, tmp_path: Path) -> None:
        made = Named(tmp_path / "s.jsonl")
        made.turn("a")
        made.entry("compaction", summary="Ship it.", firstKeptEntryId=made.prompts["a"], tokensBefore=90)
        made.turn("b")
        async with exploring(made.path) as (pilot, screen):

            def sizes() -> bool:
                return any("compaction" in row and "→" in row for row in tree(screen))

            await until(pilot, sizes)
            for _ in Density:
                await pilot.press("v")
                await until(pilot, sizes)

    async def test_what_was_said_goes_with_the_next_key(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("apostrophe")
            assert "no row is marked" in note(screen)
            await pilot.press("x")
            await until(pilot, lambda: "no row is marked" not in note(screen))

    async def test_folded_turns_are_counted_at_the_foot_as_in_their_row(self, tmp_path: Path) -> None:
        made = Named(tmp_path / "s.jsonl")
        for name in "abcdefgh":
            made.turn(name)
        made.entry("custom_message", customType="progress", content="half way", display=True)
        made.turn("i")
        made.turn("j")
        async with exploring(made.path) as (pilot, screen):
            await pilot.press("k", "k", "z")
            await until(pilot, lambda: "folded" in note(screen))
            row = next(row for row in tree(screen) if row.startswith("▌"))
            told = note(screen)
        turns = row.split("▸ ")[1].split("   ")[0]
        assert told.startswith(f"{turns} folded")

    async def test_rows_of_entries_say_something(self, tmp_path: Path) -> None:
        made = Acting(tmp_path / "s.jsonl", HEADER | {"cwd": "/work/p"})
        made.user("go")
        deep = "/work/p/core/leafward/session/journal/deep/inside/of_everything.py"
        calls: list[tuple[str, dict[str, Any]]] = [
            ("TaskUpdate", {"taskId": "2", "status": "completed"}),
            ("exec_command", {"cmd": "cd /work/p && make test"}),
            ("read", {"path": deep, "offset": 5}),
            ("todowrite", {"todos": [{"content": "look", "status": "in_progress"}]}),
        ]
        for number, (name, arguments) in enumerate(calls):
            made.said(call(name, str(number), **arguments))
            made.answered(str(number), name)
        async with exploring(made.path, (80, 24), Config(density="entries")) as (_, screen):
            shown = "\n".join(tree(screen))
        for words in (
            "TaskUpdate   #2 completed",
            "exec_command make test",
            "/of_everything.py:5",
            "todowrite    0 of 1 done, now: look",
        ):
            assert words in shown
        with closing(Session.open(made.path)) as session:
            outline = "\n".join(tree_text(session, Page(80), every_entry=True))
        for words in ("TaskUpdate   #2 completed", "exec_command make test", "/of_everything.py:5"):
            assert words in outline

    async def test_rows_of_entries_say_how_a_reply_and_a_command_ended(self, tmp_path: Path) -> None:
        made = Acting(tmp_path / "s.jsonl", HEADER | {"cwd": "/work/p"})
        made.user("go")
        made.said("half a", stop="aborted")
        made.said("a long", stop="length")
        command = {"role": "bashExecution", "command": "make test", "output": "", "exitCode": 0}
        ran = made.entry("message", message={**command, "cancelled": False, "truncated": False})
        made.entry("message", message={**command, "exitCode": None, "cancelled": True, "truncated": False})
        made.entry("context_edit", targetId=ran, replacement=None)
        made.entry("usage", kind="title", usage={"totalTokens": 1_280})
        config = Config(density="entries")
        async with exploring(made.path, config=config) as (pilot, screen):
            await until(pilot, lambda: "cut off" in "\n".join(tree(screen)))
            await pilot.press("ampersand", "a")
            await until(pilot, lambda: "1,280 tokens" in "\n".join(tree(screen)))
            shown = [" ".join(row.split()) for row in tree(screen)]
        for words in (
            "ai half a aborted",
            "ai a long cut off",
            "you ! make test ≠ edited ok",
            "you ! make test aborted",
            "≠ context edit omits make test",
            "usage title, 1,280 tokens",
        ):
            assert any(words in row for row in shown), (words, shown)

    @pytest.mark.frames
    async def test_a_step_draws_two_rows(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("g")
            await pilot.pause()
            before = screen.panes.tree.painted.shown
            await pilot.press("j")
            assert screen.panes.tree.painted.shown - before <= 2


async def test_sizes_of_a_compaction_are_whole_numbers(demo: Path) -> None:
    async with exploring(demo, (100, 30)) as (pilot, screen):
        await until(pilot, lambda: "facts lost" in "\n".join(tree(screen)))
        assert any("compaction 50.5k → 26.1k" in row for row in tree(screen))
