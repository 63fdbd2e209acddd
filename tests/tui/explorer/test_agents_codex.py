"""The explorer on threads of Codex: what is theirs alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from leafward.session.entries import Kind
from tests.codex_rollout import DATA, Rollout, over_and_over, thread_in
from tests.tui.explored import exploring, here
from tests.tui.session_store import rows, until
from tests.tui.sure import sure


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / "0.169", tmp_path / ".codex"))


async def test_what_a_reply_changed_is_shown_as_a_diff(home: Path) -> None:
    async with exploring(thread_in(home, "c1f8")) as (pilot, screen):
        await pilot.press("g")
        while here(screen) != "Add":
            await pilot.press("j")
        await until(pilot, lambda: "Changed" in "\n".join(rows(pilot.app)))
        assert "src/calc.py" in "\n".join(rows(pilot.app))
        assert screen.state.session is not None


async def test_a_thread_that_compacts_over_and_over_is_folded(tmp_path: Path) -> None:
    rollout = over_and_over(tmp_path)
    async with exploring(rollout.path) as (pilot, screen):
        shown = "\n".join(rows(pilot.app))
        assert "380 compactions" in shown
        assert "Count the pears" in shown
        assert shown.count("◆") < 100
        assert sure(screen.state.session).columns.kind.count(Kind.COMPACTION) == 382


async def test_the_task_of_a_sub_agent_is_nothing_that_the_user_said(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, source={"subagent": {"other": "survey"}})
    rollout.turn("List the pears", "Seven.")
    async with exploring(rollout.path) as (pilot, _screen):
        shown = [line.split() for line in rows(pilot.app)]
        assert any("task List the pears" in " ".join(line) for line in shown)
        assert not any("you" in line for line in shown)
