"""Pictures of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.catalogue import moved_folders
from tests.tui.session_store import (
    NARROW,
    WIDE,
    app_over,
    complete,
    listed,
    mixed_store,
    press_each,
    previewed,
    rows,
    small_store,
    until,
)

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


def picture(snap_compare: Any, app: Any, size: tuple[int, int], *keys: str) -> bool:
    async def before(pilot: Pilot[int]) -> None:
        screen = await listed(pilot)
        await press_each(pilot, *keys)
        if pilot.app.screen is screen and screen.sessions.card is not None and screen.preview.display:
            await previewed(pilot, screen)
        await complete(pilot)

    return bool(snap_compare(app, terminal_size=size, run_before=before))


@pytest.fixture
def fixed_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store where nothing that is shown depends on the folder of this test."""
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setattr(moved_folders, "missing_folders", lambda _projects: frozenset())
    small_store(tmp_path)
    return tmp_path


def test_picture_wide(snap_compare: Any, fixed_store: Path) -> None:
    assert picture(snap_compare, app_over(fixed_store), (120, 32))


def test_picture_narrow(snap_compare: Any, fixed_store: Path) -> None:
    assert picture(snap_compare, app_over(fixed_store), NARROW, "j", "j")


def test_picture_empty(snap_compare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "/home/ada/.pi/agent")
    monkeypatch.setenv("CODEX_HOME", "/home/ada/.codex")
    monkeypatch.setenv("XDG_DATA_HOME", "/home/ada/.local/share")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/home/ada/.claude")
    monkeypatch.chdir(tmp_path)

    async def before(pilot: Pilot[int]) -> None:
        # That there are none is known last.
        await until(pilot, lambda: any("No sessions yet" in row for row in rows(pilot.app)))
        await complete(pilot)

    assert snap_compare(app_over(), terminal_size=(120, 32), run_before=before)


@pytest.fixture
def steady(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sessions of two agents, where one of the projects is missing however this machine looks."""
    only = {"/home/ada/attic"}
    monkeypatch.setattr(moved_folders, "missing_folders", lambda named: frozenset(only & set(named)))
    monkeypatch.setenv("HOME", "/home/ada")
    mixed_store(tmp_path / "all")
    return tmp_path / "all"


def test_picture_forest(snap_compare: Any, steady: Path) -> None:
    assert picture(snap_compare, app_over(steady), WIDE, "v")


def test_picture_totals(snap_compare: Any, steady: Path) -> None:
    assert picture(snap_compare, app_over(steady), WIDE, "dollar_sign")


def test_picture_days_in_ascii(snap_compare: Any, steady: Path) -> None:
    assert picture(snap_compare, app_over(steady, config=Config(ascii=True)), NARROW, "v", "v")
