"""Texts that code joins from pieces: `'sk_live_' + '…'`, one quoted piece below the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterator

_JOINT = late(
    r"(?P<quote>[\"'])(?<=[\w/+.-]{4}.)(?:[ \t]{0,4}(?:\r?\n[+-]?[ \t]{0,20})?\+[ \t]{0,4}(?:\r?\n[+-]?[ \t]{0,20})?[fbru]{0,2}| \. |\\\n[ \t]{0,20})(?P=quote)(?=[\w/+.-]{4})"
)
_CONTINUED = late(r"\\\n(?<=[\w/+=-]{8}\\\n)(?=[\w/+=-]{8})")
"""A line that a shell continues in the middle of a word."""
_SIGNS = ("' +", '" +', "'+'", '"+"', "\\\n", " . '", ' . "')
"""Texts between two pieces."""
_MOST_BEFORE = 200
"""Characters before a joint that are searched again."""

_NEXT_PIECE = late(
    r"""(?P<quote>\\{0,7}["'])[ \t]{0,4}\\?(?:\r?\n|\\{1,7}n)[ \t]{1,40}[rbuf]{0,2}(?P=quote)(?P<part>[^\s"'\\]{4,400})(?=(?P=quote))"""
)
"""A literal on the next line that continues the one before, without a sign between."""
_NEXT_LINE = late(r"\r?\n[ \t]{1,40}\+?(?P<part>[A-Za-z0-9+/_-]{4,400}={0,2})[ \t]{0,8}(?=\r?\n|\Z)")
_LEAST_WIDTH = 24
"""Fewest characters of a value that continues on the next line."""
_INDENTED = late(r"(?:\n|\\n)[ \t]{1,40}\+?[ \t]{0,40}\Z")
"""The beginning of a line of such a value."""


def windows(text: str) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """The stretches of a text in which pieces are joined: begin, end, and the joints, which the joined text does not hold."""
    if "+" not in text and " . " not in text and "\\\n" not in text:
        # Each sign holds one of these; most texts hold none.
        return
    if not any(map(text.__contains__, _SIGNS)):
        return
    joints: list[tuple[int, int]] = []
    end = 0
    places = list(_JOINT.finditer(text))
    if "\\\n" in text and (continued := list(_CONTINUED.finditer(text))):
        places = sorted([*places, *continued], key=re.Match.start)
    for found in places:
        if joints and found.start() > end:
            yield _begin(text, joints[0][0]), end, joints
            joints = []
        joints.append(found.span())
        stop = text.find("\n", found.end(), found.end() + 4 * _MOST_BEFORE)
        end = stop if stop >= 0 else min(len(text), found.end() + 4 * _MOST_BEFORE)
    if joints:
        yield _begin(text, joints[0][0]), end, joints


def _begin(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at) + 1, at - _MOST_BEFORE)


def pieces_behind(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The other pieces of a value over several lines: literals that follow each other, or lines of base64 of one width."""
    while (piece := _NEXT_PIECE.match(text, end)) is not None:
        end = piece.end("part")
        yield piece.span("part")
    width = end - start
    if width < _LEAST_WIDTH or not _INDENTED.search(text, max(0, start - 82), start):
        return
    while (line := _NEXT_LINE.match(text, end)) is not None and len(line["part"]) <= width:
        yield line.span("part")
        end = line.end("part")
        if len(line["part"]) < width:
            return
