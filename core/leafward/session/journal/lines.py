"""Lines as pi writes them: compact JSON, ISO times in milliseconds, ids of eight hex digits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from leafward.base.errors import Refused
from leafward.session.entries import Body, EntryId

if TYPE_CHECKING:
    from leafward.session.columns import Columns

Clock = Callable[[], datetime]
"""A function that gives the time, with a zone."""

_LONE = re.compile("[\ud800-\udfff]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def utc_now() -> datetime:
    """The default clock of every write."""
    return datetime.now(UTC)


def encode_line(body: Body) -> bytes:
    """An object as one line with its newline, as `JSON.stringify` writes it.

    It has no spaces, raw non-ASCII characters and escaped lone surrogates. Raises Refused for a value outside JSON (not a
    number, infinity, endless nesting).
    """
    try:
        text = _ENCODER.encode(body)
    except (ValueError, RecursionError) as error:
        raise Refused(f"an entry cannot be written as JSON: {error}") from error
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode() + b"\n"


def new_id(columns: Columns, taken: Collection[str] = ()) -> EntryId:
    """An id that no entry of the session has, made as pi 1.5.2 does.

    It is eight hex digits of a random UUID, the whole UUID after 100 collisions.
    """
    for _ in range(100):
        made = uuid4().hex[:8]
        if made not in taken and columns.index(made) < 0:
            return EntryId(made)
    return EntryId(str(uuid4()))
