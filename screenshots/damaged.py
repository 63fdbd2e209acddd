"""The demo session as it might lie on a disk that lost power: what `doctor` is shown on."""

from __future__ import annotations

_CALLED, _WRITTEN_TWICE, _HOLE, _LOST = 61, 120, 200, 300
"""Lines: a result that was lost, one that another program wrote into, one with a hole, and one whose parent is gone."""
_TORN = 100


def damaged(data: bytes) -> bytes:
    """A session's lines with a damage of each kind among them."""
    lines = data.splitlines(keepends=True)
    lines[_CALLED] = b"Segmentation fault (core dumped)\n"
    lines[_WRITTEN_TWICE] = lines[_WRITTEN_TWICE][:80] + lines[_WRITTEN_TWICE]
    lines[_HOLE] = lines[_HOLE][:400] + bytes(64) + lines[_HOLE][464:]
    del lines[_LOST]
    return b"".join(lines)[:-_TORN]
