"""Lines of a stored summary, by part: the summary proper, file lists, the beginning of a split turn, quoted and injected text.

The forms are pi 1.5.2's (file lists in tags, the beginning of a split turn under its own heading) and Leafward's (quoted
messages of the user, and the enclosed part). Sizes are distributed over the lines so that they add up to the size of the
whole text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.base.emphasis import without_emphasis
from leafward.session.injected_block import CLOSING, OPENING
from leafward.session.tokens import tokens_of_units, utf16_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class SummaryPart(StrEnum):
    """Part of a stored summary that a line belongs to."""

    TOLD = "told"
    PREFIX = "prefix"
    """Summary of the beginning of a split turn."""
    QUOTED = "quoted"
    """A message of the user, word for word."""
    READ = "read"
    """The list of files read."""
    MODIFIED = "modified"
    INJECTED = "injected"


@dataclass(frozen=True, slots=True)
class StoredLine:
    """One line of a stored summary."""

    number: int
    """Counted from 0."""
    text: str
    """The line as stored; not safe to show."""
    part: SummaryPart
    heading: str
    """The heading above the line, without its marks; for a heading, its own text."""
    level: int
    """Level of a heading, 1…6; 0 for every other line."""
    mark: bool
    """Whether the line is blank, a tag or a rule, and has no text of its own."""
    tokens: int
    """The line's share of the whole text's tokens, the line break included."""

    @property
    def says(self) -> str:
        """The text without list marks, boxes and emphasis; for a heading, without its signs."""
        return self.heading if self.level else bare(self.text)


SPLIT_TURN = "Turn Context (split turn)"
"""pi's heading above the summary of a split turn's beginning."""

_HEADING = re.compile(r"^(#{1,6})\s+(\S.*)$")
_BOLD = re.compile(r"^\*\*([^*]+?):?\*\*:?$")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_BOX = re.compile(r"^\[[ xX~✓-]\]\s+")
_RULE = re.compile(r"^\s*(?:-{3,}|\*{3,}|_{3,}|\|[\s|:-]+\|)\s*$")
USER_MESSAGE = "<user-message>"
"""The tag that opens a message of the user within a summary."""
_OPENS = {
    "<read-files>": SummaryPart.READ,
    "<modified-files>": SummaryPart.MODIFIED,
    USER_MESSAGE: SummaryPart.QUOTED,
}
_CLOSES = {
    SummaryPart.READ: "</read-files>",
    SummaryPart.MODIFIED: "</modified-files>",
    SummaryPart.QUOTED: "</user-message>",
}
_TELLS = frozenset({SummaryPart.TOLD, SummaryPart.PREFIX})


@dataclass(frozen=True, slots=True)
class Quote:
    """A message of the user that a stored summary holds word for word."""

    number: int
    """The number of the line that opens it."""
    text: str
    """The message as stored; not safe to show."""
    tokens: int
    """Tokens of the message alone, as counted elsewhere; the tags around it belong to the summary."""


def quotes_in(lines: Iterable[StoredLine]) -> tuple[Quote, ...]:
    """The messages quoted in a stored summary, in order."""
    found: list[tuple[int, list[str]]] = []
    for line in lines:
        if line.part is not SummaryPart.QUOTED:
            continue
        tag = line.text.strip() if line.mark else ""
        if tag == USER_MESSAGE or not found:
            found.append((line.number, []))
        # The message itself may contain the tag that opens a message.
        if tag not in (USER_MESSAGE, _CLOSES[SummaryPart.QUOTED]):
            found[-1][1].append(line.text)
    texts = ((number, "\n".join(text)) for number, text in found)
    return tuple(Quote(number, text, tokens_of_units(utf16_length(text))) for number, text in texts)


def part_sizes(text: str) -> tuple[int, int, int]:
    """Tokens of the summary, the quoted messages and the injected context; they add up to those of the text."""
    lines = stored_lines(text)
    injected = sum(line.tokens for line in lines if line.part is SummaryPart.INJECTED)
    quoted = sum(one.tokens for one in quotes_in(lines))
    return sum(line.tokens for line in lines) - injected - quoted, quoted, injected


def bare(text: str) -> str:
    """A line of Markdown as plain text: without list mark, box, heading sign or emphasis."""
    line = text.strip()
    heading = _HEADING.match(line)
    if heading is not None:
        line = _unclosed(heading[2])
    line = _BOX.sub("", _BULLET.sub("", line))
    return without_emphasis(line).strip()


def box_of(text: str) -> str:
    """The sign in the box of a line, such as `x` or a space; empty where it has no box."""
    box = _BOX.match(_BULLET.sub("", text.strip()))
    return box[0][1] if box is not None else ""


def stored_lines(text: str) -> tuple[StoredLine, ...]:
    """The lines of a stored summary, in order; none for an empty text. Takes linear time."""
    if not text:
        return ()
    lines = text.split("\n")
    inside = _enclosed(lines)
    found: list[StoredLine] = []
    part = resumed = SummaryPart.TOLD
    heading = ""
    shares = _shares(lines, inside, tokens_of_units(utf16_length(text)))
    for number, line in enumerate(lines):
        share = shares[number]
        stripped = line.strip()
        level, mark, own = 0, not stripped, part
        if number in inside:
            if stripped == OPENING:
                heading = ""
            own, mark = SummaryPart.INJECTED, mark or stripped in (OPENING, CLOSING)
            level, title = _heading_of(line)
            heading = title or heading
        elif part in _TELLS and stripped in _OPENS:
            resumed = part
            own = part = _OPENS[stripped]
            heading, mark = "", True
        elif part not in _TELLS:
            if stripped == _CLOSES[part]:
                part, heading, mark = resumed, "", True
        else:
            if found and found[-1].part is SummaryPart.INJECTED:
                heading = ""
            level, title = _heading_of(line)
            if title == SPLIT_TURN:
                own = part = SummaryPart.PREFIX
                _hand_over(found)
            heading = title or heading
            mark = mark or _RULE.match(line) is not None
        found.append(StoredLine(number, line, own, heading, level, mark, share))
    return tuple(found)


def _shares(lines: list[str], inside: set[int], total: int) -> list[int]:
    """Tokens of each line, which add up to `total`. The enclosed part has its own size, and the summary gets the rest."""
    shares = [0] * len(lines)
    units = before = 0
    for number in sorted(inside):
        # The enclosed part ends without a line break.
        units += utf16_length(lines[number]) + (before > 0)
        shares[number] = tokens_of_units(units) - before
        before += shares[number]
    rest = total - before
    units = before = 0
    outside = [number for number in range(len(lines)) if number not in inside]
    for number in outside:
        units += utf16_length(lines[number]) + 1
        shares[number] = min(rest, tokens_of_units(units)) - before
        before += shares[number]
    if outside:
        shares[outside[-1]] += rest - before
    return shares


def _heading_of(line: str) -> tuple[int, str]:
    """Level and title of a heading; 0 and an empty title for other lines. A line that is all bold counts as a heading."""
    found = _HEADING.match(line.strip())
    if found is not None:
        return len(found[1]), bare(_unclosed(found[2]))
    bold = _BOLD.match(line.strip())
    return (6, bold[1].strip()) if bold is not None else (0, "")


def _unclosed(title: str) -> str:
    """A heading's title without the closing signs at its end."""
    return title.rstrip("#").rstrip() or title


def _hand_over(found: list[StoredLine]) -> None:
    """Moves the rule and blank lines at the end to the split turn, as they precede its heading."""
    at = len(found)
    while at and found[at - 1].mark and found[at - 1].part is SummaryPart.TOLD:
        at -= 1
    for place in range(at, len(found)):
        found[place] = replace(found[place], part=SummaryPart.PREFIX, heading="")


def standing_for(lines: Sequence[StoredLine], tokens: int) -> tuple[StoredLine, ...]:
    """The lines of a text that replaces a summary of so many tokens; the first line counts as all of it."""
    return tuple(replace(line, tokens=0 if number else tokens) for number, line in enumerate(lines))


def _enclosed(lines: list[str]) -> set[int]:
    """Numbers of the lines between markers, markers included, by the rule of `split_enclosed`."""
    found: set[int] = set()
    opened = -1
    for number, line in enumerate(lines):
        mark = line.strip()
        if mark == OPENING:
            opened = number
        elif mark == CLOSING and opened >= 0:
            found.update(range(opened, number + 1))
            opened = -1
    return found
