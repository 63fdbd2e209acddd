"""The stored text of a summary entry, composed and split: kept messages, summary, file lists, injected context.

The file lists have pi's form. Of files that were only read, the text lists those that the summary does not name; the
entry's details carry all of them on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.files.file_names import locate
from leafward.redaction.redaction import secrets_in
from leafward.session.injected_block import CLOSING, OPENING, split_enclosed
from leafward.session.tokens import utf16_length
from leafward.summaries.facts.forms.file_lists import with_whole_paths
from leafward.summaries.summarizers.outline import has_tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FILE_SHARE = 10
"""The list of read files takes at most this part (one in so many) of the stored text."""
KEPT_HEADING = "## Messages of the user, word for word"
_KEPT_OPENING = "<user-message>"
_KEPT_CLOSING = "</user-message>"
CUT_MARK = re.compile(r"\n\[… [\d,]+ characters, cut in the middle …\]\n")
"""Matches the mark that `cut_middle` puts between the parts that it keeps."""
_LIST = re.compile(r"<(read-files|modified-files)>\n")
_WORD = re.compile(r"[^\s`'\"(),;<>|*\[\]{}]+")


class StoredParts(NamedTuple):
    """The parts of a stored text."""

    kept: tuple[str, ...]
    """Messages of the user quoted word for word."""
    summary: str
    """The summary, without the other three parts."""
    files: str
    injected: str
    """Injected context, without its markers."""


def stored_text(summary: str, *, kept: str = "", files: str = "", injected: str = "") -> str:
    """The stored text. Injected context brings its markers; markers in the other parts are disarmed."""
    parts = (_unmarked(kept), _unmarked(summary), files, injected)
    return "\n\n".join(part for part in parts if part)


def _unmarked(text: str) -> str:
    """A text without lines that are markers of injected context."""
    if OPENING not in text and CLOSING not in text:
        return text
    marks = (OPENING, CLOSING)
    return "\n".join(line.replace("<", "‹") if line.strip() in marks else line for line in text.split("\n"))


def stored_parts(text: str) -> StoredParts:
    """The parts of a stored text, whoever wrote it."""
    body, injected = split_enclosed(text)
    kept: list[str] = []
    if body.startswith(KEPT_HEADING + "\n"):
        rest = body[len(KEPT_HEADING) :].lstrip("\n")
        while rest.startswith(_KEPT_OPENING + "\n"):
            message, closed, after = rest[len(_KEPT_OPENING) + 1 :].partition("\n" + _KEPT_CLOSING)
            if not closed:
                break
            kept.append(message)
            rest = after.lstrip("\n")
        body = rest
    summary, files = _without_lists(body)
    return StoredParts(tuple(kept), summary.rstrip("\n"), files.strip("\n"), injected)


def _without_lists(text: str) -> tuple[str, str]:
    """A text without its file lists and the blank lines before them, and these lists. Takes linear time."""
    rest: list[str] = []
    lists: list[str] = []
    unclosed: set[str] = set()
    done = 0
    for opened in _LIST.finditer(text):
        if opened.start() < done or opened[1] in unclosed:
            continue
        closing = f"\n</{opened[1]}>"
        closed = text.find(closing, opened.end())
        if closed < 0:
            unclosed.add(opened[1])
            continue
        rest.append(text[done : opened.start()].rstrip("\n"))
        begin, done = done + len(rest[-1]), closed + len(closing)
        lists.append(text[begin:done])
    return "".join((*rest, text[done:])), "".join(lists)


QUOTE_UNITS = len(_KEPT_OPENING) + len(_KEPT_CLOSING) + 4
"""UTF-16 units around one quoted message, including the blank line after it."""


def kept_section(messages: Iterable[str]) -> str:
    """Messages of the user, word for word, as a part of a stored text; empty if there are none."""
    quotes = [
        f"{_KEPT_OPENING}\n{text.replace(_KEPT_CLOSING, '‹/user-message>')}\n{_KEPT_CLOSING}"
        for text in messages
    ]
    return "\n\n".join([KEPT_HEADING, *quotes]) if quotes else ""


def cut_middle(text: str, units: int) -> str:
    """A text of at most so many UTF-16 units: its beginning and its end, and between them the length of the whole."""
    whole = utf16_length(text)
    if whole <= units:
        return text
    mark = f"\n[… {whole:,} characters, cut in the middle …]\n"
    room = max(0, units - utf16_length(mark))
    head, tail = _within(text, room - room // 2), _within(text[::-1], room // 2)[::-1]
    return head + mark + tail if room else _within(text, units)


def _within(text: str, units: int) -> str:
    """The longest beginning of a text that takes at most so many units."""
    if text.isascii():
        return text[:units]
    kept = text[:units]
    while (over := utf16_length(kept) - units) > 0:
        kept = kept[: len(kept) - max(1, over // 2)]
    return kept


def file_section(
    read: Sequence[str], modified: Sequence[str], summary: str, cwd: str, units: int, most: int | None = None
) -> str:
    """Every modified file, and the read files that `summary` does not name, recent ones first.

    Read files get what the modified ones leave of `units` (UTF-16); `most` bounds both, None for no bound. `read` and `modified`
    have the most recent first. A path that would not be safe on a line of its own, or that holds a secret, is left out.
    """
    named = _named(with_whole_paths(summary))
    chosen: list[list[str]] = [[], []]
    used = 0
    for place, (tag, paths) in enumerate((("modified-files", modified), ("read-files", read))):
        heading = 2 * len(tag) + 8
        for path in paths:
            if safe_line(path) != path or has_tag(path) or secrets_in(path):
                continue
            if place and (path in named or locate(path, cwd) in named):
                continue
            price = utf16_length(path) + 1 + (0 if chosen[place] else heading)
            room = units if place else most
            if room is None or used + price <= room:
                used += price
                chosen[place].append(path)
    return "\n\n".join(
        "\n".join((f"<{tag}>", *sorted(paths), f"</{tag}>"))
        for tag, paths in zip(("modified-files", "read-files"), chosen, strict=True)
        if paths
    )


def _named(text: str) -> set[str]:
    """The words of a text, with and without punctuation at their end."""
    found: set[str] = set()
    for word in _WORD.findall(text):
        found.add(word)
        found.add(word.rstrip(".:!?…"))
    return found


_NEVER_CUT = ("## Goal", "## Constraints")
"""Headings of the sections that are cut last."""


def fitted(summary: str, units: int) -> tuple[str, int]:
    """A summary of at most so many UTF-16 units, and the number of lines left out: the last lines of the longest sections."""
    lines = summary.split("\n")
    size, dropped = utf16_length(summary), set[int]()
    sections = [_Section(guarded=False)]
    for place, line in enumerate(lines):
        if line.startswith("#"):
            sections.append(_Section(line.startswith(_NEVER_CUT)))
        elif line.strip():
            sections[-1].places.append(place)
            sections[-1].units += utf16_length(line)
    while size > units:
        longest = max((one for one in sections if one.places), key=_Section.order, default=None)
        if longest is None:
            return "", len(dropped)
        place = longest.places.pop()
        longest.units -= utf16_length(lines[place])
        size -= utf16_length(lines[place]) + 1
        dropped.add(place)
    return "\n".join(line for place, line in enumerate(lines) if place not in dropped), len(dropped)


@dataclass(slots=True)
class _Section:
    """The rest of the text under one heading."""

    guarded: bool
    places: list[int] = field(default_factory=list)
    """Numbers of its lines with text."""
    units: int = 0

    def order(self) -> tuple[bool, int]:
        """Sections are shortened in this order, the greatest first."""
        return not self.guarded, self.units


def with_pins(summary: str, pins: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """A summary with every pin word for word, and the pins that had to be added at its end."""
    missing = tuple(pin for pin in pins if pin not in summary)
    if not missing:
        return summary, ()
    heading = "## Critical Context"
    lines = [f"- {pin}" for pin in missing]
    blocks = summary.rstrip("\n").split("\n")
    headings = [place for place, line in enumerate(blocks) if line.startswith("## ")]
    if headings and blocks[headings[-1]].strip() == heading:
        after = blocks[headings[-1] + 1 :]
        if [line for line in after if line.strip()] == ["- (none)"]:
            blocks = blocks[: headings[-1] + 1]
        return "\n".join([*blocks, *lines]), missing
    return "\n".join([*blocks, *([""] if summary else []), heading, *lines]), missing
