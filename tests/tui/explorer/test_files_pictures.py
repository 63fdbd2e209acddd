"""Pictures of what acts on files and folders: a restore, a healed session, a relocated project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.tui.blame.test_blame import Grove, opened
from tests.tui.catalogue.test_catalogue_relocating import stored
from tests.tui.explored import NARROW, WIDE
from tests.tui.explorer.test_bisect import asked, orchard
from tests.tui.explorer.test_heal import refused
from tests.tui.explorer.test_restore import Work
from tests.tui.pictures import NOW, picture
from tests.tui.session_store import app_over, complete, listed, press_each, reached, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

SIZES = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
POSIX = pytest.mark.skipif(os.name == "nt", reason="the command is one of a POSIX shell")
LONG_AGO = NOW.timestamp() - 120


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LEAFWARD_HOME", str(tmp_path / "leafward"))


@SIZES
def test_restore(snap_compare: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    """A move with the files, one of which somebody changed."""
    work = Work(tmp_path)
    work.put("rows.py", "pears = 31\napples = 4\nplums = 1\n")
    os.utime(work.path, (LONG_AGO, LONG_AGO))

    async def before(pilot: Pilot[int]) -> None:
        screen = await reached(pilot, ExplorerScreen)
        await complete(pilot)
        await press_each(pilot, "g", "j")
        await until(pilot, lambda: screen.state.price)
        await press_each(pilot, "enter", "w", "G")
        await complete(pilot)

    app = app_over(work.path, config=Config(follow_interval=60))
    assert snap_compare(app, terminal_size=size, run_before=before)


@POSIX
@SIZES
def test_bisect(snap_compare: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    """The turn after which a row is missing."""
    path = orchard(tmp_path).file.path

    async def before(pilot: Pilot[int]) -> None:
        await complete(pilot)
        sheet = await asked(pilot)
        await until(pilot, lambda: not sheet.running)
        await complete(pilot)

    app = app_over(path, config=Config(follow_interval=60))
    assert snap_compare(app, terminal_size=size, run_before=before)


@SIZES
def test_heal(snap_compare: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    path = refused(tmp_path)
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert picture(snap_compare, path, "h", size=size, config=Config(follow_interval=60))


@SIZES
def test_relocate(snap_compare: Any, tmp_path: Path, size: tuple[int, int]) -> None:
    store = stored(tmp_path)
    for path in store.iterdir():
        os.utime(path, (LONG_AGO, LONG_AGO))

    async def before(pilot: Pilot[int]) -> None:
        screen = await listed(pilot)
        screen.sessions.go(
            next(n for n, line in enumerate(screen.sessions.listing.lines) if line.group == "/gone/orchard")
        )
        await complete(pilot)
        await press_each(pilot, "L")
        await reached(pilot, ChoiceSheet)
        await complete(pilot)

    assert snap_compare(app_over(store), terminal_size=size, run_before=before)


@SIZES
def test_blame(
    snap_compare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """Lines of two turns and of a person; the cursor is on those of the second."""
    grove = Grove(tmp_path, monkeypatch)

    async def before(pilot: Pilot[int]) -> None:
        await complete(pilot)
        await opened(pilot)
        await pilot.press("n")
        await complete(pilot)

    app = app_over(grove.session, config=Config(follow_interval=60))
    assert snap_compare(app, terminal_size=size, run_before=before)
