"""Documents that `opencode export` writes and `opencode import` reads: one JSON object with a session, its messages and their parts."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from leafward.agents.opencode.storage import trees
from leafward.agents.opencode.storage.records import (
    MessageRecord,
    StoredRow,
    by_time,
    created_in,
    dumped,
    in_order,
    time_in_id,
)
from leafward.base.regular_files import open_buffered
from leafward.session.entries import object_at, text_at
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.opencode.storage.records import Info
    from leafward.session.entries import Body

_BEGINNING = re.compile(rb'\{\s*"info"\s*:\s*\{\s*"')
_SESSION = b'"ses_'
_HEAD = 4096
KEPT_IN = os.path.join("storage", "session", "exported")
"""The place of a copy in a data root: a folder of description files, in which every file tells by itself what it is."""


def is_beginning(head: bytes) -> bool:
    """Whether a file that begins with these bytes is such a document."""
    start = trees.unannounced(head).lstrip()
    return _BEGINNING.match(start) is not None and _SESSION in start


def is_export(path: str) -> bool:
    """Whether a file is such a document; False for one that cannot be read."""
    try:
        with open_buffered(path) as file:
            return is_beginning(file.read(_HEAD))
    except OSError:
        return False


def document_in(path: str) -> Body | None:
    """The document; None where the file is damaged or cut off. Raises OSError."""
    return decode_line(trees.read(path))


def info_in(document: Body, path: str) -> Info:
    """The session's own description."""
    return trees.info_of(object_at(document, "info"), path)


def messages(
    document: Body, path: str, near: int, broken: Callable[[str, Exception], object]
) -> list[MessageRecord]:
    """The messages by time with their parts; `broken` is called for those that are none.

    `near`: a time near the session's, in milliseconds, for messages without one.
    """
    found: list[MessageRecord] = []
    stored = document.get("messages")
    for number, message in enumerate(stored if isinstance(stored, list) else ()):
        info = message.get("info") if isinstance(message, dict) else None
        if not isinstance(info, dict):
            broken(f"message {number + 1} of {path}", ValueError("it is not a message"))
            continue
        name = text_at(info, "id") or f"msg_{number}"
        parts = message.get("parts")
        rows = [
            StoredRow(text_at(part, "id"), 0, dumped(part), path)
            for part in (parts if isinstance(parts, list) else ())
            if isinstance(part, dict)
        ]
        created = created_in(info) or time_in_id(name, near)
        found.append(MessageRecord(StoredRow(name, created, dumped(info), path), in_order(rows)))
    found.sort(key=by_time)
    return found
