"""Compactions in the explorer: their rows, and the tab Compaction."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.session.session import Session
from leafward.summaries.fates.report import SURVIVED, Status, survival_of
from leafward_tui.inspector.pane import Inspector
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.xray.screen import XRayScreen
from tests.compacted_session import Compacted
from tests.tui.explored import exploring, tree
from tests.tui.session_store import reached, until
from tests.tui.sure import sure
from tests.tui.xray.test_xray import orchard

if TYPE_CHECKING:
    from pathlib import Path


async def test_the_tab_says_what_was_repeated_afterwards(tmp_path: Path) -> None:
    file = Compacted(tmp_path / "s.jsonl")
    file.repeats()
    async with exploring(file.path) as (pilot, explorer):
        await pilot.press("3")
        await until(
            pilot,
            lambda: (
                explorer.panes.inspector.page is not None and "Repeated" in explorer.panes.inspector.page.text
            ),
        )
        lines = sure(explorer.panes.inspector.page).text.split("\n")
        first = next(at for at, line in enumerate(lines) if line.startswith("Repeated"))
        assert lines[first].startswith("Repeated  in ")
        assert [line.split()[0] for line in lines[first + 1 : first + 5]] == [
            "file",
            "command",
            "error",
            "request",
        ]


async def test_what_a_compaction_lost_stands_at_its_right(tmp_path: Path) -> None:
    path = orchard(tmp_path / "s.jsonl").path
    with closing(Session.open(path)) as session:
        lost = sum(1 for fate in survival_of(session, 20).fates if fate.status == "lost")
    assert lost
    async with exploring(path) as (pilot, explorer):
        await until(pilot, lambda: any(f"{counted(lost, 'fact')} lost" in line for line in tree(explorer)))
        line = next(line for line in tree(explorer) if "lost" in line)
        assert "compaction" in line
        assert explorer.state.texts.lost == {20: lost}


async def test_the_row_of_a_compaction_says_that_its_summary_is_encrypted(corpora: Path) -> None:
    (path,) = (corpora / "real" / "codex").glob("jdx__mise__*.jsonl")
    async with exploring(path) as (pilot, explorer):
        await until(pilot, lambda: None in explorer.state.texts.lost.values())
        await pilot.pause()
        (line,) = [line for line in tree(explorer) if "compaction" in line]
        assert line.rstrip().endswith("summary encrypted")
        await pilot.press("v")
        (at,) = explorer.state.texts.lost
        explorer.controllers.navigation.go_to_entry(at)
        await until(pilot, lambda: any("compaction" in line for line in tree(explorer)))
        line = next(line for line in tree(explorer) if "compaction" in line)
        assert " encrypted" in line
        assert "summary encrypted" not in line


async def test_cells_for_what_is_lost_are_there_before_it_is_counted(tmp_path: Path) -> None:
    async with exploring(orchard(tmp_path / "s.jsonl").path) as (pilot, explorer):
        await until(pilot, lambda: 20 in explorer.state.texts.lost)
        known = dict(explorer.state.texts.lost)
        await until(pilot, lambda: any("lost" in line for line in tree(explorer)))
        full = tree(explorer)
        explorer.state.texts.lost.clear()
        explorer.panes.tree.redraw_rows()
        await pilot.pause()
        empty = tree(explorer)
        word = f"{counted(known[20] or 0, 'fact')} lost"
        assert [line.replace(word, " " * len(word)).rstrip() for line in full] == [
            line.rstrip() for line in empty
        ]


async def test_the_tab_tells_what_was_lost_and_leads_there(tmp_path: Path) -> None:
    async with exploring(orchard(tmp_path / "s.jsonl", twice=True).path, (140, 44)) as (pilot, explorer):
        inspector = explorer.query_one(Inspector)
        explorer.controllers.navigation.go_to_entry(22)
        await pilot.press("3")
        await until(
            pilot,
            lambda: (
                inspector.page is not None
                and inspector.page.tab is Tab.COMPACTION
                and "#22" in inspector.page.text
            ),
        )
        page = sure(inspector.page)
        for told in (
            "summarised",
            "total",
            "Survival",
            "Lost",
            "Decay  facts left after each of 2 compactions",
            "before and after",
        ):
            assert told in page.text
        # The share weighs facts and the lines below count them: the heading says both.
        heading = next(line.text for line in page.lines if line.text.startswith("Survival"))
        with closing(Session.open(tmp_path / "s.jsonl")) as session:
            fates = [fate for fate in survival_of(session, 22).fates if fate.status is not Status.INVENTED]
        assert f"{sum(fate.status in SURVIVED for fate in fates)} of {len(fates)}" in heading
        assert "by weight" in heading
        lost = next(line for line in page.lines if line.text.startswith(UNICODE.error))
        assert lost.entry >= 0
        explorer.panes.inspector.focus()
        await pilot.press("g")
        await until(pilot, lambda: inspector.view.cursor >= 0)
        await pilot.press("enter")
        await reached(pilot, XRayScreen)
        assert isinstance(pilot.app.screen, XRayScreen)
        assert pilot.app.screen.state.compaction == 22
