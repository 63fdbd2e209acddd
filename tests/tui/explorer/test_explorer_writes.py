"""Writes of the explorer: moves, labels, names, archived branches, undo; resuming and export, and the log."""

from __future__ import annotations

import json
import subprocess
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from leafward_tui.app.command_palette import working_intents
from leafward_tui.explorer.controllers.write import reopening
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.log.screen import LogScreen
from leafward_tui.ui.keys.intents import WRITES
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.acting import reading
from tests.pi_file import HEADER, PiFile
from tests.tui.explored import (
    Named,
    chosen,
    exploring,
    forked,
    here,
    installed,
    lines,
    note,
    tree,
    written,
)
from tests.tui.session_store import files_written, reached, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from leafward_tui.explorer.screen import ExplorerScreen


def leaf(screen: ExplorerScreen) -> str:
    """Beginning of the row of the leaf."""
    (row,) = [row for row in tree(screen) if " leaf " in row]
    return next(word for word in row.split() if word in "abcdxyz")


class TestMoving:
    async def test_appends_one_line_and_the_tree_follows(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("right_square_bracket")
            await until(pilot, lambda: screen.state.price is not None)
            await chosen(pilot, "enter", "m")
            await written(pilot, screen, total + 1)
            after = file.path.read_bytes()
            assert after.startswith(before)
            line = json.loads(after[len(before) :])
            assert (line["customType"], line["parentId"]) == ("leafward.leaf", file.ends["y"])
            assert here(screen) == "y"
            assert screen.panes.tree.state.ghost is None
            assert any("◎" in row and "y prompt" in row and " leaf" in row for row in tree(screen))
            assert "moved" in note(screen)
            assert "u undo" in note(screen)

    async def test_the_sheet_says_what_it_writes_and_esc_writes_nothing(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("right_square_bracket", "enter")
            await reached(pilot, ChoiceSheet)
            await pilot.pause()
            shown = "\n".join(rows(screen.app))
            assert "Move the leaf here" in shown
            assert "append 1 line to the session's file" in shown
            assert "c prompt" in shown  # the tree stays visible
            await pilot.press("escape")
            await until(pilot, lambda: screen.app.screen is screen)
            assert file.path.read_bytes() == before

    async def test_at_the_leaf_there_is_nothing_to_move(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("enter")
            await reached(pilot, ChoiceSheet)
            await pilot.press("m")
            await pilot.pause()
            assert isinstance(screen.app.screen, ChoiceSheet)
            assert "the leaf is here" in "\n".join(rows(screen.app))

    async def test_before_a_prompt_its_text_is_copied(
        self, file: Named, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copied: list[str] = []
        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "copy", lambda text, _what="": copied.append(text))
            total = len(lines(file.path)) - 1
            await pilot.press("K")
            await chosen(pilot, "enter", "e")
            await written(pilot, screen, total + 1)
            assert copied == ["c prompt"]
            assert lines(file.path)[-1]["parentId"] == file.ends["b"]
            assert here(screen) == "b"

    async def test_on_a_fold_enter_unfolds_and_moves_nothing(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("g")
            while here(screen) != "x":
                await pilot.press("j")
            await pilot.press("left")
            assert not any("y prompt" in row for row in tree(screen))
            await until(pilot, lambda: screen.state.price is None and screen.panes.tree.state.ghost is None)
            await until(pilot, lambda: any("enter unfold" in row for row in rows(pilot.app)))
            await pilot.press("enter")
            await until(pilot, lambda: any("y prompt" in row for row in tree(screen)))
            assert here(screen) == "x"
            assert pilot.app.screen is screen
        assert file.path.read_bytes() == before

    async def test_undo_and_redo(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("right_square_bracket")
            await chosen(pilot, "enter", "m")
            await written(pilot, screen, total + 1)
            await pilot.press("g")
            await pilot.press("u")
            await written(pilot, screen, total + 2)
            assert here(screen) == "a"
            session = sure(screen.state.session)
            assert f"the leaf is at #{session.place}" in note(screen)
            assert "undid: move" in note(screen)
            assert leaf(screen) == "d"
            await pilot.press("U")
            await written(pilot, screen, total + 3)
            assert here(screen) == "a"
            assert "redid: move" in note(screen)
            assert leaf(screen) == "y"
            await pilot.press("U")
            await until(pilot, lambda: "nothing to redo" in note(screen))
            assert len(lines(file.path)) - 1 == total + 3

    async def test_nothing_to_undo_is_said(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("u")
            await until(pilot, lambda: "to undo" in note(screen))

    async def test_what_the_agent_did_is_undone_in_the_log(self, demo: Path) -> None:
        async with exploring(demo) as (pilot, screen):
            await pilot.press("u")
            await until(pilot, lambda: "nothing of Leafward's to undo" in note(screen))
            assert "o operations" in note(screen)

    async def test_a_write_over_another_s_is_refused(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("F")
            await pilot.press("right_square_bracket", "enter")
            await reached(pilot, ChoiceSheet)
            file.turn("e")
            before = file.path.read_bytes()
            await pilot.press("m")
            await until(pilot, lambda: "grew by 2 entries" in note(screen))
            assert file.path.read_bytes() == before

    async def test_a_newer_version_is_read_only(self, tmp_path: Path) -> None:
        newer = PiFile(tmp_path / "newer.jsonl", {**HEADER, "version": 4})
        newer.user("one")
        newer.user("two")
        before = newer.path.read_bytes()
        async with exploring(newer.path) as (pilot, screen):
            assert "read only" in rows(screen.app)[0]
            await pilot.press("k")
            await until(pilot, lambda: screen.state.price is not None)
            assert "move" not in rows(screen.app)[-1]
            assert not {entry.id for entry in working_intents(screen)} & WRITES
            for key in ("enter", "u", "U", "l", "r", "A"):
                screen.panes.tell("")
                await pilot.press(key)
                await pilot.pause()
                assert screen.app.screen is screen, "nothing is asked that is refused afterwards"
                assert "read only: the file is of version 4" in note(screen), key
        assert newer.path.read_bytes() == before

    async def test_a_file_that_nobody_may_write_to_is_said_to_be_read_only(self, file: Named) -> None:
        before = file.path.read_bytes()
        file.path.chmod(0o444)
        async with exploring(file.path, (80, 24)) as (pilot, screen):
            assert "read only" in rows(screen.app)[0]
            await pilot.press("k")
            for key in ("enter", "u", "l", "r", "A", "E"):
                screen.panes.tell("")
                await pilot.press(key)
                await pilot.pause()
                assert screen.app.screen is screen, "nothing is asked that is refused afterwards"
                assert "its permissions make it read-only" in note(screen), key
            # What counts is how the file is now.
            file.path.chmod(0o644)
            await pilot.press("l")
            await until(pilot, lambda: screen.app.screen is not screen)
        assert file.path.read_bytes() == before

    async def test_an_old_version_is_migrated_and_says_so(self, tmp_path: Path) -> None:
        old = PiFile(tmp_path / "old.jsonl", {**HEADER, "version": 2})
        old.user("one")
        old.user("two")
        old.user("three")
        async with exploring(old.path) as (pilot, screen):
            await pilot.press("k", "k")
            await chosen(pilot, "enter", "m")
            await until(pilot, lambda: lines(old.path)[0]["version"] == 3)
            await until(pilot, lambda: not screen.state.busy)
            await until(pilot, lambda: "backup" in note(screen))
            assert lines(old.path)[-1]["parentId"] == "00000001"


class TestBookmarks:
    async def test_a_label(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("K")
            await chosen(pilot, "l", *"here", "space", *"now", "enter")
            await written(pilot, screen, total + 1)
            assert lines(file.path)[-1]["targetId"] == file.prompts["c"]
            assert any("[here now]" in row and "c prompt" in row for row in tree(screen))
            assert here(screen) == "c"
            await until(pilot, lambda: "[here now]  on #" in shown(pilot))
            await chosen(pilot, "l", *["backspace"] * 8, "enter")
            await written(pilot, screen, total + 2)
            assert not any("[here now]" in row for row in tree(screen))
            await until(pilot, lambda: "[here now]" not in shown(pilot))

    def test_how_the_agent_gets_to_see_it(self, file: Named) -> None:
        with reading(file.path) as session:
            words, command = reopening(session)
            assert words == "restart pi to pick this up"
            assert command.startswith(": pi --session ")

    async def test_left_or_unchanged_it_writes_nothing(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "l", *"x", "escape")
            await chosen(pilot, "l", "enter")
            await chosen(pilot, "r", "enter")
            await until(pilot, lambda: screen.app.screen is screen)
        assert file.path.read_bytes() == before

    async def test_a_name(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await chosen(pilot, "r", *"named", "enter")
            await written(pilot, screen, total + 1)
            assert "orchard › named" in rows(screen.app)[0]
            assert here(screen) == "d"
            await pilot.press("u")
            await written(pilot, screen, total + 2)
            assert "orchard › a prompt" in rows(screen.app)[0]

    async def test_what_is_typed_is_written_although_the_agent_goes_on_meanwhile(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("K")
            await chosen(pilot, "l", *"here")
            file.turn("e")
            await pilot.press("enter")
            await written(pilot, screen, total + 3)
            assert lines(file.path)[-1]["targetId"] == file.prompts["c"]
            assert any("e prompt" in row for row in tree(screen))
            await chosen(pilot, "r", *"named")
            file.turn("f")
            await pilot.press("enter")
            await written(pilot, screen, total + 6)
            assert "orchard › named" in rows(screen.app)[0]

    async def test_a_label_of_an_entry_that_is_gone_meanwhile_is_refused(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "l", *"here")
            text = file.path.read_text().splitlines(keepends=True)
            file.path.write_text("".join(text[:4]))
            before = file.path.read_bytes()
            await pilot.press("enter")
            await until(pilot, lambda: "this entry is not in it any more" in note(screen))
            assert file.path.read_bytes() == before

    async def test_what_is_typed_is_no_markup(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await chosen(pilot, "l", "left_square_bracket", *"red", "right_square_bracket", "enter")
            await written(pilot, screen, total + 1)
            assert any("[[red]]" in row for row in tree(screen))

    async def test_a_branch_is_put_away_and_brought_back(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("right_square_bracket", "A")
            await written(pilot, screen, total + 1)
            drawn = tree(screen)
            assert not any("y prompt" in row for row in drawn)
            assert any("3 turns archived" in row for row in drawn)
            assert "1 archived" in rows(screen.app)[0]
            await pilot.press("g")
            while screen.panes.tree.line is not None and screen.panes.tree.line.kind is not LineKind.ARCHIVED:
                await pilot.press("j")
            await pilot.press("z")
            assert any("y prompt" in row for row in tree(screen))
            assert ["archived" in row for row in tree(screen) if "x prompt" in row] == [True]
            await pilot.press("A")
            await written(pilot, screen, total + 2)
            assert any("y prompt" in row for row in tree(screen))
            assert not any("archived" in row for row in tree(screen))
            assert "archived" not in rows(screen.app)[0]

    async def test_the_path_cannot_be_put_away(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("A")
            await until(pilot, lambda: "cannot be archived" in note(screen))
        assert file.path.read_bytes() == before


class TestHandingOn:
    async def test_y_copies_what_was_said(self, file: Named, monkeypatch: pytest.MonkeyPatch) -> None:
        copied: list[str] = []
        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "copy", lambda text, _what="": copied.append(text))
            await pilot.press("y")
            assert copied
            assert "d prompt" in copied[0]

    async def test_an_export_is_written_to_the_folder(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "out"
        folder.mkdir()
        monkeypatch.chdir(folder)
        async with exploring(file.path) as (pilot, screen):
            for _ in range(2):
                await chosen(pilot, "e", "m")
                await until(pilot, lambda: screen.app.screen is screen)
            await until(pilot, lambda: len(files_written(folder)) == 2)
        texts = [path.read_text() for path in folder.iterdir()]
        assert all("d prompt" in text and "y prompt" not in text for text in texts)

    async def test_resume_runs_the_agent_s_command_in_its_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = forked(tmp_path / "here.jsonl", cwd=tmp_path)
        program = installed(monkeypatch, tmp_path / "bin", "pi")
        ran: list[tuple[Any, dict[str, Any]]] = []
        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "suspend", nullcontext)
            monkeypatch.setattr(subprocess, "run", lambda argv, **named: ran.append((argv, named)))
            monkeypatch.setenv("LEAFWARD_SECRET", "ours")
            await pilot.press("R")
            await until(pilot, lambda: ran)
            argv, named = ran[0]
            assert argv[0].endswith("pi")
            assert named["executable"] == str(program)
            assert str(file.path) in argv
            assert "LEAFWARD_SECRET" not in named["env"]
            assert named["cwd"] == named["env"]["PWD"] == str(tmp_path)

    async def test_where_the_terminal_cannot_be_lent_the_command_is_copied(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = forked(tmp_path / "here.jsonl", cwd=tmp_path)
        copied: list[str] = []
        async with exploring(file.path) as (pilot, screen):
            monkeypatch.setattr(screen.app, "copy", lambda text, _what="": copied.append(text))
            await pilot.press("R")
            await until(pilot, lambda: copied)
            assert str(file.path) in copied[0]


class TestLog:
    async def test_shows_and_comes_back_to_the_entry(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("o")
            log = await reached(pilot, LogScreen)
            await until(pilot, lambda: log.log_list.operations is not None)
            await pilot.press("g", "enter")
            await until(pilot, lambda: screen.app.screen is screen)
            assert here(screen) == "x"

    async def test_what_was_undone_there_is_undone_here(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            total = len(lines(file.path)) - 1
            await pilot.press("right_square_bracket")
            await chosen(pilot, "enter", "m")
            await written(pilot, screen, total + 1)
            await pilot.press("o")
            log = await reached(pilot, LogScreen)
            await until(pilot, lambda: log.log_list.operation is not None)
            await pilot.press("u")
            await reached(pilot, ChoiceSheet)
            await pilot.press("u")
            session = log.state.session
            await until(pilot, lambda: screen.app.screen is log and len(session) == total + 2)
            await until(pilot, lambda: not log.state.writing)
            await pilot.press("q")
            await written(pilot, screen, total + 2)
            assert here(screen) == "d"
            assert any("◎" in row and "d prompt" in row for row in tree(screen))
