"""The explorer and the catalogue on sessions of Claude Code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from leafward.config import Config
from tests.claude_transcript import DATA
from tests.tui.explored import exploring
from tests.tui.session_store import app_over, listed, rows, until


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / "2.1.330", tmp_path / ".claude"))


def bytes_of(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def file_in(home: Path, session: str) -> Path:
    return next(home.rglob(f"{session}*.jsonl"))


async def test_a_branched_and_compacted_session_is_explored_and_never_written(home: Path) -> None:
    before = bytes_of(home)
    async with exploring(file_in(home, "d379888c")) as (pilot, screen):
        shown = "\n".join(rows(pilot.app))
        for text in (
            "Add a mul function to src/calc.py",
            "Try the recursive approach",
            "Write a README",
            "What is left to do?",
            "recursive-branch",
        ):
            assert text in shown
        # Reminders and attachments begin no rows of their own between turns.
        assert not any("total_tokens" in line.partition("│")[0] for line in shown.splitlines())
        for key in ("x", "w", "c", "escape", "tab", "j", "J", "{", "o", "escape", "u", "l", "enter"):
            await pilot.press(key)
            await pilot.pause()
        await pilot.press("escape")
        assert screen.session is not None
    assert bytes_of(home) == before


async def test_the_catalogue_lists_sessions_with_forks_and_sub_agents(home: Path) -> None:
    app = app_over(home, config=Config())
    async with app.run_test(size=(120, 32)) as pilot:
        await listed(pilot)
        await until(pilot, lambda: "auto-compact" in "\n".join(rows(app)))
        shown = "\n".join(rows(app))
        assert "tree-demo" in shown
        assert "sub-agent: SUBAGENT" in shown
        assert "Delegate a survey of the repo to a helper" in shown
