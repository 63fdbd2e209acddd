"""A stored line as an object, as pi's reader would take it; its kind, and the version of a file by its header."""

from __future__ import annotations

import json
import math

import orjson

from leafward.session.abridged_lines import LINE_LIMIT, abridged
from leafward.session.entries import ENTRY_TYPES, MESSAGE_ROLES, Body, Kind

CURRENT_VERSION = 3
"""The newest file version that is written; newer ones are read only."""

_PLAIN_DIGITS = 18


def _no_constants(name: str) -> None:
    raise ValueError(name)


def _number(text: str) -> int | float | None:
    """A number of any length: null where JavaScript has none for it, as it writes that again."""
    if len(text) <= _PLAIN_DIGITS and text.removeprefix("-").isdecimal():
        return int(text)
    value = float(text)
    return value if math.isfinite(value) else None


def decode_line(line: bytes) -> Body | None:
    """A line as an object; None where it is none.

    What orjson refuses is tried with the standard parser, which takes lone surrogates and numbers of any length, and with
    invalid UTF-8 replaced, as pi's reader does. Of what is nested so deeply that neither takes it, and of a line above
    `LINE_LIMIT`, the object is what `abridged` keeps.
    """
    if len(line) > LINE_LIMIT:
        line = abridged(line) or b""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _decoded_anyway(line)
    return value if isinstance(value, dict) else None


def _decoded_anyway(line: bytes) -> object:
    """What orjson refuses; None where it is no JSON at all."""
    text = line.decode("utf-8", "replace")
    try:
        return json.loads(text, parse_constant=_no_constants, parse_int=_number, parse_float=_number)
    except ValueError:
        return None
    except RecursionError:
        shorter = abridged(line, shorten=False)
        return decode_line(shorter) if shorter is not None else None


def kind_of(body: Body) -> Kind:
    """The kind of a decoded entry; a type or role this version does not know is `UNKNOWN`."""
    type_ = body.get("type")
    if type_ == "message":
        message = body.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        return MESSAGE_ROLES.get(role, Kind.UNKNOWN) if isinstance(role, str) else Kind.UNKNOWN
    return ENTRY_TYPES.get(type_, Kind.UNKNOWN) if isinstance(type_, str) else Kind.UNKNOWN


def version_of(header: Body | None) -> int:
    """The file version a header names; a header without one is version 1, a file without a header is taken as 3."""
    if header is None:
        return CURRENT_VERSION
    version = header.get("version", 1)
    if isinstance(version, str) and version.isdecimal() and len(version) <= _PLAIN_DIGITS:
        version = int(version)
    known = isinstance(version, (int, float)) and math.isfinite(version)
    return int(version) if known and version else 1
