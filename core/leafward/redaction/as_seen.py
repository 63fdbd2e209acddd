"""Texts as a reader or a program sees them: without invisible characters and frames, with pieces joined and escapes read.

A secret in such a text is one in the original; spans are places in the original.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.framed import frames
from leafward.redaction.joined import windows

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from leafward.redaction.spans import Span

    Finder = Callable[[str], list[Span]]
    Gaps = list[tuple[int, int]]

_UNSEEN = late(
    # It begins with one class, so that the search passes over all other characters quickly.
    "[\x1b\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
    "(?:(?<!\x1b)|(?<=\x1b)(?:\\[[0-9;?]{0,20}[A-Za-z]|\\][^\x07\x1b]{0,200}(?:\x07|\x1b\\\\)))"
)
"""Invisible characters: characters without width, colours of a terminal. A token that they interrupt is still one token."""
_ESCAPE = late(r"\\(?:([\"'\\/nrt])|u([0-9a-fA-F]{4}))")
_READ = {"n": "\n", "r": "\r", "t": "\t"}
_LONGEST = 200_000
"""Characters of a text whose escapes are read: longer ones are source maps and archives, which agents are not shown."""
_MOST_TEXTS = 3
"""Depth to which texts are nested: an answer of a server in a line of a log in the output of a program."""


def as_seen(text: str, found_in: Finder) -> Iterator[Span]:
    """The secrets of a text that appear only as it is seen. `found_in` finds the secrets of a text itself."""
    yield from _shown(text, found_in)
    if (
        len(text) <= _LONGEST
        and text[:8].lstrip()[:1] in ("{", "[", '"')
        and ("\\n" in text or '\\"' in text or "\\u" in text)
    ):
        yield from _read(text, found_in, _MOST_TEXTS)


def _shown(text: str, found_in: Finder) -> Iterator[Span]:
    """The secrets of a text without invisible characters, without frames, and with its pieces joined."""
    if not text.isascii() or "\x1b" in text:
        gaps = [gap.span() for gap in _UNSEEN.finditer(text)]
        if gaps:
            shown, places = _without(text, gaps)
            yield from _told([*found_in(shown), *_framed(shown, found_in)], places)
    yield from _framed(text, found_in)
    yield from _joined(text, found_in)


def _framed(text: str, found_in: Finder) -> Iterator[Span]:
    gaps = frames(text)
    if gaps:
        shown, places = _without(text, gaps)
        yield from _told([*found_in(shown), *_joined(shown, found_in)], places)


def _joined(text: str, found_in: Finder) -> Iterator[Span]:
    for begin, end, joints in windows(text):
        shown, places = _without(text[begin:end], [(start - begin, stop - begin) for start, stop in joints])
        for start, stop, kind in _told(found_in(shown), places):
            yield begin + start, begin + stop, kind


def _read(text: str, found_in: Finder, depth: int) -> Iterator[Span]:
    """The secrets of a text that is a JSON string, its escapes read; and of a JSON string inside it."""
    found = list(_ESCAPE.finditer(text))
    if not found or not depth:
        return
    shown = _ESCAPE.sub(_unescaped, text)
    starts, wholes = [0], [0]
    for escape in found:
        at = starts[-1] + escape.start() - wholes[-1]
        starts += (at, at + 1)
        wholes += escape.span()
    places = starts, wholes
    for begin, stop, kind in (
        *found_in(shown),
        *_shown(shown, found_in),
        *_read(shown, found_in, depth - 1),
    ):
        yield _whole(places, begin), _whole(places, stop), kind


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[2], 16)) if escape[2] else _READ.get(escape[1], escape[1])


Places = tuple[list[int], list[int]]


def _without(text: str, gaps: Gaps) -> tuple[str, Places]:
    """A text without some stretches; and where each remaining piece begins, in the new text and in the whole one."""
    pieces: list[str] = []
    starts: list[int] = []
    wholes: list[int] = []
    at = seen = 0
    for start, end in (*gaps, (len(text), len(text))):
        if start > at:
            pieces.append(text[at:start])
            starts.append(seen)
            wholes.append(at)
            seen += start - at
        at = max(at, end)
    return "".join(pieces), (starts, wholes)


def _told(spans: list[Span], places: Places) -> Iterator[Span]:
    """Spans of a text without some stretches, moved to their places in the whole text."""
    for begin, stop, kind in spans:
        yield _whole(places, begin), _whole(places, stop - 1) + 1, kind


def _whole(places: Places, at: int) -> int:
    starts, wholes = places
    piece = bisect_right(starts, at) - 1
    return wholes[piece] + at - starts[piece]
