"""The explorer and the log on the demo, as pictures: few, so that a change of the look is seen and nothing else is."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.session.journal.operation_log import operations
from leafward.session.journal.session_operations import label, move, undo
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from tests.tui.explored import NARROW, WIDE
from tests.tui.pictures import INTO_A_BRANCH, NOW, picture

if TYPE_CHECKING:
    from pathlib import Path


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
