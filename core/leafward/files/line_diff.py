"""Comparison of two texts by lines and of two lines by words, for edits, files of branches and summaries.

Lines that occur once in both texts are matched first, so that large texts split into small parts; work is bounded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PART = 2000
"""Lines of a part that are compared with each other; a larger part without a split counts as replaced."""
_PAIRS = 200_000
"""Pairs of equal lines in such a part, at most, by default."""


class DiffBlock(NamedTuple):
    """Lines of the old text and their counterpart in the new one. Numbers from 0, the end not included."""

    same: bool
    old_from: int
    old_to: int
    new_from: int
    new_to: int


def split_lines(text: str) -> list[str]:
    """The lines of a text, each with its newline, so that they join to the text again."""
    lines = text.split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def compare_lines(old: Sequence[str], new: Sequence[str], whole: int = 0) -> list[DiffBlock]:
    """The blocks that turn the old lines into the new ones: same and different ones in turn, covering both texts.

    `whole`: a part with at most that many pairs of equal lines is not split first, which leaves fewer differing lines; a
    part with more pairs and no split counts as replaced.
    """
    pairs: list[tuple[int, int, int]] = []
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        a, b, c, d = waiting.pop()
        head = 0
        while a + head < b and c + head < d and old[a + head] == new[c + head]:
            head += 1
        if head:
            pairs.append((a, c, head))
            a, c = a + head, c + head
        tail = 0
        while b - tail > a and d - tail > c and old[b - tail - 1] == new[d - tail - 1]:
            tail += 1
        if tail:
            b, d = b - tail, d - tail
            pairs.append((b, d, tail))
        if a == b or c == d:
            continue
        small = b - a + d - c <= _PART
        if whole and small and (matched := list(_matched(old[a:b], new[c:d], a, c, whole))):
            pairs += matched
            continue
        anchors = _anchors(old, new, a, b, c, d)
        if anchors:
            for here, there in [*anchors, (b, d)]:
                waiting.append((a, here, c, there))
                if here < b:
                    pairs.append((here, there, 1))
                    a, c = here + 1, there + 1
        elif small:
            pairs += _matched(old[a:b], new[c:d], a, c, whole or _PAIRS)
    return _blocks(sorted(pairs), len(old), len(new))


def _anchors(old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """Lines that occur once in both parts, in the longest order that both share."""
    in_old, in_new = Counter(old[a:b]), Counter(new[c:d])
    place = {new[at]: at for at in range(c, d) if in_new[new[at]] == 1 and in_old.get(new[at]) == 1}
    found = [(at, place[old[at]]) for at in range(a, b) if old[at] in place]
    # The longest increasing sequence of places, by patience sorting.
    tops: list[int] = []
    ends: list[int] = []
    before = [-1] * len(found)
    for number, (_, there) in enumerate(found):
        pile = bisect_left(tops, there)
        before[number] = ends[pile - 1] if pile else -1
        if pile == len(tops):
            tops.append(there)
            ends.append(number)
        else:
            tops[pile], ends[pile] = there, number
    row = []
    at = ends[-1] if ends else -1
    while at >= 0:
        row.append(found[at])
        at = before[at]
    return row[::-1]


def _matched(
    below: Sequence[str], above: Sequence[str], a: int, c: int, most_pairs: int
) -> Iterator[tuple[int, int, int]]:
    have = Counter(above)
    if 0 < sum(have[line] for line in below) <= most_pairs:
        for block in SequenceMatcher(None, below, above, autojunk=False).get_matching_blocks():
            if block.size:
                yield a + block.a, c + block.b, block.size


def _blocks(pairs: list[tuple[int, int, int]], old_size: int, new_size: int) -> list[DiffBlock]:
    found: list[DiffBlock] = []
    here = there = 0
    for a, c, size in [*pairs, (old_size, new_size, 0)]:
        if a > here or c > there:
            found.append(DiffBlock(False, here, a, there, c))
        if size:
            last = found[-1] if found else None
            if last is not None and last.same:
                found[-1] = DiffBlock(True, last.old_from, a + size, last.new_from, c + size)
            else:
                found.append(DiffBlock(True, a, a + size, c, c + size))
        here, there = a + size, c + size
    return found


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of a comparison, side by side. Numbers from 1; None where a side has no line here."""

    old: int | None
    new: int | None


def rows(blocks: Sequence[DiffBlock]) -> list[DiffRow]:
    """Lines side by side: the lines of a differing block are paired as far as they go."""
    found: list[DiffRow] = []
    for block in blocks:
        olds, news = block.old_to - block.old_from, block.new_to - block.new_from
        found += [
            DiffRow(
                block.old_from + at + 1 if at < olds else None,
                block.new_from + at + 1 if at < news else None,
            )
            for at in range(max(olds, news))
        ]
    return found


_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_LINE = 2000
_ALIKE = 0.4
"""The similarity from which the words of two lines are compared; below it the whole line counts as changed."""


def word_changes(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]] | None:
    """The parts of two lines that differ, in code points from and to; None where the lines have too little in common."""
    if len(old) > _LONGEST_LINE or len(new) > _LONGEST_LINE:
        return None
    olds, news = list(_WORD.finditer(old)), list(_WORD.finditer(new))
    matcher = SequenceMatcher(None, [one[0] for one in olds], [one[0] for one in news], autojunk=False)
    if not olds or not news or matcher.ratio() < _ALIKE:
        return None
    left: list[tuple[int, int]] = []
    right: list[tuple[int, int]] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            if b > a:
                left.append((olds[a].start(), olds[b - 1].end()))
            if d > c:
                right.append((news[c].start(), news[d - 1].end()))
    return left, right


class Origin3(NamedTuple):
    """A region of a three-way comparison. Numbers from 0, the end not included."""

    kind: str
    """`same`, `a` or `b` where only that side changed it, `both` where both made the same change, `conflict`."""
    base: tuple[int, int]
    a: tuple[int, int]
    b: tuple[int, int]


def three_way(base: Sequence[str], a: Sequence[str], b: Sequence[str]) -> list[Origin3]:
    """The changes of each side to a common text, region by region, covering all three texts."""
    ours = [block for block in compare_lines(base, a) if not block.same]
    theirs = [block for block in compare_lines(base, b) if not block.same]
    found: list[Origin3] = []
    place = shift_a = shift_b = 0
    i = j = 0
    while i < len(ours) or j < len(theirs):
        begin = min(block.old_from for block in (*ours[i : i + 1], *theirs[j : j + 1]))
        end, mine, others = begin, i, j
        grown = True
        # Changes that touch or overlap belong to one region.
        while grown:
            grown = False
            while mine < len(ours) and ours[mine].old_from <= end:
                end, mine, grown = max(end, ours[mine].old_to), mine + 1, True
            while others < len(theirs) and theirs[others].old_from <= end:
                end, others, grown = max(end, theirs[others].old_to), others + 1, True
        if begin > place:
            found.append(
                Origin3(
                    "same",
                    (place, begin),
                    (place + shift_a, begin + shift_a),
                    (place + shift_b, begin + shift_b),
                )
            )
        next_a = shift_a + sum((x.new_to - x.new_from) - (x.old_to - x.old_from) for x in ours[i:mine])
        next_b = shift_b + sum((x.new_to - x.new_from) - (x.old_to - x.old_from) for x in theirs[j:others])
        in_a, in_b = (begin + shift_a, end + next_a), (begin + shift_b, end + next_b)
        if mine == i:
            kind = "b"
        elif others == j:
            kind = "a"
        else:
            kind = "both" if list(a[slice(*in_a)]) == list(b[slice(*in_b)]) else "conflict"
        found.append(Origin3(kind, (begin, end), in_a, in_b))
        place, shift_a, shift_b, i, j = end, next_a, next_b, mine, others
    if place < len(base):
        end = len(base)
        found.append(
            Origin3("same", (place, end), (place + shift_a, end + shift_a), (place + shift_b, end + shift_b))
        )
    return found
