"""Data that zstd compressed, unpacked. A small file can hold any number of bytes, so that is bounded by what text compresses to."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 20
_FREE = 256 << 20
"""Bytes that any compressed file may unpack to."""
_RATIO = 256
"""Bytes that each byte of a larger one may unpack to: sessions compress to a tenth, logs that repeat themselves to a hundredth."""


class CannotUnpack(ValueError):
    """The rest of what was compressed is damaged, missing, or larger than any text would be."""


def is_packed(head: bytes) -> bool:
    """Whether bytes begin a compressed file."""
    return head.startswith(_MAGIC)


def unpacked_head(head: bytes, size: int) -> bytes:
    """Up to `size` bytes of the content whose compressed beginning is given; empty where that is damaged."""
    try:
        return zstd.ZstdDecompressor().decompress(head, size)
    except zstd.ZstdError:
        return b""


def unpacked(packed: IO[bytes]) -> Iterator[bytes]:
    """The content of a compressed file in pieces. Raises CannotUnpack behind the last piece that is whole, and OSError."""
    size = packed.seek(0, 2)
    packed.seek(0)
    most = max(_FREE, _RATIO * size)
    made = 0
    with zstd.ZstdFile(packed) as stream:
        while True:
            try:
                piece = stream.read(_PIECE)
            except (zstd.ZstdError, EOFError) as error:
                raise CannotUnpack(str(error)) from error
            if not piece:
                return
            made += len(piece)
            if made > most:
                raise CannotUnpack(f"it holds more than {most >> 20:,} MB, in a file of {size:,} bytes")
            yield piece


def packed(content: bytes) -> bytes:
    """Bytes, compressed."""
    return zstd.compress(content)
