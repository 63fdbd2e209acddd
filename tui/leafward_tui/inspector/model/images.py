"""An image in words: its type, its size, and its dimensions where the first bytes hold them."""

from __future__ import annotations

import base64
import binascii
import struct
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.session.messages import decoded_size
from leafward_tui.ui.text.cells import byte_size

if TYPE_CHECKING:
    from leafward.session.entries import Body

_HEAD = 87_380
"""The most characters of base64 that are read: 64 KiB of image, which holds the headers of a photograph."""


def described(block: Body) -> str:
    """`[image image/png, 12 KB, 640x480]`, safe."""
    data = block.get("data")
    parts = [safe_line(str(block.get("mimeType") or "of unknown type"), 40)]
    if isinstance(data, str) and data:
        parts.append(byte_size(decoded_size(data)))
        dimensions = _dimensions(data)
        if dimensions is not None:
            parts.append(f"{dimensions[0]}x{dimensions[1]}")
    else:
        parts.append("no data")
    return f"[image {', '.join(parts)}]"


def _dimensions(data: str) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, GIF, WebP or JPEG image; None where the first bytes do not hold them."""
    head = data[:_HEAD]
    try:
        raw = base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    found: tuple[int, ...] | None = None
    try:
        if raw[:8] == b"\x89PNG\r\n\x1a\n":
            found = struct.unpack(">II", raw[16:24])
        elif raw[:6] in (b"GIF87a", b"GIF89a"):
            found = struct.unpack("<HH", raw[6:10])
        elif raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
            found = _webp(raw)
        elif raw[:2] == b"\xff\xd8":
            found = _jpeg(raw)
    except (struct.error, IndexError):
        return None
    return (found[0], found[1]) if found else None


def _webp(raw: bytes) -> tuple[int, ...] | None:
    if raw[12:16] == b"VP8X":
        return int.from_bytes(raw[24:27], "little") + 1, int.from_bytes(raw[27:30], "little") + 1
    if raw[12:16] == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if raw[12:16] == b"VP8 ":
        width, height = struct.unpack("<HH", raw[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(raw: bytes) -> tuple[int, ...] | None:
    at = 2
    while at + 9 <= len(raw) and raw[at] == 0xFF:
        marker = raw[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", raw[at + 2 : at + 4])[0]
    return None
