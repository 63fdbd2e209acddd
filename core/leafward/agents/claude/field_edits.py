"""A field of a row changed in its bytes, with everything else as it was written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from leafward.agents.storage.json_text import written
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entries import Body


def with_field(raw: bytes, name: str, value: Any) -> bytes:
    """A row with another value in one field: in its place, or behind all others where the field is missing.

    Text inside other fields is never taken for it. A row that cannot be changed in place is encoded anew.
    """
    body = decode_line(raw)
    if body is None:
        return raw
    changed_body = {**body, name: value}
    for changed in _attempts(raw, body, name, written(value)):
        if decode_line(changed) == changed_body:
            return changed
    return written(changed_body)


def _attempts(raw: bytes, body: Body, name: str, value: bytes) -> Iterator[bytes]:
    key = written(name)
    if name not in body:
        end = raw.rstrip().rfind(b"}")
        yield raw[:end] + (b"," if body else b"") + key + b":" + value + raw[end:]
        return
    old = written(body[name])
    for found in re.finditer(re.escape(key) + rb"\s*:\s*", raw):
        at = found.end()
        if raw.startswith(old, at):
            yield raw[:at] + value + raw[at + len(old) :]
