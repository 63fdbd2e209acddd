"""The origin of each line of a file among the recorded changes, tracked while the changes of all sessions are replayed.

Contents decide, not commits: a line keeps its origin as long as it stays in the file, whatever is committed or squashed. A
line is credited to a change only where no other source is possible; the others are by hand, unknown or unsure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.files.line_diff import compare_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from leafward.files.file_request import FileRequest

    Untold = Callable[[int, int], bool]
    """Whether work without a recorded step may have changed the file between two times."""

UNKNOWN = -1
"""No recorded source: the line existed before, or an unknown command or change wrote it."""
BY_HAND = -2
"""The line appeared between two known contents, without a recorded call."""
UNSURE = -3
"""More than one change may be the source."""

_SAYS = re.compile(r"\w\w")
_WORD = re.compile(r"\w{2,}")
_WORDS = 3
_SMALL = 3
"""Lines of a run that may match by chance, where each of them occurs more than once."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A text that a change put into a file that is only partly known."""

    lines: tuple[str, ...]
    added: tuple[bool, ...]
    """Whether each line is new."""
    change: int


@dataclass(slots=True)
class LineOrigins:
    """The last known lines of one file, each with its origin."""

    lines: list[str] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    """The number of the change, or one of the negative numbers above."""
    live: bool = False
    """Whether the file held exactly these lines after the last step."""
    known: int = 0
    """The time of that, in milliseconds since 1970."""
    fragments: list[Fragment] = field(default_factory=list)
    writers: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Every change that added a line, by the line's text."""
    strangers: set[str] = field(default_factory=set)
    """Lines that once occurred without a recorded change that added them."""

    def copy(self) -> LineOrigins:
        """A copy, for a copied file."""
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
        """Records the content of the file as seen at a time."""
        lines = plain_lines(text)
        self._become(lines, self._between(lines, time, untold), time)

    def _between(self, lines: list[str], time: int, untold: Untold) -> int:
        """The origin of lines that appeared since the file was last known."""
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
        """Applies a change that left `after`.

        `before` is the old content, None where it is not known; then the change owns only lines that its author had not
        seen there. `seen` are those lines, None where they are not known either.
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
        """Credits a whole write with lines of changes that its author neither knew nor had seen."""
        for at, (line, origin) in enumerate(zip(self.lines, self.origins, strict=True)):
            if 0 <= origin != change and says_something(line) and line not in seen and of_others(origin):
                self.origins[at] = change
                self.writers[line].append(change)

    def gone(self, time: int) -> None:
        """Records that the file no longer exists."""
        self.lines, self.origins, self.fragments, self.live, self.known = [], [], [], True, time

    def lost(self) -> None:
        """Records that the file may have changed."""
        self.live = False

    def put_in(self, request: FileRequest, change: int) -> None:
        """Records the texts of a change whose result is not known."""
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
        """The origin of each line of the file in its current state; it was last written at `time`."""
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
        """Lines without another explanation, by the one change that ever added such a line; unsure where there are more."""
        counts = Counter(lines)
        found = list(origins)
        for at, (line, origin) in enumerate(zip(lines, origins, strict=True)):
            if origin >= 0 or line not in self.writers:
                continue
            if counts[line] == 1 and _is_distinctive(line) and self._one_writer(line):
                found[at] = self.writers[line][0]
            elif origin == BY_HAND:
                found[at] = UNSURE
        return found

    def _one_writer(self, line: str) -> bool:
        writers = self.writers.get(line, ())
        return len(set(writers)) == 1 and line not in self.strangers


def plain_lines(text: str) -> list[str]:
    """The lines of a text without their line ends."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def says_something(line: str) -> bool:
    """Whether a line is more than brackets and signs, so that two equal ones are not a coincidence."""
    return _SAYS.search(line) is not None


def _is_distinctive(line: str) -> bool:
    """Whether a line has so many words that nobody writes it twice by chance."""
    return len(_WORD.findall(line)) >= _WORDS


def aligned(old: Sequence[str], origins: Sequence[int], lines: Sequence[str], new: int) -> list[int]:
    """The origins of lines made from others: kept lines keep theirs, the rest is `new`, ambiguous ones are `UNSURE`."""
    found = [new] * len(lines)
    blocks = compare_lines(old, lines)
    for block in blocks:
        if block.same:
            found[block.new_from : block.new_to] = origins[block.old_from : block.old_to]
    if len(blocks) < 2:  # one block: there are no neighbours
        return found
    twice = {line for line, count in Counter(lines).items() if count > 1}
    twice |= {line for line, count in Counter(old).items() if count > 1}
    alike: list[tuple[int, int]] = []
    for number, block in enumerate(blocks):
        here = range(block.new_from, block.new_to)
        if not block.same:
            alike += _slides(lines, here)
        elif 0 < number < len(blocks) - 1 and len(here) <= _SMALL:
            # Such lines may match by chance: old ones were removed, and similar ones written.
            for at in here:
                if found[at] != new and (lines[at] in twice or not says_something(lines[at])):
                    found[at] = UNSURE
    for one, other in alike:
        if found[one] != found[other]:
            found[one] = found[other] = UNSURE
    return found


def _slides(lines: Sequence[str], put: range) -> Iterator[tuple[int, int]]:
    """Pairs of equal lines beside and in an insertion: either of the two may be the old one."""
    begin, end = put.start, put.stop
    while 0 < begin < end and lines[begin - 1] == lines[end - 1]:
        begin, end = begin - 1, end - 1
        yield begin, end
    begin, end = put.start, put.stop
    while begin < end < len(lines) and lines[begin] == lines[end]:
        yield begin, end
        begin, end = begin + 1, end + 1


def _only_place(part: Sequence[str], lines: Sequence[str], places: dict[str, list[int]]) -> int | None:
    """The position of some lines, where there is exactly one."""
    rarest = min(range(len(part)), key=lambda at: len(places.get(part[at], ())))
    starts = [
        number - rarest
        for number in places.get(part[rarest], ())
        if number >= rarest and tuple(lines[number - rarest : number - rarest + len(part)]) == tuple(part)
    ]
    return starts[0] if len(starts) == 1 else None
