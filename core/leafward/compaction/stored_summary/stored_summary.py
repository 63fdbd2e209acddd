"""The stored text of a summary entry, composed and split: kept messages, summary, file lists, injected context.

The file lists have pi's form. Of files that were only read, the text lists those that the summary does not name; the
entry's details carry all of them on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.redact.redaction import secrets_in
from leafward.base.safe_text import safe_line
from leafward.files.file_names import locate
from leafward.session.injected_block import CLOSING, OPENING, split_enclosed
from leafward.session.tokens import utf16_length
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
_LIST = re.compile(r"\n*<(read-files|modified-files)>\n.*?\n</\1>", re.DOTALL)
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
    files = "".join(match[0] for match in _LIST.finditer(body)).strip("\n")
    return StoredParts(tuple(kept), _LIST.sub("", body).rstrip("\n"), files, injected)


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
    named = _named(summary)
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


def fitted(summary: str, units: int) -> tuple[str, int]:
    """A summary of at most so many UTF-16 units, and the number of lines left out: the last lines of the longest sections."""
    lines = summary.split("\n")
    size, dropped = utf16_length(summary), 0
    while size > units:
        longest = _longest(lines)
        if longest is None:
            break
        size -= utf16_length(lines.pop(longest)) + 1
        dropped += 1
    text = "\n".join(lines)
    return (text, dropped) if size <= units else ("", dropped)


def _longest(lines: list[str]) -> int | None:
    """The last line under the heading with the most text; None if only headings are left."""
    best: tuple[bool, int, int] | None = None
    guarded, size, last = False, 0, -1
    for place, line in enumerate([*lines, "#"]):
        if line.startswith("#"):
            if last >= 0 and (best is None or (not guarded, size) > best[:2]):
                best = (not guarded, size, last)
            guarded, size, last = line.startswith(_NEVER_CUT), 0, -1
        elif line.strip():
            size += utf16_length(line)
            last = place
    return best[2] if best is not None else None


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
