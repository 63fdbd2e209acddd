"""Which recorded change each line of a file comes from, carried along while the changes of all sessions are replayed.

Contents decide, not commits: a line keeps its origin as long as it stands in the file, whatever is committed or squashed. A line is
claimed for a change only where nothing else can be meant; the others are called by hand, unknown or unsure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.files.line_diff import compare_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from leafward.files.file_replay.steps import FileRequest

    Untold = Callable[[int, int], bool]
    """Whether something may have changed the file between two times of which no step tells."""

UNKNOWN = -1
"""Nothing recorded tells of it: it stood there before, or a command or a change that is not known put it there."""
BY_HAND = -2
"""It came between two contents that are known, without a recorded call."""
UNSURE = -3
"""More than one change may be meant."""

_SAYS = re.compile(r"\w\w")
_WORD = re.compile(r"\w{2,}")
_WORDS = 3
_SMALL = 3
"""Lines of a run that may have met by chance, where each of them stands more than once."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A text that a change put into a file of which not all is known."""

    lines: tuple[str, ...]
    added: tuple[bool, ...]
    """Which of them were not there before."""
    change: int


@dataclass(slots=True)
class LineOrigins:
    """The lines of one file as far as they were last known, each with its origin."""

    lines: list[str] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    """The number of the change, or one of the negative numbers above."""
    live: bool = False
    """Whether the file held just these lines after the last step."""
    known: int = 0
    """When that was, in milliseconds since 1970."""
    fragments: list[Fragment] = field(default_factory=list)
    writers: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Every change that put a line in, by its text."""
    strangers: set[str] = field(default_factory=set)
    """Lines that once stood there without a recorded change that put them in."""

    def copy(self) -> LineOrigins:
        """The same, of a copy of the file."""
        return LineOrigins(
            list(self.lines),
            list(self.origins),
            self.live,
            self.known,
            list(self.fragments),
            self._copied_writers(),
            set(self.strangers),
        )

    def _copied_writers(self) -> dict[str, list[int]]:
        copied: dict[str, list[int]] = defaultdict(list)
        copied.update({line: list(numbers) for line, numbers in self.writers.items()})
        return copied

    def found(self, text: str, time: int, untold: Untold) -> None:
        """Takes in what the file holds, as somebody saw it at a time."""
        lines = plain_lines(text)
        self._become(lines, self._between(lines, time, untold), time)

    def _between(self, lines: list[str], time: int, untold: Untold) -> int:
        """Whose lines are that came since the file was last known."""
        return BY_HAND if self.live and (lines == self.lines or not untold(self.known, time)) else UNKNOWN

    def changed(
        self,
        before: str | None,
        after: str,
        change: int,
        seen: Container[str] | None,
        time: int,
        untold: Untold,
    ) -> None:
        """Takes in a change that left `after`.

        `before` is what it found, None where that is not known; then only lines are its own that whoever wrote it had not seen
        there. `seen` are those lines, None where that is not known either.
        """
        if before is not None:
            self.found(before, time, untold)
            self._become(plain_lines(after), change, time)
            return
        lines = plain_lines(after)
        origins = aligned(self.lines, self.origins, lines, UNKNOWN)
        if seen is not None:
            origins = [
                change if origin == UNKNOWN and line not in seen else origin
                for line, origin in zip(lines, origins, strict=True)
            ]
        self._hold(lines, origins, change, time)

    def written_anew(self, change: int, of_others: Callable[[int], bool], seen: Container[str]) -> None:
        """Gives a change that wrote all lines those of changes that whoever made it did not know, nor saw what they had written."""
        for at, (line, origin) in enumerate(zip(self.lines, self.origins, strict=True)):
            if 0 <= origin != change and says_something(line) and line not in seen and of_others(origin):
                self.origins[at] = change
                self.writers[line].append(change)

    def gone(self, time: int) -> None:
        """The file is not there any more."""
        self.lines, self.origins, self.fragments, self.live, self.known = [], [], [], True, time

    def lost(self) -> None:
        """The file may be another one now."""
        self.live = False

    def put_in(self, request: FileRequest, change: int) -> None:
        """Takes in the texts of a change of which is not known what it left."""
        self.live = False
        pairs = [(one.old, one.new) for one in request.replacements if not one.everywhere]
        if request.text is not None:
            pairs.append(("", request.text))
        for old, new in pairs:
            lines = tuple(plain_lines(new))
            added = [False] * len(lines)
            for block in compare_lines(plain_lines(old), lines):
                if not block.same:
                    added[block.new_from : block.new_to] = [True] * (block.new_to - block.new_from)
            if any(flag and says_something(line) for flag, line in zip(added, lines, strict=True)):
                self.fragments.append(Fragment(lines, tuple(added), change))
                for flag, line in zip(added, lines, strict=True):
                    if flag:
                        self.writers[line].append(change)

    def at(self, text: str, time: int, untold: Untold) -> list[int]:
        """The origin of each line of the file as it is now; it was last written at `time`."""
        now = plain_lines(text)
        origins = aligned(self.lines, self.origins, now, self._between(now, time, untold))
        places = defaultdict(list)
        for number, line in enumerate(now):
            places[line].append(number)
        for fragment in reversed(self.fragments):
            first = _only_place(fragment.lines, now, places)
            if first is None:
                continue
            for number, added in enumerate(fragment.added, first):
                if added and origins[number] in (UNKNOWN, BY_HAND):
                    origins[number] = fragment.change
        return self._resolved(now, origins)

    def _become(self, lines: list[str], new: int, time: int) -> None:
        self._hold(lines, aligned(self.lines, self.origins, lines, new), new, time)

    def _hold(self, lines: list[str], origins: list[int], new: int, time: int) -> None:
        self.origins = self._resolved(lines, origins)
        self.lines, self.live, self.known = lines, True, time
        for line, origin in zip(lines, self.origins, strict=True):
            if origin in (UNKNOWN, BY_HAND):
                self.strangers.add(line)
            elif origin == new:
                self.writers[line].append(new)

    def _resolved(self, lines: Sequence[str], origins: list[int]) -> list[int]:
        """Lines that nothing else explains, by the one change that ever put such a line in; unsure where there are more."""
        counts = Counter(lines)
        found = list(origins)
        for at, (line, origin) in enumerate(zip(lines, origins, strict=True)):
            if origin >= 0 or line not in self.writers:
                continue
            if counts[line] == 1 and is_distinctive(line) and self._one_writer(line):
                found[at] = self.writers[line][0]
            elif origin == BY_HAND:
                found[at] = UNSURE
        return found

    def _one_writer(self, line: str) -> bool:
        writers = self.writers.get(line, ())
        return len(set(writers)) == 1 and line not in self.strangers


def plain_lines(text: str) -> list[str]:
    """The lines of a text without how they end."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def says_something(line: str) -> bool:
    """Whether a line is more than brackets and signs, so that two of them are not the same by chance."""
    return _SAYS.search(line) is not None


def is_distinctive(line: str) -> bool:
    """Whether a line has so many words that nobody writes it twice by chance."""
    return len(_WORD.findall(line)) >= _WORDS


def aligned(old: Sequence[str], origins: Sequence[int], lines: Sequence[str], new: int) -> list[int]:
    """The origins of lines that were made from others: what stayed keeps its own, the rest is `new`; where it cannot be told, `UNSURE`."""
    found = [new] * len(lines)
    blocks = compare_lines(old, lines)
    for block in blocks:
        if block.same:
            found[block.new_from : block.new_to] = origins[block.old_from : block.old_to]
    if len(blocks) < 2:  # one block: nothing lies beside another
        return found
    twice = {line for line, count in Counter(lines).items() if count > 1}
    twice |= {line for line, count in Counter(old).items() if count > 1}
    alike: list[tuple[int, int]] = []
    for number, block in enumerate(blocks):
        here = range(block.new_from, block.new_to)
        if not block.same:
            alike += _slides(lines, here)
        elif 0 < number < len(blocks) - 1 and len(here) <= _SMALL:
            # Such lines may have met by chance: old ones gone, and others like them written.
            for at in here:
                if found[at] != new and (lines[at] in twice or not says_something(lines[at])):
                    found[at] = UNSURE
    for one, other in alike:
        if found[one] != found[other]:
            found[one] = found[other] = UNSURE
    return found


def _slides(lines: Sequence[str], put: range) -> Iterator[tuple[int, int]]:
    """Pairs of equal lines beside and in some that were put in: either of the two may be the one that was there before."""
    begin, end = put.start, put.stop
    while 0 < begin < end and lines[begin - 1] == lines[end - 1]:
        begin, end = begin - 1, end - 1
        yield begin, end
    begin, end = put.start, put.stop
    while begin < end < len(lines) and lines[begin] == lines[end]:
        yield begin, end
        begin, end = begin + 1, end + 1


def _only_place(part: Sequence[str], lines: Sequence[str], places: dict[str, list[int]]) -> int | None:
    """Where some lines stand, where that is one place."""
    rarest = min(range(len(part)), key=lambda at: len(places.get(part[at], ())))
    starts = [
        number - rarest
        for number in places.get(part[rarest], ())
        if number >= rarest and tuple(lines[number - rarest : number - rarest + len(part)]) == tuple(part)
    ]
    return starts[0] if len(starts) == 1 else None
