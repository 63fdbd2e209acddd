"""Pictures of the application with a clock that stands still, for tests that compare how a screen looks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from leafward.base.config import Config
from leafward_tui.app.app import LeafwardApp
from leafward_tui.explorer.screen import ExplorerScreen
from tests.tui.explored import WIDE, ready
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
