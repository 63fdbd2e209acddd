"""The lab's view of a summary before it is accepted: its whole text, invented facts, a context that grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.base.strategies import Strategy
from leafward_tui.lab.controllers.path import begin
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.codex_rollout import Rollout
from tests.tui.considered import considering, follow, said, stored, working
from tests.tui.session_store import reached, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.lab.screen import LabScreen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return working(tmp_path / "session.jsonl").path


async def write(pilot: Pilot[int], screen: LabScreen, text: str) -> None:
    """Puts another summary in the place of the draft's."""
    await pilot.press("E")
    await until(pilot, lambda: screen.panes.editor is not None)
    sure(screen.panes.editor).text = text
    await pilot.press("escape")
    await until(pilot, lambda: screen.state.draft is not None and screen.state.draft.changed)
    await pilot.pause()


@pytest.mark.parametrize("size", [(120, 32), (200, 60)])
async def test_the_summary_opens_whole(path: Path, size: tuple[int, int]) -> None:
    async with considering(path, size) as (pilot, screen):
        await pilot.press("tab", "tab")
        assert screen.state.layout.area == "text"
        narrow = screen.panes.text.size
        await pilot.press("Z")
        await pilot.pause()
        wide = screen.panes.text.size
        assert wide.width > size[0] - 6
        assert wide.height > narrow.height
        assert "Context after" not in shown(screen)
        await pilot.press("escape")
        await until(pilot, lambda: screen.panes.text.size == narrow)
        assert pilot.app.screen is screen


async def test_a_pane_that_is_alone_says_so(path: Path) -> None:
    async with considering(path, (80, 24)) as (pilot, screen):
        await pilot.press("Z")
        assert "has all the room already" in said(screen)
        assert not screen.state.layout.whole


async def test_what_a_summary_invents_is_shown_before_it_is_accepted(path: Path) -> None:
    async with considering(path) as (pilot, screen):
        assert "Invented" not in shown(screen)
        await write(
            pilot, screen, f"{sure(screen.state.draft).summary.text}\n- `src/never_there.py` was rewritten"
        )
        assert "Invented  1" in shown(screen)
        assert "src/never_there.py" in shown(screen)
        await pilot.press("ctrl+s")
        await reached(pilot, ChoiceSheet)
        text = "\n".join(rows(pilot.app))
        assert "1 fact of the summary is invented (nothing before says so): src/never_there.py" in text


async def test_a_compaction_that_makes_the_context_larger_is_not_offered(path: Path) -> None:
    before = stored(path)
    async with considering(path) as (pilot, screen):
        assert screen.state.draft is not None
        assert "accept" in rows(pilot.app)[-1]
        await write(pilot, screen, screen.state.draft.summary.text + "\n- and more" * 20_000)
        assert "grows by" in shown(screen)
        assert "accept" not in rows(pilot.app)[-1]
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert "makes the context larger" in said(screen)
        assert stored(path) == before


async def test_sections_have_heads_and_whole_names(path: Path) -> None:
    async with considering(path, (120, 32)) as (pilot, screen):
        await follow(pilot, screen, "right")
        lines = sure(screen.panes.plan.lines)
        text = [lines[y].text for y in range(len(lines))]
        head = next(y for y, line in enumerate(text) if line.split()[:1] == ["section"])
        assert text[head].split() == ["section", "shown", "tokens"]
        assert screen.state.what_if is not None
        below = " ".join(" ".join(text[head:]).split())
        for section in screen.state.what_if.sections:
            words = section.title.split()
            assert all(word in below for word in words), section.title
        assert "…" not in "".join(text[head : head + 2 * len(screen.state.what_if.sections)])


@pytest.mark.parametrize(("strategy", "planned"), [("own", Strategy.CODEX), ("pi", Strategy.PI)])
def test_the_rules_are_those_of_the_sessions_agent(tmp_path: Path, strategy: str, planned: Strategy) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("one")
    rollout.reply("first")
    session = rollout.opened()
    found = begin(session, session.leaf, -1, Config(strategy=strategy))
    assert found.choices.strategy is planned
