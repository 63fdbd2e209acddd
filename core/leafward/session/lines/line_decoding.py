"""A stored line as an object, as pi's reader would decode it; its kind, and the file version in a header."""

from __future__ import annotations

import json
import math
import sys

import orjson

from leafward.session.entries import ENTRY_TYPES, MESSAGE_ROLES, Body, Kind
from leafward.session.lines.abridged_lines import LINE_LIMIT, abridged

CURRENT_VERSION = 3
"""The newest file version that is written; newer ones are read-only."""

_PLAIN_DIGITS = 18
_DEEPEST = 1024
"""Levels of nested containers that orjson reads."""
# Values so deep are printed as well: Python 3.11 counts each of their levels like a call, and has room for a thousand of both.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 4 * _DEEPEST))
_LONG = 64 << 10
"""Bytes of a deep line from which its shorter form is remembered: a verb decodes an entry many times."""
_MOST_HELD, _LONGEST_HELD = 16, 1 << 20
"""Most shorter lines that are remembered, and the bytes of the longest one."""
_shorter: dict[bytes, bytes | None] = {}
"""Shorter forms of deep lines, by the lines' digests."""


def _no_constants(name: str) -> None:
    raise ValueError(name)


def _number(text: str) -> int | float | None:
    """A number of any length: null where JavaScript cannot represent it, as it would write it again."""
    if len(text) <= _PLAIN_DIGITS and text.removeprefix("-").isdecimal():
        return int(text)
    value = float(text)
    return value if math.isfinite(value) else None


def decode_line(line: bytes) -> Body | None:
    """A line as an object; None where it is not one.

    Lines that orjson rejects go to the standard parser, which takes lone surrogates and numbers of any length, and with
    invalid UTF-8 replaced, as in pi's reader. A line nested too deeply for both, or above `LINE_LIMIT`, becomes the object
    that `abridged` keeps.
    """
    if len(line) > LINE_LIMIT:
        line = abridged(line) or b""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _decoded_anyway(line)
    return value if isinstance(value, dict) else None


def _decoded_anyway(line: bytes) -> object:
    """The value of a line that orjson rejects; None where it is not JSON at all."""
    text = line.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_constant=_no_constants, parse_int=_number, parse_float=_number)
    except ValueError:
        return None
    except RecursionError:
        pass
    else:
        if not _is_deep(value):
            return value
    shorter = _less_deep(line)
    return decode_line(shorter) if shorter is not None else None


def _is_deep(value: object) -> bool:
    """Whether a value has more levels than orjson reads."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(_DEEPEST):
        inside = (one.values() if isinstance(one, dict) else one for one in level)
        level = [one for some in inside for one in some if isinstance(one, (dict, list))]
        if not level:
            return False
    return True


def _less_deep(line: bytes) -> bytes | None:
    """A line without what is nested too deeply; None where it is not a JSON object."""
    if len(line) < _LONG:
        return abridged(line, shorten=False)
    import hashlib  # hardly any session needs it, and it takes as long to load as a small one

    digest = hashlib.blake2b(line, digest_size=16).digest()
    if digest in _shorter:
        return _shorter[digest]
    shorter = abridged(line, shorten=False)
    if len(shorter or b"") <= _LONGEST_HELD:
        while len(_shorter) >= _MOST_HELD:
            # Another thread may have removed it.
            _shorter.pop(next(iter(_shorter)), None)
        _shorter[digest] = shorter
    return shorter


def kind_of(body: Body) -> Kind:
    """The kind of a decoded entry; `UNKNOWN` for a type or role that this version does not know."""
    type_ = body.get("type")
    if type_ == "message":
        message = body.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        return MESSAGE_ROLES.get(role, Kind.UNKNOWN) if isinstance(role, str) else Kind.UNKNOWN
    return ENTRY_TYPES.get(type_, Kind.UNKNOWN) if isinstance(type_, str) else Kind.UNKNOWN


def version_of(header: Body | None) -> int:
    """The file version in a header: 1 where the header has none, 3 for a file without a header.

    Words are no number below 2 or 3, and so pi migrates nothing in such a file.
    """
    if header is None:
        return CURRENT_VERSION
    version = header.get("version", 1)
    if isinstance(version, str) and version:
        version = int(version) if version.isdecimal() and len(version) <= _PLAIN_DIGITS else CURRENT_VERSION
    known = isinstance(version, (int, float)) and math.isfinite(version)
    return int(version) if known and version else 1
