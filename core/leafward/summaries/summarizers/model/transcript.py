"""A span as text for a model: speakers and texts, with results cut in the middle, made safe, without secrets.

It differs from an agent's own requests: tool results name their tool and their failure, and the end of a command's output
is kept as well as its beginning.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from leafward.base.safe_text import safe, safe_line
from leafward.session.entries import Body, blocks_of
from leafward.session.messages import as_typed, image_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.redaction.redaction import Redactor
    from leafward.summaries.survival.spans import SpanMessage

RESULT_LIMIT = 2_400
"""Characters of a tool's result, or of a command's output."""
ARGUMENT_LIMIT = 1_600
"""Characters of one argument of a call."""
_HEAD = 2 / 3
"""The part of a shortened text that comes from its beginning."""

_LABEL = re.compile(r"(?m)^(?=\[(?:user|assistant|result|command|note|summary|part)\b)")


def pieces_of(messages: Iterable[SpanMessage], redactor: Redactor) -> list[str]:
    """Each message as one piece of text; messages without readable content are left out."""
    return [piece for _, message in messages if (piece := _piece(redactor.value(message)))]


def enclosed(name: str, text: str) -> str:
    """`text` between two lines that it cannot contain: their mark is made from it."""
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return f"<<<BEGIN {name} {mark}\n{text}\n<<<END {name} {mark}"


def shortened(text: str, limit: int) -> str:
    """`text` with its middle replaced by a note where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    head = int(limit * _HEAD)
    tail = limit - head
    return f"{text[:head]}\n[{len(text) - limit:,} characters left out]\n{text[-tail:]}"


def _piece(message: Body) -> str:
    role = message.get("role")
    if role == "user" or as_typed(message) is not message:
        return _labelled("user", _shown(message))
    if role == "assistant":
        parts = [_labelled("assistant", _shown(message))]
        parts += [
            _call(block) for block in blocks_of(message.get("content")) if block.get("type") == "toolCall"
        ]
        return "\n".join(part for part in parts if part)
    if role == "toolResult":
        failed = ", failed" if message.get("isError") else ""
        name = safe_line(str(message.get("toolName") or "a tool"), 60)
        return _labelled(f"result of {name}{failed}", shortened(_shown(message), RESULT_LIMIT) or "(empty)")
    if role == "bashExecution":
        return _command(message)
    if role == "branchSummary":
        return _labelled("summary of another branch", str(message.get("summary") or ""))
    if role == "compactionSummary":
        return _labelled("summary of what was before", str(message.get("summary") or ""))
    if role == "custom":
        kind = safe_line(str(message.get("customType") or ""), 60)
        return _labelled(f"note {kind}".strip(), _shown(message))
    # A system prompt stays in the context, and unknown roles are not sent to a model either.
    return ""


def _labelled(label: str, text: str) -> str:
    """A text under its label; a line in it that looks like a label is indented."""
    text = safe(text).strip("\n")
    return f"[{label}]\n{_LABEL.sub(' ', text)}" if text.strip() else ""


def _shown(message: Body) -> str:
    """Text and images of a message."""
    parts = []
    for block in blocks_of(message.get("content")):
        if block.get("type") == "text":
            parts.append(str(block.get("text") or ""))
        elif block.get("type") == "image":
            parts.append(image_text(block))
    return "\n".join(part for part in parts if part)


def _call(block: dict[str, Any]) -> str:
    name = safe_line(str(block.get("name") or "a tool"), 60)
    arguments = block.get("arguments")
    lines = []
    for key, value in arguments.items() if isinstance(arguments, dict) else ():
        text = value if isinstance(value, str) else _json(value)
        text = shortened(text, ARGUMENT_LIMIT)
        lines.append(f"{safe_line(str(key), 60)}:{chr(10) if chr(10) in text else ' '}{text}")
    return _labelled(f"assistant calls {name}", "\n".join(lines) or "(no arguments)")


def _command(message: Body) -> str:
    code = message.get("exitCode")
    ended = f", exit {code}" if isinstance(code, int) else ", cancelled" if message.get("cancelled") else ""
    output = shortened(str(message.get("output") or ""), RESULT_LIMIT)
    return _labelled(f"command of the user{ended}", f"$ {message.get('command', '')}\n{output}")


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"({type(value).__name__})"
