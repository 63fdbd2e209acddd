"""Summaries of the explorer, driven by its keys."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from leafward.base.config import Config
from leafward.export.demo import demo_session
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.tui.explored import exploring, note
from tests.tui.session_store import reached, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.explorer.screen import ExplorerScreen

QUICK = Config(follow_interval=0.02)


def saved(folder: Path) -> list[Path]:
    return sorted(folder.glob("*-summary*.md"))


async def summing(pilot: Pilot[int], screen: ExplorerScreen) -> None:
    """Moves two turns up with a summary, until the first words of it are there; `gate` holds the rest back."""
    await pilot.press("K", "K", "enter")
    await reached(pilot, ChoiceSheet)
    await pilot.press("s")
    await until(pilot, lambda: "tokens" in note(screen))


async def at_rest(pilot: Pilot[int], screen: ExplorerScreen) -> None:
    await until(
        pilot,
        lambda: (
            screen.state.summary is None
            and not screen.state.busy
            and pilot.app.screen is screen
            and screen.state.exploration is not None
            and screen.state.exploration.layout.tree is screen.state.exploration.session.tree
        ),
    )
    await pilot.pause()


@asynccontextmanager
async def on_demo(size: tuple[int, int]) -> AsyncIterator[tuple[Pilot[int], ExplorerScreen, Path]]:
    """The explorer on the demo, a few turns above the leaf, its price on the screen."""
    with demo_session() as path:
        async with exploring(path, size, QUICK) as (pilot, screen):
            await pilot.press("K", "K", "K", "K")
            await until(pilot, lambda: screen.state.price is not None)
            yield pilot, screen, path
