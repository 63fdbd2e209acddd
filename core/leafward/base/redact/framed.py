"""What stands before each line of a text that is shown: numbers, signs of a diff, a border, the name of a file."""

from __future__ import annotations

import re

_FRAMES = tuple(
    re.compile(form)
    for form in (
        r"[ \t]{0,8}[0-9]{1,6}(?:\t|→|: | [|│] ?)",
        r"[+-](?![+-])",
        r"[ \t]{0,8}[|│┃▏▎] ?",
        r"(?:> ?){1,3}",
        r"[^\s:]{1,200}[:-][0-9]{1,6}[:-]",
    )
)
_MAYBE = re.compile(r"[ \t]{0,8}[0-9|│┃▏▎]|[+>-]|[^\s:]{1,200}[:-][0-9]")
"""How a line begins that may have a frame of any sort."""
_FIRST_LINES = 6
_HEAD = 2000
"""Characters within which the frame of a text is looked for."""


def frames(text: str) -> list[tuple[int, int]]:
    """Where the frames of the lines of a text lie, if most of its first lines have one of the same sort."""
    first = text[:_HEAD].split("\n", _FIRST_LINES)[:_FIRST_LINES]
    if len(first) < 2:
        return []
    if 2 * sum(_MAYBE.match(line) is not None for line in first) <= len(first):
        return []
    for frame in _FRAMES:
        if 2 * sum(frame.match(line) is not None for line in first) > len(first):
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
