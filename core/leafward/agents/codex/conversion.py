"""Another agent's session as a thread of Codex (0.47 to 0.169), without Codex's own context, which Codex adds when it continues."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from leafward import __version__
from leafward.agents.codex.description import OURS
from leafward.agents.codex.rollout_items import (
    TITLE,
    draft_of,
    fresh_id,
    injected_line,
    item_of,
    message_of,
    provider_of,
    text_part,
)
from leafward.agents.conversation import COUNTS_LEFT
from leafward.base.figures import counted
from leafward.base.times import iso_stamp, iso_time
from leafward.session.journal.lines import encode_line
from leafward.session.journal.write import WriteRemark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.conversation import Conversation, ConversationMessage
    from leafward.agents.fork_draft import ForkDraft, ForkTerms
    from leafward.session.entries import Body

LONG_RESULT = 12_000
"""Bytes of a result above which Codex may send only its beginning and end: the limit for unknown models, the lowest limit
that it has."""

_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]")


def converted(
    past: Conversation, terms: ForkTerms, home: str, env_set: tuple[tuple[str, str], ...]
) -> ForkDraft:
    """Another agent's session: a thread without Codex's own context, which Codex adds when it continues."""
    session = past.session
    name = fresh_id(terms)
    stamp = iso_stamp(terms.now)
    meta: Body = {
        "id": name,
        "session_id": name,
        "timestamp": stamp,
        "cwd": terms.folder(session, TITLE),
        "originator": "leafward",
        "cli_version": __version__,
        "source": "cli",
        "thread_source": "user",
        "model_provider": provider_of(home),
        "history_mode": "legacy",
        OURS: {"forkedFrom": os.path.abspath(session.path)},
    }
    kept = long = 0
    for message in past.portable_messages():
        kept += 1
        long += message.role == "result" and len(_text(message).encode(errors="replace")) > LONG_RESULT
    remarks = [*past.remarks(), COUNTS_LEFT]
    if long:
        text = f"{counted(long, 'result')} of more than {LONG_RESULT:,} bytes: Codex may cut out the middle"
        remarks.append(WriteRemark("long-results", text))
    return draft_of(
        name,
        home,
        terms,
        meta["cwd"],
        lambda: _converted_lines(past, meta, terms),
        kept,
        tuple(remarks),
        env_set,
        past.left,
    )


def _converted_lines(past: Conversation, meta: Body, terms: ForkTerms) -> Iterator[bytes]:
    now = iso_stamp(terms.now)
    yield encode_line({"timestamp": now, "type": "session_meta", "payload": meta})
    turn: str | None = None
    name, last = str(meta["id"]), ""
    for message in past.portable_messages():
        stamp = iso_time(message.time) if message.time else now
        if message.role == "user" and message.typed:
            if turn is not None:
                yield _event(_done(turn, last), stamp)
            turn, last = fresh_id(terms), ""
            yield _event({"type": "task_started", "turn_id": turn, "model_context_window": None}, stamp)
        for body in _lines_of(message):
            yield encode_line({"timestamp": stamp, **body})
        if message.failed:
            yield _event(_failure(message, turn or name), stamp)
        if message.role == "assistant":
            last = _words(message) or last
    if turn is not None:
        yield _event(_done(turn, last), now)
    if terms.injected:
        yield injected_line(terms)


def _failure(message: ConversationMessage, turn: str) -> Body:
    """The event for the failure of a tool that is not Codex's own: items have no field for it, and events are not sent."""
    return {
        "type": "dynamic_tool_call_response",
        "call_id": message.call,
        "turn_id": turn,
        "completed_at_ms": message.time,
        "tool": _name_of(message.tool),
        "arguments": None,
        # Question and answer are in the items.
        "content_items": [],
        "success": False,
        "error": None,
        "duration": {"secs": 0, "nanos": 0},
    }


def _name_of(tool: str) -> str:
    """A tool's name in a form that providers accept."""
    return _NOT_NAME.sub("_", tool)[:64] or "tool"


def _done(turn: str, last: str) -> Body:
    return {"type": "task_complete", "turn_id": turn, "last_agent_message": last or None}


def _lines_of(message: ConversationMessage) -> Iterator[Body]:
    """One message as items, and as events for the list and the transcript."""
    if message.role == "result":
        output: Any = _output(message)
        yield item_of({"type": "function_call_output", "call_id": message.call, "output": output})
        return
    if message.role == "user":
        yield item_of(message_of("user", [_part(block) for block in message.content]))
        if message.typed:
            text = _words(message)
            event = {
                "type": "user_message",
                "message": text,
                "images": [],
                "local_images": [],
                "text_elements": [],
            }
            yield {"type": "event_msg", "payload": event}
        return
    for block in message.content:
        if block.get("type") == "toolCall":
            call = {
                "type": "function_call",
                "name": _name_of(str(block.get("name") or "")),
                "arguments": json.dumps(block.get("arguments") or {}, ensure_ascii=False),
                "call_id": str(block.get("id")),
            }
            yield item_of(call)
        elif block.get("text"):
            yield item_of(message_of("assistant", [text_part("output_text", str(block["text"]))]))
            yield {"type": "event_msg", "payload": {"type": "agent_message", "message": str(block["text"])}}


def _words(message: ConversationMessage) -> str:
    """The texts of a message without its images; a block of type text may hold none."""
    return "\n".join(str(block.get("text") or "") for block in message.content if block.get("type") == "text")


def _output(message: ConversationMessage) -> Any:
    """The output of a call: a text, or parts where it includes images."""
    if any(block.get("type") == "image" for block in message.content):
        return [_part(block) for block in message.content]
    return _text(message)


def _text(message: ConversationMessage) -> str:
    """The text of a result, as Codex gets it."""
    return "\n".join(
        str(block.get("text") or "") for block in message.content if block.get("type") != "image"
    )


def _part(block: Body) -> Body:
    if block.get("type") == "image":
        kind = block.get("mimeType") or "image/png"
        return {"type": "input_image", "image_url": f"data:{kind};base64,{block.get('data') or ''}"}
    return text_part("input_text", str(block.get("text") or ""))


def _event(payload: Body, stamp: str | None) -> bytes:
    return encode_line({"timestamp": stamp, "type": "event_msg", "payload": payload})
