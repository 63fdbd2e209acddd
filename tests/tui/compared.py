"""Sessions with two branches, and the Compare screen on them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from leafward.branches.diff.contents import SideContents
from leafward.branches.diff.sides import sides
from leafward.session.session import Session
from leafward_tui.compare.model.compared_sides import Overall, compared_sides, looked_at
from leafward_tui.compare.model.content import Show, arranged_content
from leafward_tui.compare.screen import CompareScreen
from tests.acting import Acting, call, usage
from tests.tui.explored import exploring
from tests.tui.session_store import reached, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.explorer.screen import ExplorerScreen

HIGH = (140, 40)
STORE = "".join(f"line {number}\n" for number in range(1, 41))
TABBED = "".join(f"\tline {number} of it\n" for number in range(1, 60))


def parted(path: Path) -> Acting:
    """A file is written, then two branches: A edits its begin, B its end; each has a file of its own, and A fails."""
    file = Acting(path)
    file.user("write the store")
    file.said(call("write", "w", path="src/store.py", content=STORE))
    file.answered("w", "write", "ok")
    fork = file.said("written")
    file.user("branch A: the begin", fork)
    file.said(call("edit", "a1", path="src/store.py", oldText="line 2\n", newText="line two\n"))
    file.answered("a1", "edit", "ok", diff="-2 line 2\n+2 line two")
    file.said(call("write", "a2", path="notes/only-a.md", content="# A\n"))
    file.answered("a2", "write", "ok")
    file.said(call("bash", "a3", command="npm test"))
    file.answered("a3", "bash", "1 failed\n\nCommand exited with code 1", failed=True)
    file.said("A is done", tokens=usage(4_000))
    file.user("branch B: the end", fork)
    file.said(call("edit", "b1", path="src/store.py", oldText="line 39\n", newText="line 39, of course\n"))
    file.answered("b1", "edit", "ok", diff="-39 line 39\n+39 line 39, of course")
    file.said(call("read", "b2", path="docs/[/nope].md"))
    file.answered("b2", "read", "\x1b]52;c;AAAA\x07 hostile")
    file.said("B is done", tokens=usage(6_000))
    return file


def tabbed(path: Path) -> Acting:
    """A file of lines that begin with a tab; each branch edits another line of it."""
    file = Acting(path)
    file.user("write it")
    file.said(call("write", "w", path="a.go", content=TABBED))
    file.answered("w", "write", "ok")
    fork = file.said("written")
    for name, number in (("a", 5), ("b", 50)):
        file.user(f"{name} prompt", fork)
        old = f"line {number} of it"
        file.said(call("edit", name, path="a.go", oldText=old, newText=f"line {number} of mine"))
        file.answered(name, "edit", "ok")
        file.said(f"{name} is done")
    return file


def compared(path: Path) -> Overall:
    session = Session.open(path)
    a = next(at for at in session.tree.leaves() if at != session.place)
    return looked_at(compared_sides(sides(session, a, session.place), -1))


@asynccontextmanager
async def comparing(
    path: Path, size: tuple[int, int] = HIGH
) -> AsyncIterator[tuple[Pilot[int], ExplorerScreen, CompareScreen]]:
    """The first of the other leaves compared with the leaf, all of it worked out."""
    async with exploring(path, size) as (pilot, explorer):
        session = sure(explorer.state.session)
        a = next(at for at in session.tree.leaves() if at != session.place)
        explorer.controllers.comparison.open(a, session.place)
        screen = await reached(pilot, CompareScreen)
        await until(pilot, lambda: screen.state.read.carried is not None and settled(screen))
        await pilot.pause()
        yield pilot, explorer, screen


def settled(screen: CompareScreen) -> bool:
    """Whether the diff shows the file under the cursor."""
    wanted = screen.state.wanted()
    return wanted is None or (
        screen.state.content.shown is not None and screen.state.content.shown.difference.path == wanted.path
    )


def content(both: Overall, path: str, show: Show = Show.SIDES, **settings: Any) -> Any:
    """The contents of one of the files that two branches touched."""
    files = (*both.sets.only_a, *both.sets.both, *both.sets.only_b)
    file = next(file for file in files if file.path == path)
    return arranged_content(SideContents(both.sides).of(file), show, **settings)
