"""Sessions for the tests of the inspector, written entry by entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from leafward.base.config import Config
from leafward.session.entries import TURN_STARTS, Kind
from leafward.session.session import Session
from leafward_tui.inspector.model.pages import build
from leafward_tui.inspector.page import ContextLimits, Page, Selection, SelectionKind
from leafward_tui.inspector.page_request import PageRequest
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import UNICODE, Glyphs
from tests.foreign_sessions import closed_at_the_end

if TYPE_CHECKING:
    from pathlib import Path

HEADS = TURN_STARTS | {Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.CONTEXT_EDIT, Kind.UNKNOWN, Kind.MALFORMED}
USAGE = {
    "input": 10,
    "output": 5,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 15,
    "cost": {"total": 0.31},
}


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": content}, **more}


def reply(*blocks: Any, stop: str = "stop", **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {
        "role": "assistant",
        "content": content,
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "usage": USAGE,
        "stopReason": stop,
        **more,
    }
    return {"type": "message", "message": message}


def call(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def result(name: str, call_id: str, text: str, *, error: bool = False, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": name,
        "content": content,
        "isError": error,
    }
    return {"type": "message", "message": {**message, **more}}


def thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text}


def write_session(path: Path, *entries: dict[str, Any] | bytes) -> Session:
    """A session of these entries, each the child of the one before it unless it says otherwise; bytes are lines as they stand."""
    lines = [
        orjson.dumps(
            {
                "type": "session",
                "version": 3,
                "id": "s1",
                "timestamp": "2026-11-21T09:00:00.000Z",
                "cwd": "/p",
            }
        )
    ]
    parent: str | None = None
    for number, entry in enumerate(entries):
        if isinstance(entry, bytes):
            lines.append(entry)
            continue
        named = {
            "type": entry["type"],
            "id": f"{number:08x}",
            "parentId": parent,
            "timestamp": "2026-11-21T15:48:00.000Z",
        }
        lines.append(orjson.dumps(named | entry))
        parent = str((named | entry)["id"])
    path.write_bytes(b"\n".join(lines) + b"\n")
    return opened(path)


def opened(path: Path) -> Session:
    """A session, closed when the test ends."""
    return closed_at_the_end(Session.open(path))


def turn(session: Session, head: int = 0, *, number: int | None = 1, on_path: bool = True) -> Selection:
    """The turn that begins at an entry."""
    kinds = session.columns.kind
    stop = head + 1
    _, end = session.tree.bounds(session.tree.run_of(head))
    while stop < end and kinds[stop] not in HEADS:
        stop += 1
    return Selection(session, (range(head, stop),), head, SelectionKind.TURN, number, on_path)


def single(session: Session, entry: int) -> Selection:
    return Selection(session, (range(entry, entry + 1),), entry, SelectionKind.ENTRY, 1)


def page(
    selection: Selection,
    tab: Tab = Tab.ENTRY,
    *,
    width: int = 60,
    height: int = 30,
    toggled: set[str] | None = None,
    glyphs: Glyphs = UNICODE,
    limits: ContextLimits | None = None,
) -> Page:
    opened = frozenset(toggled or ())
    return build(PageRequest(tab, selection, width, height, glyphs, Config(), opened, limits))


def headings(page: Page) -> list[tuple[int, str]]:
    """Line and title of each section of a page, below its own title."""
    first = [(at, line.spans[0]) for at, line in enumerate(page.lines) if line.spans]
    titles = [(at, span.text) for at, span in first if span.ink == "strong" and span.text.istitle()]
    return [(at, title) for at, title in titles[1:] if not page.lines[at - 1].text]


def line_with(page: Page, words: str) -> int:
    """The first line that says something. Fails where none does."""
    return next(at for at, line in enumerate(page.lines) if words in line.text)
