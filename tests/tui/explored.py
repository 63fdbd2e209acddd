"""The explorer, run over small sessions whose prompts have names."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from leafward.base.config import Config
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import Acting, call
from tests.pi_file import HEADER, NO_PARENT_GIVEN
from tests.tui.session_store import app_over, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest
    from textual.pilot import Pilot

WIDE = (120, 32)
NARROW = (80, 24)


class Named(Acting):
    """Turns by the name of their prompt."""

    def __init__(self, path: Path, cwd: Path | None = None) -> None:
        super().__init__(path, {**HEADER, "cwd": str(cwd)} if cwd is not None else None)
        self.prompts: dict[str, str] = {}
        self.ends: dict[str, str] = {}

    def turn(self, name: str, after: str = "") -> str:
        """A prompt and its reply; `after` names the turn it follows."""
        parent = self.ends[after] if after else NO_PARENT_GIVEN
        self.prompts[name] = self.user(f"{name} prompt", parent)
        self.ends[name] = self.said(f"{name} answered")
        return self.prompts[name]

    def working_turn(self, name: str, *, failed: bool = False) -> str:
        """A turn that edits a file and runs a command."""
        self.turn(name)
        self.said(
            call("edit", f"{name}-e", path=f"src/{name}.py", oldText="a\n", newText="b\nc\n"),
            call("bash", f"{name}-b", command=f"make {name}"),
        )
        self.answered(f"{name}-e", "edit", diff="-1 a\n+1 b\n+2 c")
        self.answered(f"{name}-b", "bash", "it failed" if failed else "fine", failed=failed)
        self.ends[name] = self.said(f"{name} done")
        return self.prompts[name]


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str) -> Path:
    """A program that stands for an agent: it is found on PATH, and does nothing."""
    folder.mkdir(exist_ok=True)
    program = folder / (f"{name}.cmd" if os.name == "nt" else name)
    program.write_text("" if os.name == "nt" else "#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return program


def forked(path: Path, cwd: Path | None = None) -> Named:
    """Turns a b c d are the path; x y leave b, z leaves x."""
    file = Named(path, cwd)
    file.turn("a")
    file.working_turn("b")
    file.turn("x")
    file.working_turn("y", failed=True)
    file.turn("z", "x")
    file.turn("c", "b")
    file.turn("d")
    return file


def ready(screen: ExplorerScreen) -> bool:
    """Whether everything is read, counted and measured."""
    return (
        screen.state.exploration is not None
        and screen.state.exploration.findings.silent is not None
        and screen.state.overview is not None
    )


@asynccontextmanager
async def exploring(
    path: Path, size: tuple[int, int] = WIDE, config: Config | None = None
) -> AsyncIterator[tuple[Pilot[int], ExplorerScreen]]:
    """The explorer on a session, with all there is on the screen."""
    app = app_over(path, config=config or Config(follow_interval=0.02))
    async with app.run_test(size=size) as pilot:
        screen = app.screen
        assert isinstance(screen, ExplorerScreen)
        await until(pilot, lambda: ready(screen) or screen.state.trouble)
        await pilot.pause()
        yield pilot, screen


def here(screen: ExplorerScreen) -> str:
    """Beginning of the row of the cursor."""
    exploration = sure(screen.state.exploration)
    painter = sure(screen.panes.tree.painter)
    return painter.headline(exploration.layout.head[screen.panes.tree.row]).text.partition(" ")[0]


def note(screen: ExplorerScreen) -> str:
    """Text in the place of the price line."""
    app = screen.app
    region = screen.panes.price_line.region
    return " ".join(row.strip() for row in rows(app)[region.y : region.bottom]).strip()


def tree(screen: ExplorerScreen) -> list[str]:
    """The rows of the tree as they are drawn."""
    region = screen.panes.tree.region
    return [row[region.x : region.right].rstrip() for row in rows(screen.app)[region.y : region.bottom]]


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a session file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


async def chosen(pilot: Pilot[int], *keys: str) -> None:
    """Opens a sheet with the first key and answers with the others."""
    await pilot.press(keys[0])
    await until(pilot, lambda: isinstance(pilot.app.screen, (ChoiceSheet, TextSheet)))
    await pilot.press(*keys[1:])
    await pilot.pause()


def here_is(screen: ExplorerScreen, name: str) -> bool:
    """Whether the cursor is on the row of that name."""
    return here(screen) == name


async def written(pilot: Pilot[int], screen: ExplorerScreen, total: int) -> None:
    """Waits until the session has so many entries and the screen shows them."""
    await until(
        pilot,
        lambda: (
            not screen.state.busy
            and screen.state.session is not None
            and len(screen.state.session) == total
            and screen.state.exploration is not None
            and screen.state.exploration.layout.tree is screen.state.session.tree
        ),
    )
    await pilot.pause()
