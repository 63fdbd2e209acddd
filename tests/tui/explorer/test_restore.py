"""Restoring files from the explorer: what is shown, chosen, written, left alone and taken back."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.files.file_replay.knowledge import Certainty
from leafward.files.restoration import write
from leafward.files.restoration.plan import RestoreAction, RestoredFile
from leafward.files.restoration.project_folder import FileKind, OnDisk
from leafward.files.restoration.record import records
from leafward.files.restoration.recorded_files import UNKNOWN_ENDS
from leafward_tui.explorer.restore_sheet import RestoreSheet, file_lines
from leafward_tui.log.screen import LogScreen
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.key_help import HelpScreen
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.folder_contents import snapshot
from tests.tui.explored import exploring, lines, note
from tests.tui.session_store import HELD, NARROW, WIDE, reached, rows, shown, until
from tests.tui.sure import sure
from tests.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.explorer.screen import ExplorerScreen


class Work:
    """A session of two turns: the second changes a file, removes one and makes one."""

    def __init__(self, tmp_path: Path) -> None:
        self.path = tmp_path / "orchard.jsonl"
        self.bench = Workbench(self.path, tmp_path / "orchard", 1)
        self.folder = self.bench.folder
        self.bench.file.user("plant the pears")
        self.bench.write("rows.py", "pears = 3\napples = 4\nplums = 1\n")
        self.bench.write("notes.md", "# Orchard\n\nWater on Mondays.\n")
        self.bench.run("rm -f graft.py")
        self.bench.file.said("planted")
        self.then = snapshot(self.folder)
        self.bench.file.user("now graft them")
        self.bench.write("rows.py", "pears = 30\napples = 4\nplums = 1\n")
        self.bench.run("rm -f notes.md")
        self.bench.write("graft.py", "grafted = True\n")
        self.bench.file.said("grafted")
        self.now = snapshot(self.folder)

    def put(self, name: str, text: str) -> Path:
        (self.folder / name).write_text(text)
        return self.folder / name


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


@asynccontextmanager
async def restoring(
    work: Work, *keys: str, size: tuple[int, int] = WIDE, config: Config | None = None
) -> AsyncIterator[tuple[Pilot[int], ExplorerScreen, RestoreSheet]]:
    """The sheet of a restore of the first turn, with the files to choose from."""
    async with exploring(work.path, size, config) as (pilot, screen):
        await pilot.press("g", "j", *keys[:1])
        if keys[1:]:
            await reached(pilot, ChoiceSheet)
            await pilot.press(*keys[1:])
        sheet = await reached(pilot, RestoreSheet)
        await until(pilot, lambda: not sheet.choice.state)
        await until(pilot, lambda: sheet.choice.diff() is not None)
        await pilot.pause()
        yield pilot, screen, sheet


async def test_a_move_puts_the_files_back_and_its_undo_too(work: Work) -> None:
    before = lines(work.path)
    async with restoring(work, "enter", "w") as (pilot, screen, sheet):
        text = shown(pilot)
        assert "Move and restore the files" in text
        for part in ("[✓] write   rows.py", "[✓] create  notes.md", "[✓] delete  graft.py"):
            assert part in text
        assert "write 1 file, create 1, delete 1" in text
        assert snapshot(work.folder) == work.now
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.app.screen is screen and not screen.state.busy)
        assert snapshot(work.folder) == work.then
        assert len(lines(work.path)) == len(before) + 1
        assert "wrote 1 file, created 1, deleted 1" in note(screen)
        assert sheet.choice.problem == ""
        await pilot.press("u")
        await until(pilot, lambda: snapshot(work.folder) == work.now)
        await until(pilot, lambda: len(lines(work.path)) == len(before) + 2)
        await until(pilot, lambda: "restore 1 (3 files put back)" in note(screen))


async def test_a_file_that_somebody_changed_is_left_alone_unless_it_is_chosen(work: Work) -> None:
    mine = work.put("rows.py", "pears = 31\n")
    async with restoring(work, "H") as (pilot, screen, _sheet):
        text = shown(pilot)
        assert "[ ] write   rows.py" in text
        assert "changed on disk after the session" in text
        await pilot.press("G")
        await until(pilot, lambda: "-pears = 31" in shown(pilot))
        assert "+pears = 3" in shown(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.app.screen is screen and not screen.state.busy)
        assert mine.read_text() == "pears = 31\n"
        assert (work.folder / "notes.md").exists()
        assert "1 of 3 left alone" in note(screen)


async def test_a_file_changed_since_the_restore_keeps_it_from_being_undone(work: Work) -> None:
    async with restoring(work, "enter", "w") as (pilot, screen, _sheet):
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.app.screen is screen and not screen.state.busy)
        work.put("notes.md", "mine\n")
        after, files = lines(work.path), snapshot(work.folder)
        await pilot.press("u")
        await reached(pilot, ChoiceSheet)
        text = shown(pilot)
        assert "changed since the restore: notes.md" in text
        assert (lines(work.path), snapshot(work.folder)) == (after, files)
        await pilot.press("m")
        await until(pilot, lambda: len(lines(work.path)) == len(after) + 1)
        assert snapshot(work.folder) == files
        assert [one.state.value for one in records()] == ["done"]


async def test_a_restore_alone_is_undone_like_an_operation(work: Work) -> None:
    before = work.path.read_bytes()
    async with restoring(work, "H") as (pilot, screen, _sheet):
        await pilot.press("ctrl+s")
        await until(pilot, lambda: snapshot(work.folder) == work.then)
        await until(pilot, lambda: screen.app.screen is screen and not screen.state.busy)
        await pilot.press("u")
        await until(pilot, lambda: snapshot(work.folder) == work.now)
        await until(pilot, lambda: "put back" in note(screen))
    assert work.path.read_bytes() == before


async def test_the_sheet_closes_after_the_write_also_where_its_keys_are_listed_over_it(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, goes_on = write.restore, threading.Event()

    def held(*given: Any) -> Any:
        goes_on.wait(HELD)
        return really(*given)

    monkeypatch.setattr(write, "restore", held)
    async with restoring(work, "H") as (pilot, screen, sheet):
        await pilot.press("ctrl+s", "question_mark")
        await reached(pilot, HelpScreen)
        goes_on.set()
        await until(pilot, lambda: screen.app.screen is screen)
        assert not sheet.is_attached


async def test_on_a_narrow_screen(work: Work) -> None:
    work.put("rows.py", "pears = 31\n")
    async with restoring(work, "enter", "w", size=NARROW) as (pilot, _screen, _sheet):
        assert "changed on disk after the session" in shown(pilot)
        await pilot.press("escape")
        await pilot.pause()
    assert records() == []


@pytest.mark.parametrize(
    "why",
    [
        *UNKNOWN_ENDS,
        "may have been changed by `entire`",
        "another branch left it differently",
        "partial: not read as a whole",
        "changed on disk after the session",
        "what the session left is not known",
    ],
)
def test_a_reason_is_whole_beside_a_long_path_on_a_narrow_screen(why: str) -> None:
    path = "cmd/entire/cli/strategy/manual_commit_hooks.go"
    there = OnDisk(FileKind.FILE, b"a\n")
    change = RestoredFile(
        path, RestoreAction.LEAVE, Certainty.EXACT, "", there, there, why, offered=RestoreAction.WRITE
    )
    row = file_lines([change], 0, [], NARROW[0] - 2, UNICODE)[0]
    assert row.text.rstrip().endswith(why)
    assert "manual_commit_hooks.go" in row.text


async def test_the_log_shows_restores_and_takes_them_back(work: Work) -> None:
    async with restoring(work, "H") as (pilot, screen, _sheet):
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.app.screen is screen and not screen.state.busy)
        await pilot.press("o")
        log = await reached(pilot, LogScreen)
        await until(pilot, lambda: log.view.operations is not None)
        await pilot.pause()
        text = shown(pilot)
        assert "restored" in text
        assert "3 files as at #" in text
        work.put("notes.md", "mine\n")
        files = snapshot(work.folder)
        await pilot.press("u")
        await until(pilot, lambda: "changed since the restore: notes.md" in shown(pilot))
        assert snapshot(work.folder) == files
        work.put("notes.md", "# Orchard\n\nWater on Mondays.\n")
        await pilot.press("u")
        await reached(pilot, ChoiceSheet)
        assert "3 files as before the restore" in shown(pilot)
        await pilot.press("u")
        await until(pilot, lambda: snapshot(work.folder) == work.now)
        await until(pilot, lambda: "undone" in shown(pilot))


async def test_the_keys_at_its_foot_are_those_of_the_users_keymap(work: Work) -> None:
    keymap = {"restore.accept": ("f5",), "restore.toggle": ("X",), "restore.all": (), "mode.leave": ("Q",)}
    config = Config(follow_interval=0.02, keymap=keymap)
    async with restoring(work, "H", config=config) as (pilot, screen, _sheet):
        foot = rows(pilot.app)[-1]
        assert "f5 restore   Q cancel   X choose   tab diff" in foot
        assert "all safe" not in foot
        await pilot.press("f5")
        await until(pilot, lambda: screen.app.screen is screen and not screen.state.busy)
        assert snapshot(work.folder) == work.then


async def test_keys_that_do_nothing_say_why_and_the_result_says_how_many_files_it_wrote(work: Work) -> None:
    work.bench.run("python3 -c pass")
    for name in ("rows.py", "notes.md", "graft.py"):
        work.put(name, "mine\n")
    (work.folder / "rows.py").chmod(0o444)
    async with restoring(work, "H", size=(80, 24)) as (pilot, screen, sheet):
        assert "nothing is chosen" in shown(pilot)
        await pilot.press("a")
        assert "no file is safe: choose one by one" in shown(pilot)
        await pilot.press("ctrl+s")
        assert "nothing is chosen: choose a file first" in shown(pilot)
        assert pilot.app.screen is sheet
        first = sheet.choice.file
        await pilot.press("space")
        await until(pilot, lambda: sheet.choice.diff() is not None)
        await until(pilot, lambda: sheet.choice.file is not first)
        assert f"{sure(sheet.choice.file).path}: " in shown(pilot)
        assert "delete 1 file" in shown(pilot)
        await pilot.press("a")
        await pilot.press("G")
        assert "it is read-only" in shown(pilot)
        await pilot.press("space", "ctrl+s")
        await until(pilot, lambda: screen.app.screen is screen and not screen.state.busy)
        assert "wrote 1 file, deleted 1, as at #" in note(screen)
        assert "1 still read-only" in note(screen)
        assert "1 of 3 left alone" in note(screen)


async def test_a_file_that_cannot_be_chosen_says_so(work: Work) -> None:
    (work.folder / "rows.py").unlink()
    (work.folder / "rows.py").mkdir()
    (work.folder / "rows.py" / "mine").write_text("mine\n")
    async with restoring(work, "H") as (pilot, _screen, sheet):
        await pilot.press("G")
        assert sure(sheet.choice.file).path == "rows.py"
        await pilot.press("space")
        assert "rows.py cannot be chosen, for the reason above" in shown(pilot)


@pytest.mark.parametrize("keys", ["H", "enter w"])
async def test_where_the_project_was_moved_its_present_folder_is_asked_for(
    work: Work, tmp_path: Path, keys: str
) -> None:
    """A fork offers another folder, too. Nothing is written where the one typed does not exist."""
    moved = work.folder.rename(tmp_path / "elsewhere")
    async with exploring(work.path, NARROW) as (pilot, screen):
        first, *more = keys.split()
        await pilot.press("g", "j", first)
        if more:
            await reached(pilot, ChoiceSheet)
            await pilot.press(*more)
        asked = await reached(pilot, TextSheet)
        assert "project folder not found" in shown(pilot)
        asked.input.value = str(tmp_path / "nowhere")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is not asked and isinstance(pilot.app.screen, TextSheet))
        again = await reached(pilot, TextSheet)
        await until(pilot, lambda: "nowhere" in shown(pilot))
        again.input.value = str(moved)
        await pilot.press("enter")
        sheet = await reached(pilot, RestoreSheet)
        await until(pilot, lambda: not sheet.choice.state)
        assert "elsewhere" in shown(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: snapshot(moved) == work.then)
        await until(pilot, lambda: screen.app.screen is screen and not screen.state.busy)
        await pilot.press("u")
        await until(pilot, lambda: snapshot(moved) == work.now)
    assert not work.folder.exists()


async def test_a_session_that_was_rewritten_while_nobody_looked_restores_nothing(work: Work) -> None:
    """Its entries are others now: without a look at the file, the plan would say that there is nothing to restore."""
    async with exploring(work.path, WIDE) as (pilot, screen):
        await pilot.press("g", "j", "F")
        assert not screen.state.following
        text = work.path.read_text()
        work.path.write_text(text.replace("plant the pears", "plant the pears and the plums"))
        await pilot.press("H")
        sheet = await reached(pilot, RestoreSheet)
        await until(pilot, lambda: not sheet.choice.state)
        assert "orchard.jsonl was rewritten since it was read: reload it" in shown(pilot)


async def test_a_session_that_only_grew_restores_as_before(work: Work) -> None:
    async with exploring(work.path, WIDE) as (pilot, _screen):
        await pilot.press("g", "j", "F")
        work.bench.file.user("and then rest")
        await pilot.press("H")
        sheet = await reached(pilot, RestoreSheet)
        await until(pilot, lambda: not sheet.choice.state)
        assert "[✓] write   rows.py" in shown(pilot)
