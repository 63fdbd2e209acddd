"""Calls without a result in a context although the conversation went on, and the text that the agent sends instead of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted, first_few
from leafward.base.safe_text import safe_line
from leafward.context.message_columns import message_body
from leafward.files.tool_calls import table_of
from leafward.session.entries import blocks_of, tool_calls
from leafward.session.source import SourceRemark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.context.message_columns import ContextMessage
    from leafward.session.session import Session

OPEN_CALLS = "open-calls"
_NAMED = 3
"""Most calls that the note names."""


def open_calls(session: Session, messages: Iterable[ContextMessage]) -> Iterator[SourceRemark]:
    """A note if calls have no result before the next prompt or reply; calls of the last reply may still be running."""
    found: list[str] = []
    reply: ContextMessage | None = None
    results: list[ContextMessage] = []
    for message in messages:
        if message.role == "toolResult":
            results.append(message)
        elif message.role in ("assistant", "user"):
            if reply is not None:
                found += _unanswered(session, reply, results)
            reply = message if message.role == "assistant" and message.sent else None
            results = []
    if not found:
        return
    verb, its = ("has", "its") if len(found) == 1 else ("have", "their")
    stand_in = table_of(session).stand_in
    sent = f'; the model is sent "{stand_in}" in {its} place' if stand_in else ""
    named = first_few(found, _NAMED)
    yield SourceRemark(OPEN_CALLS, f"{counted(len(found), 'call')} {verb} no result here: {named}{sent}")


def _unanswered(session: Session, reply: ContextMessage, results: list[ContextMessage]) -> Iterator[str]:
    body = message_body(session, reply)
    hosted = {str(block.get("id", "")) for block in blocks_of(body.get("content")) if block.get("hosted")}
    calls = [call for call in tool_calls(body) if call.id not in hosted]
    if len(calls) <= len(results):
        return
    answered = {str(message_body(session, result).get("toolCallId", "")) for result in results}
    where = safe_line(session.columns.id_at(reply.entry) or "", 40)
    for call in calls:
        if call.id not in answered:
            yield f"{safe_line(call.name, 60)} ({where})"
