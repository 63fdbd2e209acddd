"""The catalogue puts Leafward into an agent's file after showing what it would write, and takes it out again."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.installation import apply, installation
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from tests.tui.session_store import NARROW, WIDE, app_over, browsing, complete, reached, shown, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "home" / ".claude" / "settings.json").write_text('{"model": "opus"}')
    return tmp_path / "home"


async def _asked(pilot: Pilot[Any], words: str) -> None:
    await pilot.press("I")
    await reached(pilot, ChoiceSheet)
    text = shown(pilot)
    line = next(line for line in text.splitlines() if words in line)
    await pilot.press(next(sign for sign in line.split(words)[0] if sign in "abcdefgh"))
    await reached(pilot, ReadingSheet)


async def test_it_is_written_after_it_was_shown_and_taken_out_whole(home: Path) -> None:
    file = home / ".claude" / "settings.json"
    before = file.read_bytes()
    async with browsing() as (pilot, _):
        await _asked(pilot, "Install in Claude Code")
        assert "PreCompact" in shown(pilot)
        assert file.read_bytes() == before
        await pilot.press("enter")
        await until(pilot, lambda: file.read_bytes() != before)
        assert set(json.loads(file.read_bytes())["hooks"]) == {"PreCompact", "SessionStart"}
        await _asked(pilot, "Remove from Claude Code")
        await pilot.press("enter")
        await until(pilot, lambda: file.read_bytes() == before)


async def test_nothing_is_written_where_one_leaves_or_the_file_changed(home: Path) -> None:
    file = home / ".claude" / "settings.json"
    async with browsing(size=NARROW) as (pilot, _):
        await _asked(pilot, "Install in Claude Code")
        await pilot.press("escape")
        assert file.read_text() == '{"model": "opus"}'
        await _asked(pilot, "Install in Claude Code")
        file.write_text("{}")
        await pilot.press("enter")
        await until(
            pilot, lambda: any("changed meanwhile" in one.message for one in pilot.app._notifications)
        )
        assert file.read_text() == "{}"


async def test_a_file_that_cannot_be_read_is_said_and_cannot_be_chosen(home: Path) -> None:
    (home / ".claude" / "settings.json").write_text("// mine\n{}")
    async with browsing() as (pilot, _):
        await pilot.press("I")
        await reached(pilot, ChoiceSheet)
        assert "settings.json is not valid JSON" in shown(pilot)


@pytest.mark.skipif(os.name != "posix", reason="other systems keep the folder of a process")
async def test_it_is_taken_out_although_the_folder_that_leafward_runs_in_is_gone(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation has to look into that folder, and is refused with the reason."""
    file = home / ".claude" / "settings.json"
    before = file.read_bytes()
    apply(installation("claude"))
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    async with browsing() as (pilot, _):
        await _asked(pilot, "Remove from Claude Code")
        await pilot.press("enter")
        await until(pilot, lambda: file.read_bytes() == before)


async def test_pi_may_get_its_summaries_too(home: Path) -> None:
    file = home / ".pi" / "agent" / "extensions" / "leafward-context.js"
    async with browsing() as (pilot, _):
        await _asked(pilot, "Install in pi, with summaries")
        await pilot.press("enter")
        await until(pilot, file.exists)
        wanted = installation("pi", summary=True)
        assert not wanted.changed, "it is what the command line writes"
        assert installation("pi").changed
        await _asked(pilot, "Remove from pi")
        await pilot.press("enter")
        await until(pilot, lambda: not file.exists())
        await pilot.press("I")
        await reached(pilot, ChoiceSheet)
        assert shown(pilot).count("Install in pi, with summaries") == 1, (
            "no other agent takes one from elsewhere"
        )


async def test_what_was_written_last_does_not_lie_over_the_next_choice(home: Path) -> None:
    file = home / ".config" / "opencode" / "plugin" / "leafward-context.js"
    async with browsing(size=NARROW) as (pilot, _):
        await _asked(pilot, "Install in opencode")
        await pilot.press("enter")
        await until(pilot, file.exists)
        await until(pilot, lambda: len(pilot.app._notifications))
        await pilot.press("I")
        await reached(pilot, ChoiceSheet)
        assert not len(pilot.app._notifications)
        assert "Remove from opencode" in shown(pilot)


def _is_as(summary: bool) -> bool:
    return not installation("pi", summary=summary).changed


async def test_summaries_may_be_added_and_taken_back_where_it_is_installed(home: Path) -> None:
    file = home / ".pi" / "agent" / "extensions" / "leafward-context.js"
    async with browsing() as (pilot, _):
        await _asked(pilot, "Install in pi")
        await pilot.press("enter")
        await until(pilot, file.exists)
        for title, summary in (("Install in pi, with summaries", True), ("Install in pi, without", False)):
            await _asked(pilot, title)
            await pilot.press("enter")
            await until(pilot, partial(_is_as, summary))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_agents_to_choose_from(snap_compare: Any, home: Path, size: tuple[int, int]) -> None:
    assert home.is_dir()

    async def before(pilot: Pilot[Any]) -> None:
        # That there are none is known last.
        await until(pilot, lambda: "No sessions yet" in shown(pilot))
        await pilot.press("I")
        await reached(pilot, ChoiceSheet)
        await complete(pilot)

    assert snap_compare(app_over(home), terminal_size=size, run_before=before)
