"""Common parts of all translations: the frame of a native line, messages, injected messages, names of calls' tools."""

from __future__ import annotations

import json
from binascii import a2b_base64
from collections import OrderedDict
from typing import TYPE_CHECKING

from leafward.session.entries import PUT_IN, EntryIndex, Kind
from leafward.session.transcript import DOCUMENT, OF_AGENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.session.columns import Columns
    from leafward.session.entries import Body

_PDF_LIMIT = 32 << 20
"""Bytes of a document as base64 (Anthropic's limit for a request)."""
_EDGE = 64 << 10
"""Bytes of base64 at either end of a document that are checked: these tell how it is to be read."""
_SHOWN = 2000
"""Characters shown of a block of unknown type: it may hold a picture."""
_CALLS_REMEMBERED = 4096
_CALLS_BACK = 64
"""Entries of the conversation before a result that are searched for its call."""


def frame(columns: Columns, index: int) -> Body:
    """An entry's id and parent, with the type of an otherwise unknown entry."""
    parent = columns.parent[index]
    return {
        "type": "custom",
        "id": columns.id(EntryIndex(index)),
        "parentId": columns.id(EntryIndex(parent)) if parent >= 0 else None,
    }


def kept_ids(columns: Columns, before: Iterable[int], after: Iterable[int]) -> dict[str, list[str]]:
    """The entries that a compaction keeps beside its summary, in the form of `PROJECTION`: ids before and after it."""
    return {
        "before": [columns.id(EntryIndex(entry)) for entry in before],
        "after": [columns.id(EntryIndex(entry)) for entry in after],
    }


def message(body: Body, stamp: int | None) -> Body:
    """A message with its time in milliseconds since 1970."""
    if stamp is not None:
        body["timestamp"] = stamp
    return {"type": "message", "message": body}


def injected(name: str, content: list[Body], *, of_agent: bool) -> Body:
    """A message that nobody typed; `name` is its kind.

    `of_agent`: whether every agent brings its own of that kind, so that it is not converted for another one.
    """
    return {
        "type": "custom_message",
        "customType": name,
        "content": content,
        "display": False,
        PUT_IN: True,
        OF_AGENT: of_agent,
    }


def plain_json(value: object) -> str:
    """A value as readable JSON, as short as possible."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def document(text: str, data: object) -> Body:
    """A document, represented by its name; `data` as base64, where it is known."""
    return {"type": "text", "text": text, DOCUMENT: _pdf_fault(data) if isinstance(data, str) else ""}


def _pdf_fault(data: str) -> str:
    """Why a provider refuses a PDF, from its two ends; empty where they are intact. Damage in the middle goes unnoticed."""
    try:
        head = a2b_base64(data[:_EDGE])
        tail = a2b_base64(data[max(0, len(data) // 4 * 4 - _EDGE) :])
    except ValueError:
        return "its data is broken"
    if len(data) > _PDF_LIMIT:
        return f"{len(data) / (1 << 20):.1f} MiB as base64, more than {_PDF_LIMIT >> 20}"
    if b"%PDF-" not in head[:1024] or b"startxref" not in tail:
        return "it is not a complete PDF"
    return "it is protected by a password" if b"/Encrypt" in head or b"/Encrypt" in tail else ""


def described(part: Body) -> str:
    """A block of an unknown type and without text: its type and its fields, cut where they are long."""
    rest = {key: value for key, value in part.items() if key != "type" and value is not None}
    name = f"[{part.get('type') or 'block'}]"
    text = plain_json(rest) if rest else ""
    if len(text) > _SHOWN:
        text = f"{text[:_SHOWN]}… ({len(text):,} characters)"
    return f"{name} {text}".rstrip()


class CallNames:
    """The tools that calls ran, found in the replies before their results. From any thread."""

    def __init__(
        self, columns: Columns, calls_in: Callable[[int, bytes], list[tuple[str, str]] | None]
    ) -> None:
        """`calls_in`: calls and tools of a reply, or None where the bytes of an id do not occur in it."""
        self._columns = columns
        self._calls_in = calls_in
        self._known: OrderedDict[str, str] = OrderedDict()

    def remember(self, content: list[Body]) -> None:
        """Remembers the calls of a reply's content."""
        for block in content:
            if block["type"] == "toolCall":
                self._add(block["id"], block["name"])

    def _add(self, call: str, tool: str) -> None:
        self._known[call] = tool
        while len(self._known) > _CALLS_REMEMBERED:
            self._known.popitem(last=False)

    def tool(self, index: int, call: str) -> str:
        """The tool of the call that an entry answers; empty where it is not found."""
        known = self._known.get(call)
        if known is not None or not call:
            return known or ""
        call_bytes = call.encode("utf-8", "surrogatepass")
        for at in self._columns.said_above(index, _CALLS_BACK):
            if self._columns.kind[at] == Kind.ASSISTANT:
                made = self._calls_in(at, call_bytes)
                if made is not None:
                    for one in made:
                        self._add(*one)
                    return self._known.get(call, "")
        return ""
