"""Sessions of Codex's first program, in TypeScript (spring 2025): one JSON document, written anew with each item.

Its items are those that later rollouts have a line for, without times and without a folder; the only time is that of the last
write. Messages of the role `system` are notices for the screen, which are never sent (0.1.2504172351, 0.1.2505291658). It is
read as the lines that the next program wrote: the session, then its items.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING = ".json"
_BEGINS = re.compile(rb'\s*\{\s*"session"\s*:\s*\{')
_SESSION = re.compile(r'[^{]*\{\s*"session"\s*:\s*')
_ITEMS = re.compile(r'\s*,\s*"items"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_INDENT = re.compile(r"\r?\n\s*")
"""A line end and the blanks behind it, which stand in no string of JSON."""
_VALUE = json.JSONDecoder(parse_int=len)
"""Finds the end of a value; numbers may have any length."""


def is_document(head: bytes) -> bool:
    """Whether bytes begin such a document."""
    return _BEGINS.match(head) is not None


def document_lines(data: bytes) -> bytes:
    """The lines of a document; of one that is cut off, the last item as far as it goes, without a line end."""
    lines = _lines(data.decode("utf-8", "surrogateescape"))
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _lines(text: str) -> Iterator[str]:
    begun = _SESSION.match(text)
    at, written = begun.end() if begun is not None else 0, None
    while at < len(text) and text[at] != "]":
        try:
            value, end = _VALUE.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield _INDENT.sub("", text[at:])
            return
        stored = _INDENT.sub("", text[at:end])
        if written is None:
            written = str(value.get("timestamp") or "")
            items = _ITEMS.match(text, end)
            end = items.end() if items is not None else len(text)
        elif isinstance(value, dict) and value.get("role") == "system":
            stored = _as_event(value, written)
        yield stored
        between = _BETWEEN.match(text, end)
        at = between.end() if between is not None else end
    yield ""


def _as_event(notice: dict[str, Any], written: str) -> str:
    """A notice as later programs store one, with the only time there is."""
    content = notice.get("content")
    parts = content if isinstance(content, list) else []
    texts = [str(part.get("text")) for part in parts if isinstance(part, dict)]
    event = {"type": "background_event", "message": "\n".join(texts)}
    return json.dumps({"timestamp": written, "type": "event_msg", "payload": event})
