"""Healing from the explorer: every change is shown, and the new session opened."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from leafward_tui.explorer.controllers.heal import is_healable
from leafward_tui.explorer.heal_sheet import HealSheet
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import Acting, call
from tests.pi_file import HEADER
from tests.tui.explored import exploring, note
from tests.tui.session_store import NARROW, reached, shown, until
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WANTED

if TYPE_CHECKING:
    from pathlib import Path


def refused(tmp_path: Path) -> Path:
    """A session with a call that has no result, and one that stands twice."""
    path = tmp_path / "pears.jsonl"
    file = Acting(path, {**HEADER, "cwd": str(tmp_path)})
    file.user("plant the pears")
    file.said("let me look", call("bash", "b1", command="ls"))
    file.user("never mind, graft them")
    file.said("grafting", call("bash", "b2", command="graft"), call("bash", "b2", command="graft"))
    file.answered("b2", "bash", "grafted")
    file.said("")
    file.said("done")
    return path


async def test_every_change_is_shown_and_the_new_session_is_opened(tmp_path: Path) -> None:
    path = refused(tmp_path)
    before = path.read_bytes()
    async with exploring(path) as (pilot, screen):
        await pilot.press("h")
        sheet = await reached(pilot, HealSheet)
        await pilot.pause()
        text = shown(pilot)
        assert "call b1 has no result: a result that says so is added" in text
        assert "open-call" not in text
        files = sorted(os.listdir(tmp_path))
        await pilot.press("escape")
        await until(pilot, lambda: screen.app.screen is screen)
        assert sorted(os.listdir(tmp_path)) == files
        await pilot.press("h")
        assert await reached(pilot, HealSheet) is not sheet
        await pilot.press("enter")
        await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: screen.app.screen is not screen)
        healed = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: healed.state.session is not None)
        assert healed.state.path != path
        await pilot.press("h")
        await until(pilot, lambda: "nothing to heal" in note(healed))
    assert path.read_bytes() == before


async def test_where_the_project_folder_is_missing_it_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    path = refused(tmp_path)
    first, rest = path.read_bytes().split(b"\n", 1)
    header = json.loads(first) | {"cwd": str(tmp_path / "gone")}
    path.write_bytes(json.dumps(header).encode() + b"\n" + rest)
    async with exploring(path) as (pilot, screen):
        await pilot.press("h")
        asked = await reached(pilot, TextSheet)
        await until(pilot, lambda: "project folder not found" in shown(pilot))
        asked.input.value = str(tmp_path / "moved")
        await pilot.press("enter")
        await reached(pilot, HealSheet)
        await pilot.press("enter")
        await until(
            pilot, lambda: isinstance(screen.app.screen, ExplorerScreen) and screen.app.screen is not screen
        )
        healed = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: healed.state.session is not None)
        assert sure(healed.state.session).cwd == str(tmp_path / "moved")


async def test_on_a_narrow_screen(tmp_path: Path) -> None:
    async with exploring(refused(tmp_path), NARROW) as (pilot, _screen):
        await pilot.press("h")
        await reached(pilot, HealSheet)
        await until(pilot, lambda: "begin and open it" in shown(pilot))


async def test_where_damage_is_no_matter_of_a_provider_the_way_to_it_is_named(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    file.user("one")
    file.said("ok")
    file.path.write_bytes(file.path.read_bytes() + b"nonsense\n")
    async with exploring(file.path, NARROW) as (pilot, screen):
        await pilot.press("h")
        await until(pilot, lambda: "leafward doctor names what is damaged" in note(screen))
        assert note(screen).strip().startswith("!"), "no tick beside a problem"


async def test_the_key_is_offered_where_healing_would_change_something(tmp_path: Path) -> None:
    path = refused(tmp_path)
    path.write_bytes(path.read_bytes() + b"nonsense\n")
    async with exploring(path) as (pilot, _screen):
        await until(pilot, lambda: "h heal" in shown(pilot))


async def test_it_is_not_for_damage_that_no_provider_sees(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    file.user("one")
    file.said("ok")
    file.path.write_bytes(file.path.read_bytes() + b"nonsense\n")
    async with exploring(file.path) as (pilot, screen):
        session = sure(screen.state.session)
        assert session.columns.damaged
        assert not is_healable(session, WANTED)
        assert not screen.state.healable
        assert "h heal" not in shown(pilot)
