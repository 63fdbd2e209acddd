"""The part of a file that a read's result shows: its lines, and whether they are all.

The form in which an agent numbers lines and marks further ones is a `ReadForm`, a value of its tool table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ReadForm:
    """The form in which an agent's read tool prints a file."""

    number: str = ""
    """A pattern for the text before each line, with a group for the line's number; empty where lines are not numbered."""
    frame: str = ""
    """A pattern over the whole result whose group `text` is the file's part; empty where the whole result is.

    A group `more` that matches means that the file goes on.
    """
    more: str = ""
    """A pattern for the end of the result where the file goes on.

    A group `total` holds the number of its lines, `left` that of the lines that follow.
    """
    offset: tuple[str, ...] = ("offset",)
    """The argument with the number of the first line, from 1."""
    limit: tuple[str, ...] = ("limit",)
    """The argument with the number of wanted lines."""
    most: int = 0
    """The most lines that are shown without a note of further ones; 0 where there is always a note."""
    folder: str = ""
    """A pattern for the beginning of a result that lists a folder instead of a file."""
    cut: str = ""
    """A pattern that matches in a shortened line."""
    newline: bool = True
    """Whether the result tells if the file ends in a newline."""
    ends: bool = True
    """Whether lines are shown with their real line ends.

    If not, all seem to end in newlines, and a byte order mark is not shown; the same holds for the contents in results of
    edits.
    """


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines of a file in a result."""

    first: int
    """The number of the first line, from 1."""
    lines: tuple[str, ...]
    """The file's text split at newlines: where it ends in one, the last line is empty."""
    to_end: bool
    """Whether the file ends with them."""
    newline: bool = True
    """Whether it is known if the file ends in a newline."""
    ends: bool = True
    """Whether the line ends are known: they are as shown, or in a way that was not shown."""

    @property
    def whole(self) -> bool:
        """Whether they are the whole file."""
        return self.first == 1 and self.to_end


PLAIN = ReadForm(
    frame=r"\A(?!Read image file \[)(?P<text>.*)\Z",
    more=r"\n\n(?:\[|\.\.\. \()(?:Showing lines \d+-\d+ of (?P<total>\d{1,18})[^\n]*|(?P<left>\d{1,18}) more lines?[^\n]*)$",
)
"""pi's form: the text itself, and a last line with the number of the remaining ones (0.9 and 1.5.2); of a picture only a sentence."""
PRINTED = ReadForm(cut=r"^\[Showing (?:last|lines) .*\]$|^\(no output\)$", newline=False)
"""pi's form of a command's output (1.5.2)."""
NUMBERED_LINES = r"[ ]*(\d{1,18})(?:\t|→)"


def shown(text: str, arguments: Mapping[str, object], form: ReadForm = PLAIN) -> Shown | None:
    """The lines in a read's result; None where it has none (an image, a notice, a result cleared since)."""
    goes_on = False
    if form.frame:
        inside = re.search(form.frame, text, re.DOTALL)
        if inside is None:
            return None
        text, goes_on = inside["text"], inside.groupdict().get("more") is not None
    if form.more and (ending := re.search(form.more, text)) is not None:
        text, goes_on = text[: ending.start()], True
    first = _number(arguments, form.offset) or 1
    limit = _number(arguments, form.limit)
    lines = text.split("\n")
    if form.number:
        prefix = re.compile(form.number)
        found = [prefix.match(line) for line in lines]
        if not lines or any(one is None for one in found):
            return None
        numbers = [int(one[1]) for one in found if one is not None]
        first = numbers[0] if numbers else first
        if numbers != list(range(first, first + len(numbers))):
            return None
        lines = [line[one.end() :] for line, one in zip(lines, found, strict=True) if one is not None]
    if form.cut and any(re.search(form.cut, line) for line in lines):
        return None
    if first < 1:
        return None
    capped = bool(form.most) and len(lines) >= form.most
    short = limit is None or len(lines) < limit
    return Shown(first, tuple(lines), not goes_on and not capped and short, form.newline, form.ends)


def lists_folder(content: object, form: ReadForm) -> bool:
    """Whether a read's result lists a folder: then no file was read."""
    return bool(form.folder) and re.match(form.folder, text_of(content)) is not None


def numbered_lines(text: str) -> list[Shown]:
    """The runs of numbered lines in a text; of the rest of the file, and of its line ends, they tell nothing."""
    prefix = re.compile(NUMBERED_LINES)
    runs: list[tuple[int, list[str]]] = []
    for line in text.split("\n"):
        numbered = prefix.match(line)
        if numbered is None or (number := int(numbered[1])) < 1:
            continue
        if not runs or runs[-1][0] + len(runs[-1][1]) != number:
            runs.append((number, []))
        runs[-1][1].append(line[numbered.end() :])
    return [Shown(first, tuple(lines), to_end=False, newline=False, ends=False) for first, lines in runs]


def _number(arguments: Mapping[str, object], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


_RANGE = late(r"(\d{1,18})(?:,(\d{1,18}|\$))?p")


def printed(words: list[str], text: str, form: ReadForm) -> Shown | None:
    """The lines in the output of a lone `cat`, `sed -n` or `head` of one file; None where they cannot be told.

    `words` are those of the command, the file's name last; `form` is that of the shell's results.
    """
    output = shown(text, {}, form)
    if output is None or not output.to_end:
        return None
    made = _printed(words, output.lines)
    return replace(made, newline=made.newline and form.newline) if made is not None else None


def _printed(words: list[str], lines: tuple[str, ...]) -> Shown | None:
    program, options = words[0].rpartition("/")[2], words[1:-1]
    if program == "cat" and not options:
        return Shown(1, lines, True)
    if program == "sed" and len(options) == 2 and options[0] == "-n":
        ranged = _RANGE.fullmatch(options[1])
        if ranged is None:
            return None
        first = int(ranged[1])
        last = None if ranged[2] == "$" else int(ranged[2] or first)
        return _ranged(first, last, lines)
    if program == "head":
        counted = re.fullmatch(r"(?:-n ?|-)?(\d{1,18})", " ".join(options)) if options else None
        count = 10 if not options else int(counted[1]) if counted is not None else None
        return _ranged(1, count, lines) if count is not None else None
    return None


def _ranged(first: int, last: int | None, lines: tuple[str, ...]) -> Shown | None:
    """Lines from one to another, as a program printed them: each ends in a newline, except perhaps the file's last."""
    count = len(lines) - (not lines[-1])
    ended = last is None or count < last - first + 1
    if first < 1 or not count:
        return None
    # Where the output ends with the last requested line, it is not known whether the file goes on.
    return Shown(first, lines if ended else lines[:count], ended)
