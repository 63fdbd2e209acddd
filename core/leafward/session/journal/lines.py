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
"""Tells the time; an aware one."""

_LONE = re.compile("[\ud800-\udfff]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def utc_now() -> datetime:
    """The clock of every write that is not given another."""
    return datetime.now(UTC)


def encode_line(body: Body) -> bytes:
    """An object as one line with its newline, as `JSON.stringify` writes it: no spaces, non-ASCII raw, lone surrogates escaped.

    Raises Refused for what JSON cannot say (not a number, infinity, nesting without end).
    """
    try:
        text = _ENCODER.encode(body)
    except (ValueError, RecursionError) as error:
        raise Refused(f"an entry cannot be written as JSON: {error}") from error
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode() + b"\n"


def new_id(columns: Columns, taken: Collection[str] = ()) -> EntryId:
    """An id that no entry of the session has: eight hex digits of a random UUID, the whole of it after 100 collisions (pi 1.5.2)."""
    for _ in range(100):
        made = uuid4().hex[:8]
        if made not in taken and columns.index(made) < 0:
            return EntryId(made)
    return EntryId(str(uuid4()))
