"""Division of a measured path by a strategy: messages summarised, kept and shortened, and the reason."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.compaction.measure.measure import PathSizes


@dataclass(frozen=True, slots=True)
class PiAnswer:
    """The plan that pi 1.5.2 itself would make."""

    first_kept: EntryIndex
    split_turn: bool
    summarize: int
    """Number of messages to summarise."""
    turn_prefix: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A remark on a plan."""

    code: str
    text: str
    pi_would: str | None = None
    """Sentence on what pi 1.5.2 does instead, beginning with "pi would"; None if it does the same."""
    pi: PiAnswer | None = None
    """The answer of pi in numbers, if it divides the messages differently."""


class Shortened(NamedTuple):
    """A message of which only a part stays. Sizes in tokens."""

    position: int
    entry: EntryIndex
    tokens: int
    """Tokens before."""
    left: int
    """Tokens after."""


new_shortened: Callable[[Iterable[int]], Shortened] = partial(tuple.__new__, Shortened)
"""A constructor without a Python frame: a step of a slider shortens some thousand results."""


@dataclass(slots=True)
class Division:
    """The messages of a path, divided by position."""

    start: int = 0
    """Messages before this position are neither summarised nor kept: pi 0.58 lost them."""
    history: int = 0
    """Messages before this position are summarised as history."""
    cut: int = 0
    """Messages from `history` to before this position are the beginning of a split turn."""
    split: bool = False
    """Whether the plan reports a split turn."""
    tail: bool = True
    """Whether the messages from `cut` on are kept."""
    chosen: array[int] | None = None
    """Positions of messages that are kept instead of a tail."""
    shortened: list[Shortened] = field(default_factory=list)
    """In the order of their positions."""
    why: str = ""
    """Explanation of the cut, in a few sentences."""
    nothing: bool = False
    """Whether there is nothing to compact."""
    diagnostics: list[Diagnostic] = field(default_factory=list)


def messages_in(sizes: PathSizes, start: int, stop: int) -> array[int]:
    """Positions of the messages in a range of positions, `stop` excluded."""
    spoken = sizes.spoken
    return spoken[bisect_left(spoken, start) : bisect_left(spoken, stop)]


def count_in(sizes: PathSizes, start: int, stop: int) -> int:
    """Number of messages in a range of positions, `stop` excluded."""
    return max(0, bisect_left(sizes.spoken, stop) - bisect_left(sizes.spoken, start))


def entry_at(sizes: PathSizes, position: int) -> EntryIndex:
    """The entry at a position; -1 after the last one."""
    return EntryIndex(sizes.entries[position]) if 0 <= position < len(sizes) else NO_ENTRY


def entries_at(sizes: PathSizes, positions: array[int]) -> array[int]:
    """The entries at some positions, which ascend."""
    if positions and positions[-1] - positions[0] == len(positions) - 1:
        return sizes.entries[positions[0] : positions[-1] + 1]
    return array("i", map(sizes.entries.__getitem__, positions))
