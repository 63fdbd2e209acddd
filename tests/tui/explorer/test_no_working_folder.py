"""The folder that Leafward was started in is deleted while it runs, as an agent deletes its worktree: keys that suggest a folder go on."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.session.session import Session
from leafward_tui.explorer.model.forks import folder_at
from leafward_tui.ui.saved_files import free_path, save_files
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.tui.compared import comparing, parted
from tests.tui.explored import exploring, forked, note
from tests.tui.session_store import reached, rested, until
from tests.tui.waiting_jobs import WANTED

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems keep the folder of a process")


@pytest.fixture
def gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the process works in, deleted."""
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    return folder


@pytest.mark.usefixtures("gone")
async def test_an_export_says_why_there_is_none(tmp_path: Path) -> None:
    async with exploring(forked(tmp_path / "s.jsonl").path) as (pilot, _screen):
        await pilot.press("e")
        sheet = await reached(pilot, ChoiceSheet)
        await pilot.press("m")
        await until(pilot, lambda: any("is gone" in one.message for one in pilot.app._notifications))
        assert not sheet.is_attached


@pytest.mark.usefixtures("gone")
@pytest.mark.parametrize("key", ["e", "H", "%", "b", "h"])
async def test_keys_that_ask_for_a_folder_open_their_sheet(tmp_path: Path, key: str) -> None:
    async with exploring(forked(tmp_path / "s.jsonl", tmp_path / "no project").path) as (pilot, screen):
        await pilot.press("k", key)
        await rested(pilot)
        assert pilot.app.screen is not screen or note(screen)


@pytest.mark.usefixtures("gone")
async def test_files_can_be_written_to_a_folder_that_is_typed(tmp_path: Path) -> None:
    async with exploring(forked(tmp_path / "s.jsonl").path) as (pilot, _screen):
        await pilot.press("e")
        await reached(pilot, ChoiceSheet)
        await pilot.press("f")
        sheet = await reached(pilot, TextSheet)
        assert not sheet.input.value


@pytest.mark.usefixtures("gone")
async def test_a_comparison_opens_its_export(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _explorer, _screen):
        await pilot.press("e")
        await reached(pilot, ChoiceSheet)


@pytest.mark.usefixtures("gone")
def test_a_folder_can_be_named_all_the_same(tmp_path: Path) -> None:
    assert folder_at(str(tmp_path)) == (str(tmp_path), True, "")
    with pytest.raises(Refused, match="is gone"):
        free_path("s", "md")


@pytest.mark.usefixtures("gone")
def test_a_folder_named_from_there_is_refused_with_the_reason(tmp_path: Path) -> None:
    with (
        closing(Session.open(forked(tmp_path / "s.jsonl").path)) as session,
        pytest.raises(Refused, match="is gone: start it in another one"),
    ):
        save_files(session, session.leaf, "out", None, WANTED)


def test_a_home_folder_of_nobody_is_refused(tmp_path: Path) -> None:
    with closing(Session.open(forked(tmp_path / "s.jsonl").path)) as session:
        saved = save_files(session, session.leaf, "~nobody-has-this-name/x", None, WANTED)
    assert saved.problem
    assert "~nobody-has-this-name/x" in saved.text
