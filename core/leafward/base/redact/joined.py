"""Texts that code joins from pieces: `'sk_live_' + '…'`, one quoted piece below the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_JOINT = re.compile(
    r"(?P<quote>[\"'])(?<=[\w/+.-]{4}.)(?:[ \t]{0,4}(?:\r?\n[ \t]{0,20})?\+[ \t]{0,4}(?:\r?\n[ \t]{0,20})?[fbru]{0,2}| \. |\\\n[ \t]{0,20})(?P=quote)(?=[\w/+.-]{4})"
)
_SIGNS = ("' +", '" +', "'+'", '"+"', "\\\n", " . '", ' . "')
"""Texts between two pieces."""
_MOST_BEFORE = 200
"""Characters before a joint that are searched again."""


def windows(text: str) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """The stretches of a text in which pieces are joined: begin, end, and the joints, which the joined text does not hold."""
    if "+" not in text and " . " not in text and "\\\n" not in text:
        # Each sign holds one of these; most texts hold none.
        return
    if not any(map(text.__contains__, _SIGNS)):
        return
    joints: list[tuple[int, int]] = []
    end = 0
    for found in _JOINT.finditer(text):
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
