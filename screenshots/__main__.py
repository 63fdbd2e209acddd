"""Makes every picture of the README, and nothing else: `make screenshots`.

The screens are the real ones, run without a terminal on the bundled demo. Clock, ids, folders and environment are fixed,
so that two runs give the same bytes and a changed picture means a changed screen.
"""

from __future__ import annotations

import asyncio
import io
import os
import random
import sys
import tempfile
import time
from contextlib import chdir, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from uuid import UUID

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from leafward_tui.app.app import LeafwardApp

FOLDER = Path(__file__).resolve().parent
NOW = datetime(2026, 11, 17, 15, 38, 10, tzinfo=UTC)
"""Two minutes after the demo's day ends."""

ENVIRONMENT = {
    "COLORTERM": "truecolor",
    "HOME": "/home/ada",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm-256color",
    "TEXTUAL_ANIMATIONS": "none",
    "TZ": "UTC",
}

WIDE, NORMAL, SMALL = (140, 40), (120, 32), (80, 24)

ORCHARD = ("work", "worse", "refused", "moved")
"""What lies in a real folder, which is the home then."""

STILL = 0.25
"""Seconds without a change after which a screen counts as complete."""
PATIENCE = 30.0


@dataclass(frozen=True)
class Shot:
    """One picture: what is opened, how, and what is pressed before it is taken."""

    name: str
    title: str
    """What a screen reader says."""
    size: tuple[int, int] = WIDE
    keys: tuple[str, ...] = ()
    """Textual's names; `text:…` types letter by letter."""
    opened: str = "demo"
    """`demo`, `log` (the demo after a few operations), `store` or `damaged`; of a small project `work`, `worse`, `refused` or `moved`."""
    config: dict[str, Any] = field(default_factory=dict)
    verb: str = ""
    """What is printed of the session, in place of the application."""


INTO_A_BRANCH = ("{", "{", "{", "j", "j", "z", "j")
"""From the leaf up to where that branch leaves the path, past its older sibling, and down to its last turn."""

BRANCH = "7fd99650"
"""The same branch by its first entry."""

SHOTS = (
    Shot("explorer", "The explorer on the demo session: tree, turn, context strip and gauge"),
    Shot("explorer-light", "The explorer in the light theme", config={"theme": "clearing"}),
    Shot("ghost", "A proposed move: what it leaves, enters and costs", keys=INTO_A_BRANCH),
    Shot("move", "The sheet that asks before a move, saying what it writes", keys=(*INTO_A_BRANCH, "enter")),
    Shot("restore", "A move that restores the project's files: what is written and left alone, and why, with the diff of each", size=NORMAL, opened="work", keys=("g", "j", "enter", "w", "G"), config={"follow_interval": 60}),
    Shot("heal", "What makes a refused session acceptable again, change by change", size=NORMAL, opened="refused", keys=("h",), config={"follow_interval": 60}),
    Shot("blame", "The lines of a file with the turns that wrote them, and what one of them was for", size=NORMAL, opened="worse", keys=("g", "j", "j", "j", "number_sign", "b", "j", "n"), config={"follow_interval": 60}),
    Shot("bisect", "The turn after which a check fails, with the versions that were tried", size=NORMAL, opened="worse", keys=("g", "j", "percent_sign", "text:grep -q sharp src/tools.py", "enter"), config={"follow_interval": 60}),
    Shot("relocate", "The sessions of a renamed folder, before they are begun in the new one", size=NORMAL, opened="moved", keys=("G", "L")),
    Shot("fork", "The sheet for a new session: which agents can go on from there", keys=(*INTO_A_BRANCH, "b")),
    Shot("search", "A search: hits marked in the tree and on the path", keys=("/", "text:lease", "enter", "n", "n")),
    Shot("context", "What the model sees at the leaf, message by message", keys=("x",)),
    Shot("files", "The files read and modified up to the leaf", keys=("w",)),
    Shot("lab", "The compaction lab: what happens to each turn, the plan, the summary and what survives", keys=("c",)),
    Shot("lab-injected", "The text that would be injected, line by line with its sources", keys=("c", "tab", "tab", "v", "v")),
    Shot("lab-model", "What a model would be sent, before it is sent", keys=("c", "W", "a", "s"), config={"model": "claude-haiku-4-5"}),
    Shot("exam", "What a model would still know after the compaction: questions, and where their answers stand", keys=("c", "tab", "tab", "v", "v", "v")),
    Shot("lab-runs", "Runs of the lab beside each other", keys=("c", "+", "2", "s", "d")),
    Shot("xray", "A compaction before and after, with the source of the line under the cursor", keys=("X", *"jjjjjjjjjjj")),
    Shot("summaries", "Two summaries compared, line by line", keys=("X", "d")),
    Shot("compare", "Two branches compared: files in three columns, the contents of one, context and outcome", keys=(*INTO_A_BRANCH, "m", "@", "d")),
    Shot("compaction", "What the last compaction did, and what it lost", keys=("3",)),
    Shot("leaving", "The summary of the abandoned branch, before the move", keys=(*INTO_A_BRANCH, "s", "p")),
    Shot("entries", "One row for each entry", config={"density": "entries"}, keys=("{", "k")),
    Shot("catalogue", "The catalogue of all sessions, with a preview", opened="store"),
    Shot("forest", "Forks and copies across all projects", opened="store", keys=("v",)),
    Shot("install", "The agents that can inject where they compact by themselves, and the file of each", size=NORMAL, opened="store", keys=("I",)),
    Shot("totals", "Tokens and costs by project and by day", opened="store", keys=("$",)),
    Shot("search-all", "A search of all text: sessions, their hits in context, and the text of one", opened="store", keys=("S", "text:old code", "enter", "j")),
    Shot("log", "The log of operations", opened="log", keys=("o",)),
    Shot("doctor", "What is wrong with a session, each damage with its place", size=(140, 23), opened="damaged", verb="doctor"),
    Shot("help", "All keys of the explorer", keys=("?",)),
    Shot("themes", "Choosing a theme", keys=("t",)),
    Shot("small", "The explorer on 80 by 24 cells", size=SMALL),
    Shot("ascii", "The explorer drawn with ASCII only", size=NORMAL, config={"ascii": True}),
    Shot("mono", "The explorer without any hue", size=NORMAL, config={"theme": "mono"}, keys=INTO_A_BRANCH),
)  # fmt: skip


def main(names: list[str]) -> int:
    """Makes the named pictures; without names all of them, and removes what else lies there from before."""
    unknown = set(names) - {shot.name for shot in SHOTS}
    if unknown:
        sys.stderr.write(f"no such picture: {', '.join(sorted(unknown))}\n")
        return 2
    os.environ.clear()
    os.environ.update(ENVIRONMENT | {"PATH": os.defpath})
    if hasattr(time, "tzset"):
        time.tzset()
    with tempfile.TemporaryDirectory(prefix="leafward-screenshots-") as folder:
        for shot in SHOTS:
            if not names or shot.name in names:
                made = _make(shot, Path(folder, shot.name))
                Path(FOLDER, f"{shot.name}.svg").write_text(made, encoding="utf-8", newline="\n")
                sys.stdout.write(f"{shot.name:16} {len(made.encode()) / 1024:5.0f} KB\n")
    if not names:
        for path in FOLDER.glob("*.svg"):
            if path.stem not in {shot.name for shot in SHOTS}:
                path.unlink()
    return 0


def _make(shot: Shot, folder: Path) -> str:
    """The picture; whatever the application writes goes to `folder`."""
    from leafward_tui.explorer.model.forks import Folder

    os.environ["LEAFWARD_HOME"] = str(folder / "leafward")
    os.environ["PI_CODING_AGENT_SESSION_DIR"] = str(folder / "sessions")
    if shot.opened in ORCHARD:
        os.environ["HOME"] = str(folder)
        return asyncio.run(_shoot(shot, folder))
    os.environ["HOME"] = ENVIRONMENT["HOME"]
    # Invented projects lie nowhere on this machine.
    with (
        patch("leafward.catalogue.moved_folders.missing_folders", lambda _projects: frozenset()),
        patch("leafward_tui.explorer.model.forks.folder_at", lambda path: Folder(path, there=True)),
    ):
        return asyncio.run(_print(shot, folder) if shot.verb else _shoot(shot, folder))


async def _print(shot: Shot, folder: Path) -> str:
    """The picture of a verb's output, in the colours of the application."""
    from rich.text import Text
    from textual.screen import Screen
    from textual.widgets import Static

    from leafward.cli.main import main as command_line
    from leafward_tui.app.app import LeafwardApp
    from screenshots.picture import picture

    path = _files(shot.opened, folder)
    printed = Terminal()
    with chdir(path.parent), patch("sys.stdout", printed):
        command_line([shot.verb, path.name])
    typed = Text.assemble(("$ ", "dim"), f"leafward {shot.verb} {path.name}\n\n")
    app = LeafwardApp((), env=ENVIRONMENT, encoding="utf-8")
    async with app.run_test(size=shot.size) as pilot:
        page: Screen[None] = Screen()
        await app.push_screen(page)
        said = Static(typed + Text.from_ansi(printed.getvalue()))
        said.styles.margin = (1, 2)
        await page.mount(said)
        await _complete(app, pilot)
        return picture(app.export_screenshot(), shot.title)


class Terminal(io.StringIO):
    """Takes what is printed as a terminal of UTF-8 and colours does."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """It is one."""
        return True


async def _shoot(shot: Shot, folder: Path) -> str:
    from textual.widgets import Input

    from leafward.base.config import Config
    from leafward_tui.app.app import LeafwardApp
    from screenshots.picture import picture

    demo = _files(shot.opened, folder)
    config = Config(**shot.config)
    paths = () if shot.opened in ("store", "moved") else (demo,)
    app = LeafwardApp(paths, config, clock=lambda: NOW, env=ENVIRONMENT, encoding="utf-8")
    Input.cursor_blink = False  # type: ignore[assignment]  # the default of a reactive, set on its class
    async with app.run_test(size=shot.size, notifications=True) as pilot:
        await _complete(app, pilot)
        for key in shot.keys:
            typed = list(key.removeprefix("text:")) if key.startswith("text:") else [key]
            await pilot.press(*typed)
            await _complete(app, pilot)
        return picture(app.export_screenshot(), shot.title)


async def _complete(app: LeafwardApp, pilot: Pilot[int]) -> None:
    """Waits until what the screen shows no longer changes."""
    before, since, limit = "", time.monotonic(), time.monotonic() + PATIENCE
    while time.monotonic() - since < STILL or any(not worker.is_finished for worker in app.workers):
        if time.monotonic() > limit:
            raise TimeoutError("the screen does not come to rest")
        await pilot.pause(0.02)
        now = app.export_screenshot()
        if now != before:
            before, since = now, time.monotonic()


def _files(opened: str, folder: Path) -> Path:
    """The session that is looked at, in a store of its own."""
    from importlib.resources import files

    from screenshots.damaged import damaged
    from screenshots.orchard import make_moved, make_refused, make_work, make_worse
    from screenshots.store import make_store, touch

    small = {"work": make_work, "worse": make_worse, "refused": make_refused, "moved": make_moved}
    if opened in small:
        return small[opened](folder, NOW)
    data = files("leafward").joinpath("data", "demo.jsonl").read_bytes()
    if opened == "store":
        return make_store(folder / "sessions", data, NOW)
    path = folder / "sessions" / "demo.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(damaged(data) if opened == "damaged" else data)
    if opened == "log":
        _operate(path)
    touch(path, NOW - timedelta(minutes=2))
    return path


def _operate(path: Path) -> None:
    """A few minutes of work on the tree: looks at two branches, labels one, goes back."""
    from leafward.session.entries import EntryId
    from leafward.session.journal import session_operations
    from leafward.session.journal.write import Writing
    from leafward.session.session import Session

    moment = NOW - timedelta(minutes=14)

    def clock() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=97)
        return moment

    chance = random.Random(4)
    writing = Writing(now=clock)
    with patch("leafward.session.journal.lines.uuid4", lambda: UUID(int=chance.getrandbits(128), version=4)):
        for operation in ("label", "move", "undo"):
            with closing(Session.open(path)) as session:
                target = session.columns.index(EntryId(BRANCH))
                if operation == "label":
                    session_operations.label(session, target, "policy in the job row", writing)
                elif operation == "move":
                    session_operations.move(session, target, writing)
                else:
                    session_operations.undo(session, None, writing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
