"""Work repeated after a compaction, at its row in the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward_tui.ui.text.cells import count
from tests.compacted_session import Compacted
from tests.tui.explored import NARROW, WIDE, exploring
from tests.tui.session_store import rows, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


def told(pilot: Pilot[int]) -> str:
    """The row of the compaction."""
    return next((row for row in rows(pilot.app) if "◆" in row), "")


async def test_it_stands_there_once_it_is_counted_and_follows(tmp_path: Path) -> None:
    file = Compacted(tmp_path / "s.jsonl")
    async with exploring(file.path, WIDE) as (pilot, explorer):
        await until(pilot, lambda: explorer.state.texts.repeated)
        assert "repeat" not in told(pilot), "nothing was"
        file.repeats()
        found = file.aftermath()
        words = f"{len(found.repeated)} repeats, {count(found.tokens)}"
        await until(pilot, lambda: words in told(pilot))
        # What is counted as it stands is not counted again.
        assert set(explorer.state.texts.counted.values()) == {len(explorer.state.session or ())}


async def test_it_is_a_number_beside_the_lost_facts_where_there_is_no_room(tmp_path: Path) -> None:
    file = Compacted(tmp_path / "s.jsonl")
    file.repeats()
    async with exploring(file.path, (60, 24)) as (pilot, explorer):
        await until(pilot, lambda: any(number for number, _ in explorer.state.texts.repeated.values()))
        await pilot.pause()
        row = told(pilot)
        assert ("lost, 4 again" in row) != ("4 repeats, " in row)
    async with exploring(file.path, NARROW) as (pilot, _):
        await until(pilot, lambda: "4 repeats, " in told(pilot))


@pytest.mark.parametrize("size", [(60, 24), NARROW, (120, 32), (200, 60)])
async def test_a_context_that_became_larger_says_so_at_any_width(
    repository: Path, size: tuple[int, int]
) -> None:
    (file,) = (repository / "tests" / "data" / "codex" / "0.47").rglob("*.jsonl")
    async with exploring(file, size) as (pilot, _):
        await until(pilot, lambda: "109.0k, larger" in told(pilot))
        if size != (60, 24):
            assert "107.0k → 109.0k, larger" in told(pilot)
