"""The explorer and the log on the demo, as pictures: few, so that a change of the look is seen and nothing else is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.session.journal import Writing, label, move, operations, undo
from leafward.session.session import Session
from leafward_tui.app.app import LeafwardApp
from leafward_tui.explorer import ExplorerScreen
from tests.tui.explored import NARROW, WIDE, ready
from tests.tui.session_store import complete, press_each, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

NOW = datetime(2026, 11, 17, 15, 38, 10, tzinfo=UTC)
"""Two minutes after the demo's day ends."""

INTO_A_BRANCH = ("left_curly_bracket", "left_curly_bracket", "left_curly_bracket", "j", "j", "z", "j")
"""From the leaf up to a branch point and down to the last turn of what leaves there."""


class FixedApp(LeafwardApp):
    """Its clock stands still."""

    def __init__(self, path: Path, config: Config) -> None:
        env = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        super().__init__([path], config, clock=lambda: NOW, env=env, encoding="utf-8")


def picture(
    compare: Any, path: Path, *keys: str, size: tuple[int, int] = WIDE, config: Config | None = None
) -> bool:
    """Whether the screen after some keys looks as it did."""

    async def before(pilot: Pilot[int]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, ExplorerScreen)
        await until(pilot, lambda: ready(screen))
        await complete(pilot)
        await press_each(pilot, *keys)
        await complete(pilot)

    return bool(compare(FixedApp(path, config or Config()), terminal_size=size, run_before=before))


def test_explorer(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo)


def test_explorer_light(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, config=Config(theme="clearing"))


def test_explorer_narrow(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, size=NARROW)


def test_ghost(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *INTO_A_BRANCH)


def test_ghost_without_hue(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *INTO_A_BRANCH, config=Config(theme="mono"))


def test_ghost_in_ascii_and_narrow(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *INTO_A_BRANCH, size=NARROW, config=Config(ascii=True))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_log(snap_compare: Any, demo: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """After a move that was undone and a label."""
    ids = iter(f"0000f{number:03x}" for number in range(1, 99))
    monkeypatch.setattr("leafward.session.journal.session_operations.new_id", lambda _columns: next(ids))
    opened = Session.open(demo)
    minutes = iter(range(1, 99))

    def writing() -> Writing:
        return Writing(now=lambda: NOW - timedelta(minutes=60) + timedelta(minutes=10 * next(minutes)))

    move(opened, next(iter(opened.tree.leaves())), writing())
    undo(opened, None, writing())
    label(opened, opened.tree.branch_points()[0], "start here", writing())
    assert len(operations(opened)) > 3
    opened.close()
    assert picture(snap_compare, demo, "o", size=size)
