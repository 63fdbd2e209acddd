"""Work repeated after a compaction, as pictures: on its tab and at its row, and in the totals of all sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward_tui.catalogue.totals import TotalsScreen
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.inspector.pane import Inspector
from tests.compacted_session import Compacted
from tests.tui.explored import NARROW, WIDE, ready
from tests.tui.pictures import FixedApp
from tests.tui.session_store import app_over, complete, listed, press_each, reached, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

SIZES = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])


@pytest.fixture
def file(tmp_path: Path) -> Compacted:
    folder = tmp_path / "sessions"
    folder.mkdir()
    made = Compacted(folder / "s.jsonl")
    made.repeats()
    return made


@SIZES
def test_repeated(snap_compare: Any, file: Compacted, size: tuple[int, int]) -> None:
    async def before(pilot: Pilot[int]) -> None:
        explorer = pilot.app.screen
        assert isinstance(explorer, ExplorerScreen)
        await until(pilot, lambda: ready(explorer) and any(explorer.state.texts.repeated.values()))
        await press_each(pilot, "3", *(["tab"] if size == WIDE else []))
        view = explorer.panes.inspector
        assert isinstance(view, Inspector)
        await until(pilot, lambda: "Repeated" in str(view.page.lines if view.page is not None else ""))
        await press_each(pilot, "G")
        await complete(pilot)

    assert snap_compare(FixedApp(file.path, Config()), terminal_size=size, run_before=before)


@SIZES
def test_totals(snap_compare: Any, file: Compacted, size: tuple[int, int]) -> None:
    async def before(pilot: Pilot[int]) -> None:
        await listed(pilot)
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.followed is not None)
        await press_each(pilot, "G")
        await complete(pilot)

    assert snap_compare(app_over(file.path.parent), terminal_size=size, run_before=before)
