"""A diff in a result, applied to a text where both together prove the result of the edit."""

from __future__ import annotations

import re
from typing import NamedTuple

from leafward.files.text_replacement import bare

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*")
_NO_NEWLINE = "\\ No newline at end of file"


class _Hunk(NamedTuple):
    first: int
    """Lines above it in the old text."""
    old: list[str]
    """Its lines before and after, each with its newline where it has one."""
    new: list[str]


def proven_by(text: str, patch: str) -> str | None:
    """The text after an edit, by the unified diff in its result; None where that does not prove it.

    Each line of the diff has to match exactly at its position. The tool may have rewritten the other lines without the
    signs that it ignores (pi until 1.5): this is ruled out where the diff shows an unchanged line with such signs, or where
    no other line has any.
    """
    hunks = _hunks(patch) if "\r" not in text + patch else []
    if not hunks:
        return None
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    made: list[str] = []
    beside: list[str] = []
    at = 0
    for hunk in hunks:
        if hunk.first < at or lines[hunk.first : hunk.first + len(hunk.old)] != hunk.old:
            return None
        beside += lines[at : hunk.first]
        made += [*lines[at : hunk.first], *hunk.new]
        at = hunk.first + len(hunk.old)
    beside += lines[at:]
    shown = any(_odd(line) for hunk in hunks for line in hunk.old)
    return "".join((*made, *lines[at:])) if shown or not any(map(_odd, beside)) else None


def _odd(line: str) -> bool:
    return bare(line) != line.removesuffix("\n")


def _hunks(patch: str) -> list[_Hunk]:
    """The hunks of a patch of one file; empty where it has another form."""
    found: list[_Hunk] = []
    left = [0, 0]
    last = ""
    for line in patch.split("\n"):
        head = _HUNK.fullmatch(line) if left == [0, 0] else None
        if head is not None:
            sizes = [int(head[2] or 1), int(head[4] or 1)]
            # An empty part has the number of the line above it.
            found.append(_Hunk(int(head[1]) - (sizes[0] > 0), [], []))
            left = sizes
        elif line == _NO_NEWLINE and found and last:
            for part in (found[-1].old,) * (last in " -") + (found[-1].new,) * (last in " +"):
                part[-1] = part[-1].removesuffix("\n")
            last = ""
        elif left != [0, 0]:
            last = line[:1]
            if last not in (" ", "-", "+"):
                return []
            if last in " -":
                found[-1].old.append(line[1:] + "\n")
                left[0] -= 1
            if last in " +":
                found[-1].new.append(line[1:] + "\n")
                left[1] -= 1
            if min(left) < 0:
                return []
        elif found and line:
            return []
    return found if left == [0, 0] else []
