"""The words of an item in an agent's own task list, for a call that names the item only by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import EntryIndex, Kind, text_of
from leafward.session.headlines.plan_words import CREATED

if TYPE_CHECKING:
    from leafward.session.entries import ToolCall
    from leafward.session.session import Session

_LOOKED_AT = 1024
"""Results above a call that are searched for the one that made the item."""
_AT_ONCE = 64


def item_words(session: Session, index: int, call: ToolCall) -> str:
    """The words of the item that a call names by its id alone; empty where the call or no result has them."""
    item, subject = call.arguments.get("taskId"), call.arguments.get("subject")
    if not isinstance(item, str) or not item or isinstance(subject, str):
        return ""
    kinds = session.columns.kind
    results: list[EntryIndex] = []
    for run in session.tree.runs_upwards(index):
        results += [
            EntryIndex(at) for at in range(run.stop - 1, run.start - 1, -1) if kinds[at] == Kind.TOOL_RESULT
        ][: _LOOKED_AT - len(results)]
        if len(results) >= _LOOKED_AT:
            break
    made = f"Task #{item} created".encode("utf-8", "replace")
    for begin in range(0, len(results), _AT_ONCE):
        some = results[begin : begin + _AT_ONCE][::-1]
        bodies = list(session.bodies(some, lambda _, line: made in line))
        for _, body in reversed(bodies):
            message = (body or {}).get("message")
            if isinstance(message, dict):
                found = CREATED.match(text_of(message.get("content")))
                if found is not None and found[1] == item:
                    return found[2]
    return ""
