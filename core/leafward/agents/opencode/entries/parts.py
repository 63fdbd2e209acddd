"""Parts of opencode's messages as native blocks, with results, ends and costs."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_to_bytes

from leafward.agents.native_lines import document, plain_json
from leafward.agents.opencode.storage import newer_engine as newer
from leafward.agents.opencode.storage.records import number_in
from leafward.agents.opencode.tools import SHELLS
from leafward.session.entries import object_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.entries import Body

REQUEST_TEXT = "What did we do so far?"
SUBTASK_TEXT = "The following tool was executed by the user"
INTERRUPTED_TEXT = "[Tool execution was interrupted]"
"""opencode's texts for a request to compact, for a command that the user ran, and for a call that never ended."""

SILENT = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent", "retry"})
"""Parts that are not sent to the model and stand with their message."""
_SPOKEN = frozenset({"text", "file", "reasoning", "tool", "compaction", "subtask"})
_SENT_AGAIN = frozenset({"text", "reasoning", "tool"})
"""Parts of a reply that are sent with later prompts."""
_TOLD = ("text/plain", "application/x-directory")
"""Attachments that the usual engine does not send: it adds their contents to the message as texts (1.1.53 to 1.18.33)."""
PART_TYPES = SILENT | _SPOKEN

_DATA_URL = re.compile(r"data:([\w.+/-]*)((?:;[\w=.-]+)*),")
_REPLACED = re.compile(r"\[Attached [\w.+-]+/[\w.+-]+: [^\n]*\]")
_HUNK = re.compile(r"@@ -(\d{1,18})(?:,\d+)? \+(\d{1,18})(?:,\d+)? @@")
_SIGNS = frozenset(" +-")
_STOPS = {"stop": "stop", "tool-calls": "toolUse", "length": "length", "error": "error"}


def block_of(part: Body) -> Body | None:
    """A part as a native block; None where it is not sent to the model."""
    kind = part.get("type")
    if kind == "text":
        text = part.get("text")
        return {"type": "text", "text": text} if isinstance(text, str) else None
    if kind == "reasoning":
        return {"type": "thinking", "thinking": text_at(part, "text")}
    if kind == "tool":
        return {
            "type": "toolCall",
            "id": text_at(part, "callID"),
            "name": text_at(part, "tool"),
            "arguments": _given(object_at(part, "state").get("input")),
        }
    if kind == "file":
        return _file(part)
    if kind == "subtask":
        return {"type": "text", "text": SUBTASK_TEXT}
    return None


def blocks_of(parts: Iterable[Body], *, by_newer: bool) -> list[Body]:
    """The parts of a user's message that are sent; `by_newer`: by the newer engine, which sends attachments of every type."""
    sent = (one for one in parts if by_newer or one.get("type") != "file" or one.get("mime") not in _TOLD)
    return [block for part in sent if (block := block_of(part)) is not None]


def _given(value: object) -> dict[str, Any]:
    """The arguments of a call, by name."""
    if isinstance(value, dict):
        return value
    return {} if value in (None, "") else {"input": value}


def _file(part: Body) -> Body:
    """An attachment: an image as it is, any other file by name."""
    address = text_at(part, "url")
    mime = text_at(part, "mime")
    found = _DATA_URL.match(address)
    if found is not None and (mime or found[1]).startswith("image/") and found[2].endswith(";base64"):
        block: Body = {"type": "image", "data": address[found.end() :], "mimeType": mime or found[1]}
        if text_at(part, "filename"):
            block["name"] = text_at(part, "filename")
        return block
    name = text_at(part, "filename") or (unquote(address[:200]) if found is None else "")
    if found is not None and (mime or found[1]).startswith("text/") and not found[2].endswith(";base64"):
        text = unquote_to_bytes(address[found.end() :]).decode("utf-8", "replace")
        return {"type": "text", "text": text}
    data = address[found.end() :] if found is not None and mime == "application/pdf" else None
    return document(f"[file {name}{', ' if name and mime else ''}{mime}]", data)


def output_of(state: Body) -> list[Body]:
    """The blocks of a call's result."""
    status = state.get("status")
    metadata = object_at(state, "metadata")
    output = state.get("output")
    text = output if isinstance(output, str) else "" if output is None else plain_json(output)
    if output is None:
        text = text_at(state, "error")
        if metadata.get("interrupted") is True and isinstance(metadata.get("output"), str):
            text = metadata["output"]
        if status in ("pending", "running") and not text:
            text = INTERRUPTED_TEXT
    found: list[Body] = [{"type": "text", "text": text}]
    attached = state.get("attachments")
    if isinstance(attached, list):
        found += [_file(part) for part in attached if isinstance(part, dict)]
    return found


def numbered(patch: str) -> str | None:
    """A unified diff of one file in pi's form: a sign, the line's number, the line. None for other texts, or several files."""
    lines: list[str] = []
    old = new = 0
    for line in patch.split("\n"):
        found = _HUNK.match(line)
        if found is not None:
            if old:
                lines.append(" ...")
            old, new = int(found[1]), int(found[2])
        elif line.startswith("Index: ") and old:
            return None
        elif old and line[:1] in _SIGNS and line:
            lines.append(f"{line[0]}{new if line[0] == '+' else old} {line[1:]}")
            old += line[0] != "+"
            new += line[0] != "-"
    return "\n".join(lines) or None


def failure_of(tool: str, state: Body) -> tuple[bool, int | None]:
    """Whether a call failed, and the exit code of a command: one that was stopped, as after its time, ends without any."""
    details = object_at(state, "metadata") if tool in SHELLS else {}
    code, stopped = number_in(details, "exit"), "exit" in details and details["exit"] is None
    return state.get("status") in ("error", "pending", "running") or bool(code) or stopped, code


def stop_reason(message: Body, content: list[dict[str, Any]]) -> str:
    """The reason for the end of a reply, in native words."""
    if message.get("error"):
        return "aborted" if object_at(message, "error").get("name") == "MessageAbortedError" else "error"
    finish = text_at(message, "finish")
    if finish in _STOPS:
        return _STOPS[finish]
    return "toolUse" if any(block["type"] == "toolCall" for block in content) else finish or "stop"


def _count(tokens: Body, key: str) -> int:
    return max(0, number_in(tokens, key) or 0)


def usage_of(message: Body) -> Body | None:
    """The usage of a reply; None where nothing was counted."""
    tokens = object_at(message, "tokens")
    cache = object_at(tokens, "cache")
    sent, output, reasoning = (_count(tokens, key) for key in ("input", "output", "reasoning"))
    read, written = _count(cache, "read"), _count(cache, "write")
    cost = message.get("cost")
    known = isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 <= cost < math.inf
    dollars = cost if known else 0
    counted = sent + output + read + written
    total = _count(tokens, "total") or counted
    # Versions that record a total leave the reasoning out of the output (`getUsage`); before, it was part of it.
    if total - counted >= reasoning:
        output += reasoning
    if not total and not dollars:
        return None
    return {
        "input": sent,
        "output": output,
        "cacheRead": read,
        "cacheWrite": written,
        "reasoning": reasoning,
        "totalTokens": total,
        "cost": {"total": dollars},
    }


def error_of(message: Body) -> str | None:
    """The error in which a reply ended; None without one."""
    error = message.get("error")
    if not isinstance(error, dict):
        return str(error) if error else None
    text = object_at(error, "data").get("message")
    return text if isinstance(text, str) and text else text_at(error, "name") or plain_json(error)


def is_typed(part: dict[str, Any]) -> bool:
    """Whether a part of a user's message came from a person."""
    return part.get("type") in ("text", "file") and not part.get("synthetic") and not part.get("ignored")


def typed_in(parts: Iterable[Body | None]) -> list[str]:
    """The typed texts of a message, but for those that stand for an attachment when opencode puts a prompt again (1.18.33)."""
    texts = (text_at(part, "text") for part in parts if part is not None and is_typed(part))
    return [text for text in texts if text and not _REPLACED.fullmatch(text)]


def is_put(part: dict[str, Any]) -> bool:
    """Whether a part is opencode's own and is sent."""
    kind = part.get("type")
    return kind == "subtask" or (
        kind in ("text", "file") and bool(part.get("synthetic")) and not part.get("ignored")
    )


def is_of_command(parts: Iterable[dict[str, Any]]) -> bool:
    """Whether the parts of a user's message show a command that the user ran; those of a sub-agent's task have the same text."""
    put = [part for part in parts if is_put(part)]
    told = any(part.get("type") == "text" and part.get("text") == SUBTASK_TEXT for part in put)
    return told and all(part.get("type") != "subtask" for part in put)


def asked_in(parts: Iterable[dict[str, Any]]) -> str:
    """The command that a person typed and a sub-agent carries out, such as `/review`; empty in any other message.

    Only its name is stored by itself: the words behind it stand somewhere in the sub-agent's task.
    """
    names = (text_at(part, "command") for part in parts if part.get("type") == "subtask")
    return next((f"/{name}" for name in names if name), "")


def is_sent(body: Body, decoded: list[Body | None]) -> bool:
    """Whether a reply is sent again: one without an error is, one that was stopped is if it holds more than reasoning.

    Any other is not. The newer engine sends every reply with content.
    """
    error = body.get("error")
    if not error:
        return True
    kinds = {str(part.get("type")) for part in decoded if part is not None}
    if body.get(newer.ENGINE) != newer.NEWER:
        stopped = isinstance(error, dict) and error.get("name") == "MessageAbortedError"
        if not stopped or kinds <= {"step-start", "reasoning"}:
            return False
    return not kinds.isdisjoint(_SENT_AGAIN)


def steps_in(parts: list[Body | None]) -> list[int]:
    """The places at which the steps of a reply begin, the first one at 0; what stands behind a step belongs to it."""
    found = [
        place for place, part in enumerate(parts) if part is not None and part.get("type") == "step-start"
    ]
    return [0, *found[1:]]
