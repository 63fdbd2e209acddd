"""The threads that calls of `spawn_agent` began.

The result of the call names the thread. With `multi_agent_v2` (0.153 and later) it names only the task, and a record of the
sub-agent's activity between call and result names the thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.codex.entries.records import payload_of
from leafward.agents.tool_results import tool_results
from leafward.session.entries import Kind, text_of
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ACTIVITY = b'"agent_thread_id"'
_FAR_UP = 64
"""Entries above a result that are searched for such a record: one for each call made together with it."""


def spawned_threads(
    session: Session, since: int, stop: Callable[[], bool]
) -> Iterator[tuple[EntryIndex, str]]:
    """The result of each such call from the entry `since` on, with the id of the thread."""
    for entry, message in tool_results(session, since, stop):
        if str(message.get("toolName", "")).endswith("spawn_agent"):
            body = decode_line(text_of(message.get("content")).encode("utf-8", "surrogatepass")) or {}
            thread = body.get("agent_id") or _started(session, entry, message.get("toolCallId"))
            if isinstance(thread, str):
                yield entry, thread.lower()


def _started(session: Session, result: int, call: object) -> object:
    """The thread that a call began, by the record of it; None without one."""
    kinds = session.columns.kind
    for index in range(result, max(result - _FAR_UP, -1), -1):
        for line in session.records(index):
            item = _completed(line) if _ACTIVITY in line else {}
            if item.get("id") == call and item.get("kind") == "started":
                return item.get("agent_thread_id")
        if kinds[index] == Kind.ASSISTANT:
            break
    return None


def _completed(line: bytes) -> dict[str, Any]:
    """The item of a record of a completed one; empty for any other record."""
    item = payload_of(decode_line(line) or {}).get("item")
    return item if isinstance(item, dict) else {}
