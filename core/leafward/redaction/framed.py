"""Frames of shown lines: line numbers, signs of a diff, a border, the name of a file, signs of a comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    import re

_FRAMES = tuple(
    late(form)
    for form in (
        r"[ \t]{0,8}[0-9]{1,6}(?:\t|→|: | [|│] ?)",
        r"[+-](?![+-])",
        r"[ \t]{0,8}[|│┃▏▎] ?",
        r"(?:> ?){1,3}",
        r"[^\s:]{1,200}[:-][0-9]{1,6}[:-]",
        r"[ \t]{0,8}(?:#|//|--|;)(?:[ \t]|(?=\n)|\Z)",
    )
)
_MAYBE = late(r"[ \t]{0,8}(?:[0-9|│┃▏▎#;]|//|--)|[+>-]|[^\s:]{1,200}[:-][0-9]")
"""Beginning of a line that may have a frame of any sort."""
_FIRST_LINES = 6
_HEAD = 2000
"""Characters that are searched for the frame of a text."""


def frames(text: str) -> list[tuple[int, int]]:
    """The places of the frames of a text's lines, if most of its first lines have a frame of the same sort."""
    first = text[:_HEAD].split("\n", _FIRST_LINES)[:_FIRST_LINES]
    if len(first) < 2:
        return []
    if 2 * len(list(filter(_MAYBE.match, first))) <= len(first):
        return []
    for frame in _FRAMES:
        if 2 * len(list(filter(frame.match, first))) > len(first):
            return _of_lines(text, frame)
    return []


def _of_lines(text: str, frame: re.Pattern[str]) -> list[tuple[int, int]]:
    gaps = []
    at = 0
    while at >= 0:
        found = frame.match(text, at)
        if found is not None:
            gaps.append(found.span())
        at = text.find("\n", at) + 1 or -1
    return gaps
