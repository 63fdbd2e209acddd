"""What a strategy makes of a measured path: which messages are summarised, which kept, which cut short, and why."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from leafward.compaction.measure import PathSizes


@dataclass(frozen=True, slots=True)
class PiAnswer:
    """What pi 1.5.2 itself would plan."""

    first_kept: EntryIndex
    split_turn: bool
    summarize: int
    """Messages."""
    turn_prefix: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A remark on a plan."""

    code: str
    text: str
    pi_would: str | None = None
    """What pi 1.5.2 does instead, as a sentence that begins with "pi would"; None where it does the same."""
    pi: PiAnswer | None = None
    """The same as numbers, where the division of the messages differs."""


class Shortened(NamedTuple):
    """A message of which only a part stays. Sizes in tokens."""

    position: int
    entry: EntryIndex
    tokens: int
    """Before."""
    left: int
    """After."""


@dataclass(slots=True)
class Division:
    """The messages of a path dealt out, by position."""

    start: int = 0
    """Messages before this position are neither summarised nor kept: 0.58 of pi lost them."""
    history: int = 0
    """Messages before this position are summarised as history."""
    cut: int = 0
    """Messages from `history` to before this position are the beginning of a split turn."""
    split: bool = False
    """Whether a turn is called split."""
    tail: bool = True
    """Whether the messages from `cut` on are kept."""
    chosen: array[int] | None = None
    """Messages that are kept instead of a tail."""
    shortened: list[Shortened] = field(default_factory=list)
    why: str = ""
    """How the cut was chosen, in a few sentences."""
    nothing: bool = False
    """Whether it comes to no compaction."""
    diagnostics: list[Diagnostic] = field(default_factory=list)


def messages_in(sizes: PathSizes, start: int, stop: int) -> array[int]:
    """Positions of the messages from one position to before another."""
    spoken = sizes.spoken
    return spoken[bisect_left(spoken, start) : bisect_left(spoken, stop)]


def count_in(sizes: PathSizes, start: int, stop: int) -> int:
    """How many messages there are from one position to before another."""
    return max(0, bisect_left(sizes.spoken, stop) - bisect_left(sizes.spoken, start))


def entry_at(sizes: PathSizes, position: int) -> EntryIndex:
    """The entry at a position; -1 behind the last one."""
    return EntryIndex(sizes.entries[position]) if 0 <= position < len(sizes) else NO_ENTRY


def entries_at(sizes: PathSizes, positions: array[int]) -> array[int]:
    """The entries at some positions."""
    return array("i", map(sizes.entries.__getitem__, positions))
