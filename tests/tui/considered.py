"""The compaction lab over sessions that did some work: on the screen, and as values."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from leafward.base.config import Config
from leafward.session.session import Session
from leafward_tui.lab.controllers.path import begin
from leafward_tui.lab.model.choices import EXTRACTIVE
from leafward_tui.lab.screen import LabScreen
from tests.acting import Acting, call, usage
from tests.tui.explored import exploring
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward.base.strategies import Strategy
    from leafward_tui.lab.model.what_if import WhatIf

SMALL = Config(keep_recent=1_500, follow_interval=0.02)


def settled(screen: LabScreen) -> bool:
    """Whether everything follows the settings: plans, drafts of all strategies, injected text, words."""
    what_if = screen.state.what_if
    if screen.state.path.trouble:
        return True
    if (
        what_if is None
        or screen.state.stream.text is not None
        or screen.state.drafts.waiting
        or not what_if.injections
    ):
        return False
    if screen.state.path.beside >= 0 and not any(run.choices is None for run in screen.state.drafts.runs):
        return False
    by_model = what_if.choices.summarizer != EXTRACTIVE
    return what_if.plan.nothing or by_model or what_if.draft() is not None


@asynccontextmanager
async def considering(
    path: Path, size: tuple[int, int] = (140, 40), config: Config = SMALL, *, entry: int | None = None
) -> AsyncIterator[tuple[Pilot[int], LabScreen]]:
    """The lab, opened with its key on the row of an entry; the leaf by default."""
    async with exploring(path, size, config) as (pilot, explorer):
        if entry is not None:
            explorer.controllers.navigation.go_to_entry(entry)
        await pilot.press("c")
        screen = await reached(pilot, LabScreen)
        await until(pilot, lambda: settled(screen))
        await pilot.pause()
        yield pilot, screen


def stored(path: Path) -> bytes:
    """Bytes of the file now."""
    return path.read_bytes()


def cut_off(path: Path) -> bytes:
    """Leaves the first lines of a file, and gives them."""
    left = b"".join(stored(path).splitlines(keepends=True)[:3])
    path.write_bytes(left)
    return left


def chosen(screen: LabScreen) -> Strategy:
    """The strategy that is chosen now."""
    return sure(screen.state.what_if).choices.strategy


def said(screen: LabScreen) -> str:
    region = screen.view.note.region
    return " ".join(row.strip() for row in rows(screen.app)[region.y : region.bottom]).strip()


async def follow(pilot: Pilot[int], screen: LabScreen, *keys: str) -> None:
    """Presses keys and waits until everything follows."""
    for key in keys:
        await pilot.press(key)
    await until(pilot, lambda: screen.state.draft is not None and settled(screen))
    await pilot.pause()


def working(path: Path, turns: int = 30) -> Acting:
    """Turns that read a file and run a command; the last reply reports its usage."""
    file = Acting(path)
    for turn in range(turns):
        file.user(f"prompt {turn}: keep the retry budget at {turn + 3} tries in src/queue_{turn}.py")
        file.said(
            f"Looking at src/queue_{turn}.py.",
            call("read", f"r{turn}", path=f"src/queue_{turn}.py"),
            call("bash", f"b{turn}", command=f"make test-{turn}"),
        )
        file.answered(f"r{turn}", "read", f"def queue_{turn}(): ...\n" * 40)
        file.answered(f"b{turn}", "bash", f"{turn} passed\n" * 10)
        tokens = usage(30_000) if turn == turns - 1 else None
        file.said(f"Done with {turn}: because the lease is 30 s, I decided to keep it.", tokens=tokens)
    return file


@contextmanager
def considered(path: Path, **asked: object) -> Iterator[tuple[Session, WhatIf]]:
    """A compaction considered at the leaf."""
    session = Session.open(path)
    try:
        what_if = begin(session, session.leaf, -1, Config(**asked))  # type: ignore[arg-type]  # fields of Config
        yield session, what_if
    finally:
        session.close()
