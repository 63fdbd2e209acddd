"""The compaction lab on the demo, as pictures: few, so that a change of the look is seen and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.lab.runs import RunsScreen
from leafward_tui.lab.screen import LabScreen
from tests.tui.considered import settled
from tests.tui.explored import NARROW, WIDE, ready
from tests.tui.pictures import FixedApp
from tests.tui.session_store import complete, press_each, reached, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


def picture(
    compare: Any, path: Path, *keys: str, size: tuple[int, int] = WIDE, config: Config | None = None
) -> bool:
    """Whether the lab at the leaf looks after some keys as it did."""

    async def before(pilot: Pilot[int]) -> None:
        explorer = pilot.app.screen
        assert isinstance(explorer, ExplorerScreen)
        await until(pilot, lambda: ready(explorer))
        await pilot.press("c")
        screen = await reached(pilot, LabScreen)
        await until(pilot, lambda: settled(screen))
        await press_each(pilot, *keys)
        await until(pilot, lambda: settled(screen) and screen.state.draft is not None)
        lines = screen.panes.cut.lines
        await until(
            pilot,
            lambda: (
                lines is None
                or all(
                    entry in screen.state.turns.words for entry in screen.controllers.turns.entries_shown()
                )
            ),
        )
        if screen.state.layout.page == "Exam":
            await until(pilot, lambda: screen.state.exam.result is not None)
        await complete(pilot)

    return bool(compare(FixedApp(path, config or Config()), terminal_size=size, run_before=before))


def test_lab(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo)


def test_lab_without_hue(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, "plus", "plus", size=(140, 40), config=Config(theme="mono"))


def test_lab_narrow(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, "minus", size=NARROW)


def test_lost_facts_in_ascii_and_narrow(snap_compare: Any, demo: Path) -> None:
    keys = ("tab", "tab", "tab", "p")
    assert picture(snap_compare, demo, *keys, size=NARROW, config=Config(ascii=True))


EXAM = ("tab", "tab", "v", "v", "v")


def test_exam(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *EXAM)


def test_exam_narrow(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *EXAM, size=NARROW)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_runs(snap_compare: Any, demo: Path, size: tuple[int, int]) -> None:
    async def before(pilot: Pilot[int]) -> None:
        explorer = pilot.app.screen
        assert isinstance(explorer, ExplorerScreen)
        await until(pilot, lambda: ready(explorer))
        await pilot.press("c")
        lab = await reached(pilot, LabScreen)
        await until(pilot, lambda: settled(lab) and bool(lab.state.drafts.runs))
        await pilot.press("right")
        await until(pilot, lambda: settled(lab) and len(lab.state.drafts.runs) > 1)
        await pilot.press("d")
        runs = await reached(pilot, RunsScreen)
        await until(pilot, lambda: len(runs.state.exams) == 2)
        await complete(pilot)

    assert snap_compare(FixedApp(demo, Config()), terminal_size=size, run_before=before)
