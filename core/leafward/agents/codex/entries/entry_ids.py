"""Ids of entries: made from their offsets, many at once, and the same whenever a file is read."""

from __future__ import annotations

import sys
from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING

from leafward.session.columns import ID_SIZE, Columns

if TYPE_CHECKING:
    from collections.abc import Mapping

_ODD = 0x9E3779B1
"""Spreads offsets over all ids; odd, so that different offsets have different ids."""
_IDS = 0xFFFFFFFF


class SegmentIds:
    """Makes ids for one segment after the other."""

    def __init__(self) -> None:
        self._seed = 0
        self._taken: set[bytes] | None = None

    def begin(self, start: int, segment: str, columns: Columns) -> None:
        """Begins the entries of a segment, which begins at a byte."""
        seed = int.from_bytes(
            blake2b(segment.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big"
        )
        self._seed = seed - start * _ODD
        if len(columns) and self._taken is None:
            # Different places in one segment have different ids; ids of two segments may be equal.
            ids = bytes(columns.ids)
            self._taken = {ids[place : place + ID_SIZE] for place in range(0, len(ids), ID_SIZE)}

    def name(self, columns: Columns, first: int, parts: Mapping[int, int]) -> None:
        """Gives ids to the entries from `first` on. `parts` has the number of an entry within its line, ascending."""
        seed = self._seed
        ids = array("I", [(seed + at * _ODD) & _IDS for at in columns.start[first:]])
        for index in reversed(parts):
            if index < first:
                break
            ids[index - first] = (ids[index - first] + parts[index] * _ODD) & _IDS
        if self._taken is not None:
            for place, number in enumerate(ids):
                while (name := b"%08x" % number) in self._taken:
                    number = (number + 1) & _IDS
                self._taken.add(name)
                ids[place] = number
        if sys.byteorder == "little":
            ids.byteswap()
        columns.ids += ids.tobytes().hex().encode()
