"""An edit as a diff: its added and removed lines, and its hunks.

Texts come from calls and results alone; the work on them is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leafward.files.line_diff import compare_lines
from leafward.files.tool_calls import NATIVE_TOOLS, FileAction, FileCall, ToolTable, replacements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leafward.session.entries import Body, ToolCall


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of a hunk."""

    sign: str
    """`+`, `-`, or a space for a line that stays."""
    number: int
    """From 1: in the new text for `+`, else in the old one."""
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive lines of a diff."""

    lines: tuple[HunkLine, ...]
    exact: bool
    """Whether line numbers are those of the file; else they count from the start of the replaced text."""
    omitted: int = 0
    """Further lines that were left out because there are too many."""


DIFF_LINES = 2000
"""Lines of a diff that is shown."""

_PAIRS = 20_000
"""Pairs of equal lines up to which the texts of an edit are compared as a whole, because there are very many edits."""


def lines_of(text: str) -> list[str]:
    """The lines of a text; a newline at the end begins no further line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def line_count(text: str) -> int:
    """The number of those lines."""
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def line_delta(old: str, new: str) -> tuple[int, int]:
    """Lines added and removed between two texts."""
    added = removed = 0
    for block in compare_lines(lines_of(old), lines_of(new), _PAIRS):
        if not block.same:
            removed += block.old_to - block.old_from
            added += block.new_to - block.new_from
    return added, removed


def calls_delta(calls: Iterable[FileCall], table: ToolTable) -> tuple[int, int]:
    """The lines that the files of one call gain and lose in total."""
    deltas = [delta_of(made.action, made.call.arguments, table) for made in calls]
    return sum(added for added, _ in deltas), sum(removed for _, removed in deltas)


def delta_of(
    action: FileAction, arguments: Mapping[str, Any], table: ToolTable = NATIVE_TOOLS
) -> tuple[int, int]:
    """The lines that a call adds and removes according to its arguments: the text that a write replaces is not known."""
    if action is FileAction.WRITE:
        return sum(line_count(new) for _, new in replacements(action, arguments, table)), 0
    if action is FileAction.READ:
        return 0, 0
    added = removed = 0
    for old, new in replacements(action, arguments, table):
        more, fewer = line_delta(old, new)
        added += more
        removed += fewer
    return added, removed


def delta_in(result: Body) -> tuple[int, int] | None:
    """The lines added and removed by the diff in a tool's result; None where it has none."""
    diff = _diff_text(result)
    return delta_told(diff) if diff is not None else None


def delta_told(diff: str) -> tuple[int, int]:
    """The lines added and removed by such a diff."""
    # Every line of the diff begins with its sign.
    return diff.count("\n+") + diff.startswith("+"), diff.count("\n-") + diff.startswith("-")


def _diff_text(result: Body) -> str | None:
    message = result.get("message")
    details = message.get("details") if isinstance(message, dict) else None
    diff = details.get("diff") if isinstance(details, dict) else None
    return diff if isinstance(diff, str) and diff else None


_NUMBERED = re.compile(r"([ +-])[ ]*(\d{1,9})(?: (.*))?", re.DOTALL)


def hunks(action: FileAction, call: ToolCall, result: Body | None, table: ToolTable) -> list[Hunk]:
    """The diff of one file that a call changes (`file_calls`), of at most `DIFF_LINES` lines. Empty for a file that it reads.

    Where the result holds the tool's diff, line numbers are those of the file; else each replacement is compared by itself.
    A write shows its text as added.
    """
    if action is FileAction.READ:
        return []
    diff = _diff_text(result) if result is not None else None
    if diff is not None and (numbered := _numbered(diff)):
        shown = [(lines, True) for lines in numbered]
    elif action is FileAction.WRITE:
        ((_, written),) = replacements(action, call.arguments, table)
        shown = [([("+", number, line) for number, line in enumerate(lines_of(written), 1)], True)]
    else:
        shown = [(_compared(old, new), False) for old, new in replacements(action, call.arguments, table)]
    limit = DIFF_LINES
    found: list[Hunk] = []
    for lines, exact in shown:
        if lines:
            part = lines[:limit]
            found.append(Hunk(tuple(HunkLine(*line) for line in part), exact, len(lines) - len(part)))
            limit -= len(part)
    return found


def _numbered(diff: str) -> list[list[tuple[str, int, str]]]:
    """The lines of pi's readable diff: a sign, the line's number and the line; a line without a number marks an omission."""
    found: list[list[tuple[str, int, str]]] = [[]]
    for line in diff.split("\n"):
        match = _NUMBERED.fullmatch(line)
        if match is not None:
            found[-1].append((match[1], int(match[2]), match[3] or ""))
        elif found[-1]:
            found.append([])
    return found


def _compared(old: str, new: str) -> list[tuple[str, int, str]]:
    before, after = lines_of(old), lines_of(new)
    lines: list[tuple[str, int, str]] = []
    for same, old_from, old_to, new_from, new_to in compare_lines(before, after, _PAIRS):
        sign = " " if same else "-"
        lines += [(sign, place + 1, before[place]) for place in range(old_from, old_to)]
        if not same:
            lines += [("+", place + 1, after[place]) for place in range(new_from, new_to)]
    return lines
