"""Columns of numbers computed as a whole: one Python step for each of half a million rows takes as long as reading them."""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from itertools import accumulate, compress, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ODD = 0x9E3779B1
"""Spreads offsets over all ids; odd, so that different offsets have different ids."""
_WORD = 0xFFFFFFFF
_MANY = 1 << 18
_AT_ONCE = 1 << 13
_ORDER = sys.byteorder
_LOWER_HALVES = slice(0 if _ORDER == "little" else 1, None, 2)
_FILLED = bytes((0,)) + b"\xff" * 255
_NO_MARK = bytes((1,)) + bytes(255)
_MARK = re.compile(rb"[^\0]")
_GAP = re.compile(rb"\0+")
_APART = 12
"""Rows per gap from which copying the stretches between gaps is faster than a check of each row."""


def spread(number: int, far: int) -> int:
    """A number, and a different one for each other offset."""
    return (number + far * _ODD) & _WORD


def words_for(places: array[int], seed: int) -> array[int]:
    """A word for each offset, in the byte order of ids: words differ within four gigabytes."""
    # All of them form one large number with eight bytes each, which is multiplied at once.
    each = _whole((1).to_bytes(8, _ORDER) * len(places))
    made = (_whole(places.tobytes()) & each * _WORD) * _ODD + each * seed
    with memoryview(made.to_bytes(8 * len(places), _ORDER)) as lanes, lanes.cast("I") as halves:
        words = array("I", halves[_LOWER_HALVES].tobytes())
    if _ORDER == "little":
        words.byteswap()
    return words


def filled(numbers: array[int], others: array[int], marks: bytes) -> array[int]:
    """A column of words with the words of another column at the marks; its own words are zeros there."""
    lanes = bytearray(4 * len(numbers))
    for place in range(4):
        lanes[place::4] = marks.translate(_FILLED)
    words = _whole(numbers.tobytes()) | _whole(others.tobytes()) & _whole(lanes)
    return array("I", words.to_bytes(len(lanes), _ORDER))


def ascending(count: int) -> array[int]:
    """The numbers from 0 up."""
    lanes = bytearray(4 * count)
    for place in range(4):
        run = min(256**place, count) or 1
        cycle = b"".join(bytes((digit,)) * run for digit in range(min(256, count // run + 1)))
        lanes[place if _ORDER == "little" else 3 - place :: 4] = (cycle * (count // len(cycle) + 1))[:count]
    return array("i", bytes(lanes))


class RowSelection:
    """Some of many rows: columns without the others."""

    def __init__(self, marks: bytes) -> None:
        """`marks` has a 1 for each selected row, and a 0 for others."""
        self._marks = marks
        few = marks.count(b"\1\0") * _APART <= len(marks)
        self._gaps = [gap.span() for gap in _GAP.finditer(marks)] if few else None
        """Runs of other rows, where they are rare: the stretches between them are copied at once."""

    def of(self, column: array[int]) -> array[int]:
        """The values of a column for the selected rows."""
        if self._gaps is None:
            return array(column.typecode, compress(column, self._marks))
        width, data = column.itemsize, column.tobytes()
        pieces, at = [], 0
        for first, stop in self._gaps:
            pieces.append(data[at * width : first * width])
            at = stop
        return array(column.typecode, b"".join([*pieces, data[at * width :]]))

    def places(self) -> array[int]:
        """The number of each selected row among them, from 0; other rows repeat the number before them, -1 ahead of the first."""
        if self._gaps is None:
            return array("i", islice(accumulate(self._marks, initial=-1), 1, None))
        numbers = ascending(len(self._marks))
        width, data = numbers.itemsize, array("i", (-1,)).tobytes() + numbers.tobytes()
        pieces: list[bytes] = []
        at = late = 0
        for first, stop in self._gaps:
            end = (first - late + 1) * width
            pieces += (data[(at - late + 1) * width : end], data[end - width : end] * (stop - first))
            late += stop - first
            at = stop
        pieces.append(data[(at - late + 1) * width : len(data) - late * width])
        return array("i", b"".join(pieces))


def repeated(numbers: array[int], apart: bytes = b"") -> set[int]:
    """The numbers that occur more than once; numbers that `apart` marks are known to differ from each other.

    Very large columns are processed in parts, as a set of all numbers would be larger than everything else.
    """
    apart = apart or bytes(len(numbers))
    others = apart.translate(_NO_MARK)
    parts = 1 + others.count(1) // _MANY
    found: set[int] = set()
    for part in range(parts):
        mask = _bytes_of(numbers, 0).translate(bytes(low % parts == part for low in range(256)))
        seen: set[int] = set()
        # Small sets are quick to make and to compare.
        for some in _some_of(numbers, _both(others, mask)):
            fresh = set(some)
            found |= seen & fresh
            seen |= fresh
            if len(fresh) < len(some):
                found.update(number for number, times in Counter(some).items() if times > 1)
        for some in _some_of(numbers, _both(apart, mask)):
            found |= seen & set(some)
    return found


def _some_of(numbers: array[int], marks: bytes) -> Iterator[list[int]]:
    """The marked numbers, in parts."""
    for at in range(0, len(numbers), _AT_ONCE):
        yield list(compress(numbers[at : at + _AT_ONCE], marks[at : at + _AT_ONCE]))


def places_of(numbers: array[int], wanted: set[int]) -> list[int]:
    """The places of some numbers, ascending."""
    if not wanted:
        return []
    # A check of two bytes of each number rules out nearly all of them where few are wanted.
    near, sought = b"\1" * len(numbers), array(numbers.typecode, wanted)
    for place in range(2):
        some = set(_bytes_of(sought, place))
        near = _both(near, _bytes_of(numbers, place).translate(bytes(byte in some for byte in range(256))))
    return [at for at in map(re.Match.start, _MARK.finditer(near)) if numbers[at] in wanted]


def _bytes_of(numbers: array[int], place: int) -> bytes:
    """One byte of each number, by its place in memory."""
    return numbers.tobytes()[place :: numbers.itemsize]


def _both(some: bytes | bytearray, others: bytes | bytearray) -> bytes:
    """The bits that are set in both."""
    return (_whole(some) & _whole(others)).to_bytes(len(some), _ORDER)


def _whole(data: bytes | bytearray) -> int:
    return int.from_bytes(data, _ORDER)
