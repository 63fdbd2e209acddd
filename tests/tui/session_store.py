"""A small store of pi sessions with fixed times, and what is needed to drive the application over it."""

from __future__ import annotations

import json
import os
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from textual._context import visible_screen_stack

from leafward.base.config import Config
from leafward.catalogue.catalogue_status import status_of
from leafward.catalogue.listing import Catalogue
from leafward_tui.app.app import LeafwardApp
from leafward_tui.catalogue.model.listing import LineKind, Stock, View, list_sessions
from leafward_tui.catalogue.screen import CatalogueScreen
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from tests.claude_transcript import IDS, Transcript
from tests.tui.idle_wait import no_delay_runs, no_job_runs, no_message_waits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from pathlib import Path

    from textual.app import App
    from textual.pilot import Pilot
    from textual.screen import Screen

    from leafward_tui.catalogue.model.listing import Listing

NOW = datetime(2026, 3, 2, 15, 4, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
WIDE = (140, 40)
NARROW = (80, 24)
DEADLINE = 60.0
"""Seconds a test waits for something that other threads do, however busy the machine is."""
HELD = 120.0
"""Seconds for which a test holds something up at most, if it forgets to let it go on: no wait of the test takes as long."""
_ROUND = 0.25
"""Seconds that one round of waiting counts for at most."""
_STILL = 0.3
"""Seconds without a change after which a screen is complete: longer than any pause after which the application goes on by itself."""
_STILL_ROUND = 0.05
"""Seconds of `_STILL` that one round counts for at most."""
Kind = TypeVar("Kind", bound="Screen[Any]")


class SessionFile:
    """One session file under ``root``; entries follow each other, ``branch`` goes back to an earlier one."""

    def __init__(
        self, root: Path, cwd: str, prompt: str, *, ago: timedelta, parent: SessionFile | None = None
    ) -> None:
        self.time = NOW - ago
        self.id = f"{abs(hash_of(cwd + prompt)):012x}"
        folder = root / f"--{cwd.strip('/').replace('/', '-')}--"
        folder.mkdir(parents=True, exist_ok=True)
        stamp = self._stamp().replace(":", "-").replace(".", "-")
        self.path = folder / f"{stamp}_{self.id}.jsonl"
        header: dict[str, Any] = {
            "type": "session",
            "version": 3,
            "id": self.id,
            "timestamp": self._stamp(),
            "cwd": cwd,
        }
        if parent is not None:
            header["parentSession"] = str(parent.path)
        self.lines = [header]
        self.leaf: str | None = None
        self.turn(prompt)

    def _stamp(self) -> str:
        return f"{self.time:%Y-%m-%dT%H:%M:%S}.000Z"

    def entry(self, **fields: Any) -> str:
        entry = f"{len(self.lines):08x}"
        self.lines.append({"id": entry, "parentId": self.leaf, "timestamp": self._stamp(), **fields})
        self.leaf = entry
        self.path.write_text(
            "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines), encoding="utf-8"
        )
        return entry

    def _said(self, **message: Any) -> str:
        return self.entry(type="message", message={**message, "timestamp": int(self.time.timestamp() * 1000)})

    def turn(self, prompt: str, *, edit: str | None = None) -> str:
        """A prompt and its reply; with a call that edits a file of the project."""
        start = self._said(role="user", content=[{"type": "text", "text": prompt}])
        content: list[dict[str, Any]] = [{"type": "text", "text": f"Done: {prompt}."}]
        if edit is not None:
            arguments = {"path": edit, "oldText": "one\n", "newText": "two\nthree\n"}
            content.append(
                {"type": "toolCall", "id": f"call_{start}", "name": "edit", "arguments": arguments}
            )
        usage = {"input": 4000, "output": 200, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 4200}
        self._said(
            role="assistant",
            content=content,
            api="test",
            provider="local",
            model="scripted-1",
            usage={**usage, "cost": {"total": 0.01}},
            stopReason="toolUse" if edit else "stop",
        )
        if edit is not None:
            self._said(
                role="toolResult", toolCallId=f"call_{start}", toolName="edit", content=[], isError=False
            )
        return start

    def branch(self, entry: str | None, prompt: str) -> str:
        self.leaf = entry
        return self.turn(prompt)

    def name(self, name: str) -> None:
        self.entry(type="session_info", name=name)

    def archive(self) -> None:
        self.entry(type="custom", customType="leafward.archive", data={"archived": True, "op": "0"})

    def damage(self, lines: int = 1) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write('{"type":"message","broken\n' * lines)


def hash_of(text: str) -> int:
    """Equal in every run, unlike ``hash``."""
    value = 0
    for character in text:
        value = (value * 131 + ord(character)) % (1 << 48)
    return value


def small_store(root: Path) -> dict[str, SessionFile]:
    """Three projects: forks of forks, branches, a name, an archived session, a damaged one."""
    hour = timedelta(hours=1)
    port = SessionFile(root, "/home/ada/orchard", "Port the selectors to the theme system", ago=2 * hour)
    port.turn("start with the footer", edit="/home/ada/orchard/src/theme.ts")
    footer = port.leaf
    port.turn("now the header", edit="/home/ada/orchard/src/header.ts")
    port.branch(footer, "no, the header first")
    light = SessionFile(root, "/home/ada/orchard", "Light theme, second attempt", ago=3 * hour, parent=port)
    blue = SessionFile(root, "/home/ada/orchard", "and once more, in blue", ago=4 * hour, parent=light)
    loop = SessionFile(root, "/home/ada/orchard", "why is the loop so slow?", ago=30 * hour)
    loop.name("Refactor the agent loop")
    bug = SessionFile(root, "/home/ada/payments", "Fix the idempotency bug", ago=26 * hour)
    bug.damage(3)
    spike = SessionFile(root, "/home/ada/payments", "Spike: themeable checkout", ago=50 * hour)
    spike.archive()
    notes = SessionFile(root, "/home/ada/notes", "Dark theme for the reading view", ago=9 * 24 * hour)
    return {
        "port": port,
        "light": light,
        "blue": blue,
        "loop": loop,
        "bug": bug,
        "spike": spike,
        "notes": notes,
    }


def mixed_store(root: Path) -> None:
    """pi's sessions, a fork of one in another project, and one that Claude Code deletes soon."""
    files = small_store(root / "pi")
    SessionFile(
        root / "pi", "/home/ada/attic", "the same in the attic", ago=timedelta(hours=5), parent=files["port"]
    )
    talk = Transcript(root / ".claude", IDS[0])
    talk.defaults = {"cwd": "/home/ada/orchard"}
    talk.turn("Count the pears", "Seven.")
    then = NOW.timestamp() - timedelta(days=27, hours=1).total_seconds()
    os.utime(talk.path, (then, then))
    (root / ".claude" / "settings.json").write_text("{}")


def lines_of(store: Path, **view: Any) -> Listing:
    """Rows that the catalogue lists of a store."""
    catalogue = Catalogue(Config(), [store])
    catalogue.refresh()
    stock = Stock(
        catalogue.cards(),
        catalogue.files(),
        lambda cards, found: status_of(catalogue, cards, found),
        catalogue.details,
    )
    return list_sessions(stock, View(**view), NOW_MS)


def titles(listing: Listing, group: str = "") -> list[str]:
    """The sessions of a listing, or of one group of it."""
    return [line.card.title for line in listing.lines if line.card is not None and group in ("", line.group)]


def groups(listing: Listing) -> list[str]:
    return [line.group for line in listing.lines if line.kind is LineKind.GROUP]


def app_over(
    *paths: Path,
    config: Config | None = None,
    env: dict[str, str] | None = None,
    kind: type[LeafwardApp] = LeafwardApp,
) -> LeafwardApp:
    """The application with a fixed clock, in a terminal of 24 bits."""
    given = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"} | (env or {})
    return kind(paths, config, clock=lambda: NOW, env=given, encoding="utf-8")


def files_written(folder: Path) -> list[Path]:
    """The files in a folder that are written whole: one that is being written has another name."""
    return [path for path in folder.iterdir() if path.suffix != ".tmp"]


async def until(pilot: Pilot[Any], holds: Callable[[], object], seconds: float = DEADLINE) -> None:
    """Lets the application run until something holds, for that many seconds at most.

    A round counts for little, however long it took: where the machine stood still, the application did so as well.
    """
    waited = 0.0
    while waited < seconds:
        began = time.monotonic()
        await pilot.pause()
        if holds():
            return
        waited += min(time.monotonic() - began, _ROUND)
    raise AssertionError("it never came to be")


def _at_rest(app: App[Any]) -> bool:
    """Whether no job is under way, begun or not, no message waits to be handled, and nothing is put off for a moment."""
    return no_job_runs(app) and no_message_waits(app) and no_delay_runs(app)


async def rested(pilot: Pilot[Any]) -> None:
    """Lets the application run until it has done what it was asked for."""
    rounds = 0

    def twice() -> bool:
        # What a message sets off may be on its way to the next queue.
        nonlocal rounds
        rounds = rounds + 1 if _at_rest(pilot.app) else 0
        return rounds > 1

    await until(pilot, twice)


async def press_each(pilot: Pilot[int], *keys: str) -> None:
    """Presses keys one after the other, each on what the one before has led to."""
    for key in keys:
        await pilot.press(key)
        await rested(pilot)


async def complete(pilot: Pilot[int]) -> None:
    """Lets the application run until nothing is under way and the screen has stopped changing, on a loaded machine too."""
    seen: list[str] = []
    still = 0.0
    before = time.monotonic()

    def stands_still() -> bool:
        nonlocal seen, still, before
        shown, now = rows(pilot.app), time.monotonic()
        changed = shown != seen or not _at_rest(pilot.app)
        still = 0.0 if changed else still + min(now - before, _STILL_ROUND)
        seen, before = shown, now
        return still > _STILL

    await until(pilot, stands_still)


async def reached(pilot: Pilot[int], kind: type[Kind]) -> Kind:
    """Waits until a screen of a kind is on top, and drawn; returns it."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, kind)
    return screen


async def whole_text(pilot: Pilot[int]) -> ReadingSheet:
    """Waits until a sheet holds its whole text, or says why there is none; returns it."""
    sheet = await reached(pilot, ReadingSheet)
    await until(pilot, lambda: not sheet.running)
    return sheet


async def listed(pilot: Pilot[int]) -> CatalogueScreen:
    """The catalogue, with all there is to be listed."""
    screen = pilot.app.screen
    assert isinstance(screen, CatalogueScreen)
    await until(
        pilot,
        lambda: (
            not screen.state.stores.searching
            and screen.state.stores.cards is not None
            and screen.sessions.listing.stock.source is screen.state.stores.cards
        ),
    )
    return screen


@asynccontextmanager
async def browsing(
    *paths: Path, size: tuple[int, int] = WIDE, **given: Any
) -> AsyncIterator[tuple[Pilot[int], CatalogueScreen]]:
    """The catalogue of some folders, listed, on a screen of a size; `given` is what `app_over` takes."""
    async with app_over(*paths, **given).run_test(size=size) as pilot:
        yield pilot, await listed(pilot)


async def shows(pilot: Pilot[int], screen: CatalogueScreen, holds: Callable[[Listing], object]) -> None:
    """Waits until something holds of what is listed."""
    await until(pilot, lambda: holds(screen.sessions.listing))


async def previewed(pilot: Pilot[int], screen: CatalogueScreen) -> None:
    """The preview shows the session under the cursor."""

    def seen() -> bool:
        card, there = screen.sessions.card, screen.preview.card
        asked = screen.state.list.asked
        return not asked and card is not None and there is not None and there.path == card.path

    await until(pilot, seen)
    await pilot.pause()


def rows(app: App[Any]) -> list[str]:
    """Text of the screen."""
    # Textual names the screens behind a sheet before each of its frames.
    visible_screen_stack.set(app._background_screens)
    strips = app.screen._compositor.render_strips()
    return ["".join(strip.text for strip in strip_row).rstrip() for strip_row in _rows(strips)]


def shown(on: Pilot[Any] | Screen[Any]) -> str:
    """The same as one text."""
    return "\n".join(rows(on.app))


def _rows(strips: Iterable[Any]) -> Iterable[list[Any]]:
    for strip in strips:
        yield strip if isinstance(strip, list) else [strip]
