"""The explorer and the catalogue on threads of Codex."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from leafward.config import Config
from leafward.entries import Kind
from tests.codex_rollout import DATA, Rollout
from tests.tui.explored import exploring
from tests.tui.session_store import app_over, listed, rows, until


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / "0.169", tmp_path / ".codex"))


def first_file(home: Path, part: str) -> Path:
    return next(path for path in home.rglob("*.jsonl") if part in path.name and "_" not in path.name)


def bytes_of(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file()}


async def test_a_reverted_thread_is_explored_as_a_tree_and_never_written(home: Path) -> None:
    before = bytes_of(home)
    async with exploring(first_file(home, "cb54")) as (pilot, screen):
        shown = "\n".join(rows(pilot.app))
        for prompt in (
            "Explain what src/calc.py does",
            "Write a README",
            "Try the recursive approach",
            "Run a command that fails",
            "Try the iterative approach",
        ):
            assert prompt in shown
        assert "Twice reverted" in shown
        for key in ("x", "w", "tab", "j", "J", "{", "o", "escape", "u", "l", "enter"):
            await pilot.press(key)
            await pilot.pause()
        await pilot.press("escape")
        assert screen.session is not None
    assert bytes_of(home) == before


async def test_what_a_reply_changed_is_shown_as_a_diff(home: Path) -> None:
    async with exploring(first_file(home, "c1f8")) as (pilot, screen):
        await pilot.press("g")
        for _ in range(12):
            await pilot.pause()
            if "mul function" in "\n".join(rows(pilot.app)) and "Changed" in "\n".join(rows(pilot.app)):
                break
            await pilot.press("j")
        shown = "\n".join(rows(pilot.app))
        assert "Changed" in shown
        assert "src/calc.py" in shown
        assert screen.session is not None


async def test_the_catalogue_lists_threads_with_their_forks(home: Path) -> None:
    app = app_over(home, config=Config())
    async with app.run_test(size=(120, 32)) as pilot:
        await listed(pilot)
        await until(pilot, lambda: "Twice reverted" in "\n".join(rows(app)))
        shown = "\n".join(rows(app))
        assert "Delegate a survey of the repo to a helper" in shown
        assert "sub-agent: SUBAGENT" in shown
        assert "What is left to do?" in shown


async def test_a_thread_that_compacts_over_and_over_is_folded(tmp_path: Path) -> None:
    """A thread of 0.47 whose context never got small enough holds hundreds of compactions in one turn."""
    rollout = Rollout(tmp_path, cli_version="0.47.0")
    rollout.turn("Count the pears", "Let me see.")
    rollout.prompt("Count them again")
    rollout.reply("One, two.", 3000)
    for number in range(382):
        rollout.line("compacted", message=f"Pears were counted, round {number}.")
    rollout.turn("How many are there?", "Seven.")
    async with exploring(rollout.path) as (pilot, screen):
        shown = "\n".join(rows(pilot.app))
        assert "380 compactions" in shown
        assert "Count the pears" in shown
        assert shown.count("◆") < 100
        assert screen.session is not None
        assert screen.session.columns.kind.count(Kind.COMPACTION) == 382


async def test_the_task_of_a_sub_agent_is_nothing_that_the_user_said(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, source={"subagent": {"other": "survey"}})
    rollout.turn("List the pears", "Seven.")
    async with exploring(rollout.path) as (pilot, _screen):
        shown = [line.split() for line in rows(pilot.app)]
        assert any("task List the pears" in " ".join(line) for line in shown)
        assert not any("you" in line for line in shown)
