"""Texts in base64 that hold secrets: a service account's key in a setting, an `.env` that is piped through `base64 -d`."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.redaction.spans import Span

_RUN = late(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/]{32,200000}={0,2}")
_HEAD = 32
"""Characters that are decoded first: at their beginning, pictures and archives already show that they are not text."""
_TEXT = re.compile(rb"[\t\n\r\x20-\x7e]+\Z")


def may_be_encoded(together: str) -> bool:
    """Whether one of some runs may be base64 that is long enough."""
    return _RUN.search(together) is not None


def encoded_in(text: str, together: str, secrets_in: Callable[[str], list[Span]]) -> Iterator[Span]:
    """The whole runs of base64 that decode to a text with a secret. `together` are the long runs of the text."""
    if not may_be_encoded(together):
        return
    for found in _RUN.finditer(text):
        run = found[0].rstrip("=")
        if not _TEXT.match(_decoded(run[:_HEAD])):
            continue
        plain = _decoded(run)
        if _TEXT.match(plain) and secrets_in(plain.decode("ascii")):
            yield found.start(), found.end(), SecretKind.ENCODED_SECRET


def _decoded(run: str) -> bytes:
    """The bytes of a run without its padding; empty where it is not base64."""
    try:
        return base64.b64decode(run + "=" * (-len(run) % 4))
    except (binascii.Error, ValueError):
        return b""
