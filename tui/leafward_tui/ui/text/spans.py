"""Runs of styled text fitted into cells: wrapping, cutting, padding. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, split_graphemes

from leafward.base.safe_text import safe
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6"
)
_CLOSING = "、。〉》」』】〕！），．：；？"
_ATOM = re.compile(rf" +|[{_WIDE}][{_CLOSING}]*|[^ {_WIDE}]+")
"""Spaces, a wide character with the punctuation that may not begin a line, or a word."""


class Span(NamedTuple):
    """A piece of a line."""

    text: str
    """Safe text without line breaks."""
    ink: str = "text"
    """Field of `theme.Ground`."""
    ground: str = ""
    """Field of `theme.Styles`; empty for the line's own."""


def shown(text: str) -> str:
    """Session text for lines: safe, with the control characters replaced as they are drawn; line breaks stay."""
    text = safe(text)
    if text.isascii():
        return text
    return "\n".join(fit(line, 2 * len(line) + 2) for line in text.split("\n"))


def width_of(spans: Iterable[Span]) -> int:
    """Cells that spans take."""
    return sum(cell_len(span.text) for span in spans)


def cut(spans: Sequence[Span], width: int, ellipsis: str) -> list[Span]:
    """Spans in at most `width` cells; a line that is too long ends in the ellipsis."""
    following = width_of(spans)
    if following <= width:
        return list(spans)
    found: list[Span] = []
    room = width
    for span in spans:
        size = cell_len(span.text)
        following -= size
        if size < room or (size == room and not following):
            found.append(span)
            room -= size
            continue
        # Something of this span or of the next is left out: the ellipsis needs a place.
        text = span.text if size > room else span.text + " "
        found.append(span._replace(text=fit(text, room, ellipsis=ellipsis)))
        break
    return found


def padded(spans: Sequence[Span], width: int, ground: str = "") -> list[Span]:
    """Spans filled up to `width` cells."""
    missing = width - width_of(spans)
    return [*spans, Span(" " * missing, "blank", ground)] if missing > 0 else list(spans)


def aligned(left: Sequence[Span], right: Sequence[Span], width: int, ellipsis: str) -> list[Span]:
    """One line of `width` cells: `left` yields, `right` stands at the edge."""
    if not right:
        return cut(left, width, ellipsis)
    fitted = cut(right, width, ellipsis)
    room = width - width_of(fitted)
    head = cut(left, max(0, room - 2), ellipsis)
    return [*padded(head, room), *fitted]


def pieces(text: str, width: int) -> list[str]:
    """`text`, one line of it, in pieces of at most `width` cells, broken anywhere; one empty piece for no text.

    A character wider than `width` is a piece of its own.
    """
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)] or [""]
    found: list[str] = []
    start = cells = 0
    end = 0
    for begin, stop, size in split_graphemes(text)[0]:
        if cells + size > width and end > start:
            found.append(text[start:end])
            start, cells = begin, 0
        cells += size
        end = stop
    found.append(text[start:])
    return found


def head_of(text: str, width: int, start: int = 0) -> str:
    """The part of a line from `start` on that fits `width` cells; it ends at a space where one is near the edge.

    Looks no further ahead than it needs; never empty while there is text.
    """
    head = pieces(text[start : start + 4 * width + 16], width)[0]
    end = start + len(head)
    if end >= len(text) or text[end] == " ":
        return head
    space = head.rstrip(" ").rfind(" ") + 1
    return head[:space] if space * 3 > len(head) * 2 else head


def _words(spans: Iterable[Span]) -> Iterator[tuple[list[Span], bool]]:
    """The atoms of spans, each as the spans it is made of, and whether it is white space."""
    word: list[Span] = []
    for span in spans:
        for match in _ATOM.finditer(span.text):
            text = match.group()
            space = text[0] == " "
            # A word goes on in the next span unless a break is allowed here.
            if word and (space or match.start() > 0):
                yield word, False
                word = []
            if space:
                yield [span._replace(text=text)], True
            else:
                word.append(span._replace(text=text))
    if word:
        yield word, False


def wrapped(spans: Iterable[Span], width: int) -> list[list[Span]]:
    """Spans in lines of at most `width` cells, broken at spaces where it can; at least one line."""
    width = max(width, 2)
    lines: list[list[Span]] = []
    line: list[Span] = []
    used = 0
    for word, space in _words(spans):
        size = width_of(word)
        if space:
            if used + size <= width and (line or not lines):
                line.extend(word)
            used += size
            continue
        if used + size <= width:
            line.extend(word)
            used += size
            continue
        if line:
            lines.append(_trimmed(line))
            line = []
        used = 0
        if size <= width:
            line.extend(word)
            used = size
            continue
        for span in word:
            for piece in _into(span.text, width, width - used):
                size = cell_len(piece)
                if used and used + size > width:
                    lines.append(line)
                    line, used = [], 0
                line.append(span._replace(text=piece))
                used += size
    lines.append(_trimmed(line))
    return [joined(found) for found in lines]


def _into(text: str, width: int, room: int) -> list[str]:
    """A word in pieces: the first fills the room left on the line, the others lines of their own."""
    if room <= 0 or room >= width:
        return pieces(text, width)
    first = pieces(text, room)[0]
    rest = text[len(first) :]
    return [first, *pieces(rest, width)] if rest else [first]


def _trimmed(line: list[Span]) -> list[Span]:
    while line and line[-1].text.isspace():
        line = line[:-1]
    return line


def joined(line: list[Span]) -> list[Span]:
    """The line with neighbours in one ink joined to one span."""
    found: list[Span] = []
    for span in line:
        if found and found[-1][1:] == span[1:]:
            found[-1] = span._replace(text=found[-1].text + span.text)
        else:
            found.append(span)
    return found


def indented_text(text: str, width: int, ink: str = "text") -> list[list[Span]]:
    """As `wrapped_text`; the continuation of an indented line is indented two cells more than the line."""
    found: list[list[Span]] = []
    for paragraph in text.split("\n"):
        rest = paragraph.lstrip(" ")
        indent = len(paragraph) - len(rest)
        if not rest or not 0 < indent <= width // 3:
            found.extend(wrapped_text(paragraph, width, ink))
            continue
        first, *others = wrapped([Span(rest, ink)], width - indent - 2)
        found.append([Span(" " * indent, ink), *first])
        found.extend([Span(" " * (indent + 2), ink), *line] for line in others)
    return found


def wrapped_text(text: str, width: int, ink: str = "text", limit: int | None = None) -> list[list[Span]]:
    """Safe text in lines; its own line breaks stay, leading spaces too. At most `limit` lines."""
    found: list[list[Span]] = []
    for paragraph in text.split("\n"):
        found.extend(wrapped([Span(paragraph, ink)], width) if paragraph else [[]])
        if limit is not None and len(found) >= limit:
            return found[:limit]
    return found
