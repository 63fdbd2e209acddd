"""Sessions that the list of sessions hands to their agents."""

from __future__ import annotations

from datetime import timedelta
from shlex import quote
from threading import Event
from typing import TYPE_CHECKING

import pytest

from leafward.base.shown_path import NO_PROJECT_FOLDER
from leafward_tui.catalogue.controllers import installation as installation_module
from leafward_tui.catalogue.controllers import relocation as relocation_module
from leafward_tui.catalogue.controllers import session as session_module
from leafward_tui.catalogue.model.listing import Grouping
from leafward_tui.ui import agent_run as resume_module
from leafward_tui.ui.sheets.key_help import HelpScreen
from tests.tui.session_store import (
    HELD,
    NARROW,
    WIDE,
    SessionFile,
    browsing,
    reached,
    rested,
    rows,
    shows,
    until,
)
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


async def test_resuming_hands_over_the_agents_own_command(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = SessionFile(store, str(tmp_path), "resume me", ago=timedelta(minutes=3))
    asked = []
    monkeypatch.setattr(resume_module, "run_in_agent", lambda _app, resume: asked.append(resume))
    async with browsing(store) as (pilot, screen):
        assert sure(screen.sessions.card).title == "resume me"
        await pilot.press("R")
        await until(pilot, lambda: asked)
    assert asked[0].argv == ("pi", "--session", str(session.path))
    assert asked[0].cwd == str(tmp_path)


@pytest.mark.parametrize("key", ["R", "L", "I"])
async def test_what_a_key_asked_for_does_not_come_over_another_screen(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    SessionFile(store, str(tmp_path), "resume me", ago=timedelta(minutes=3))
    asked, gate = [], Event()
    monkeypatch.setattr(resume_module, "run_in_agent", lambda _app, resume: asked.append(resume))
    for module, job in ((session_module, "resume_command"), (relocation_module, "relocate_project")):
        monkeypatch.setattr(module, job, _held(getattr(module, job), gate))
    monkeypatch.setattr(installation_module, "agent_files", _held(installation_module.agent_files, gate))
    async with browsing(store) as (pilot, screen):
        monkeypatch.setitem(screen.state.list.stock.status.moved, str(tmp_path), "/elsewhere")
        await pilot.press(key, "question_mark")
        help_screen = await reached(pilot, HelpScreen)
        gate.set()
        await rested(pilot)
        assert pilot.app.screen is help_screen
    assert asked == []


def _held(work: Callable[..., object], gate: Event) -> Callable[..., object]:
    """A job that begins once the gate is open."""

    def held(*given: object, **named: object) -> object:
        gate.wait(HELD)
        return work(*given, **named)

    return held


async def test_where_resuming_fails_the_command_is_copied(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = SessionFile(store, str(tmp_path), "resume me", ago=timedelta(minutes=3))
    monkeypatch.setattr(resume_module, "run_in_agent", lambda _app, _resume: "pi is not installed")
    async with browsing(store) as (pilot, _):
        await pilot.press("R")
        await until(pilot, lambda: pilot.app.clipboard)
        assert pilot.app.clipboard.endswith(f"pi --session {quote(str(session.path))}")
        assert any("its command is copied" in one.message for one in pilot.app._notifications)


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_session_whose_folder_is_gone_is_not_resumed(store: Path, size: tuple[int, int]) -> None:
    async with browsing(store, size=size) as (pilot, screen):
        # In the list as well, however its sessions are grouped.
        await pilot.press("v", "v")
        await shows(pilot, screen, lambda listing: listing.view.grouping is Grouping.DAY)
        await until(
            pilot, lambda: "no folder" in rows(pilot.app)[-1] or NO_PROJECT_FOLDER in rows(pilot.app)[-1]
        )
        await pilot.press("R")
        await until(
            pilot, lambda: any("project folder not found" in one.message for one in pilot.app._notifications)
        )
