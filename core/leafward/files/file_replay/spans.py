"""Known lines of a file that is only partly known: in order, no two adjacent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.files.file_replay.patches import Region
from leafward.files.text_replacement import bare

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence


class KnownLines(NamedTuple):
    """Consecutive known lines of a file."""

    first: int
    """The number of the first line, from 1."""
    lines: tuple[str, ...]

    @property
    def after(self) -> int:
        """The number of the line after the last."""
        return self.first + len(self.lines)


def ends_off(lines: Sequence[str], first: int = 1) -> tuple[str, ...]:
    """Lines without the carriage returns before their newlines, and without the byte order mark of a file's first line."""
    found = tuple(line.removesuffix("\r") for line in lines)
    return (found[0].removeprefix("\ufeff"), *found[1:]) if found and first == 1 else found


def joined(spans: Iterable[KnownLines], new: KnownLines) -> tuple[KnownLines, ...]:
    """Known lines merged with more that agree with them."""
    one, kept = new, []
    for span in spans:
        if span.after < one.first or one.after < span.first:
            kept.append(span)
            continue
        head = span.lines[: max(0, one.first - span.first)]
        tail = span.lines[max(0, one.after - span.first) :] if span.after > one.after else ()
        one = KnownLines(min(span.first, one.first), (*head, *one.lines, *tail))
    return tuple(sorted((*kept, one)))


def agree(spans: Iterable[KnownLines], new: KnownLines) -> bool:
    """Whether new lines equal the known ones wherever both exist."""
    for span in spans:
        low, high = max(span.first, new.first), min(span.after, new.after)
        if low < high and (
            span.lines[low - span.first : high - span.first] != new.lines[low - new.first : high - new.first]
        ):
            return False
    return True


def around(lines: Sequence[str], regions: Sequence[Region]) -> Iterator[KnownLines]:
    """The lines between regions of a text, at their positions after the regions are replaced."""
    shift = begin = 0
    for region in (*regions, Region(len(lines), len(lines), 0)):
        # The last line may have gained a line end.
        kept = lines[begin : min(region.begin, len(lines) - 1)]
        if kept:
            yield KnownLines(begin + shift + 1, tuple(kept))
        shift, begin = shift + region.size - (region.end - region.begin), region.end


def steady(first: int, lines: Sequence[str], unsure: Collection[int] = ()) -> Iterator[KnownLines]:
    """The lines that a tool leaves unchanged when it rewrites a whole file without the differences that it ignores."""
    begin = 0
    for place in range(len(lines) + 1):
        ends = place == len(lines) or place in unsure or bare(lines[place]) != lines[place].removesuffix("\r")
        if ends and place > begin:
            yield KnownLines(first + begin, tuple(lines[begin:place]))
        begin = place + 1 if ends else begin
