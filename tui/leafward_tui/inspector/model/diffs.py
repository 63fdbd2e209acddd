"""A change to a file as lines: number, sign, tint and text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward_tui.ui.text.cells import expand_tabs
from leafward_tui.ui.text.code import fitted
from leafward_tui.ui.text.spans import Span, padded, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.files.edits import Hunk, HunkLine
    from leafward_tui.ui.appearance.glyphs import Glyphs

CONTEXT = 2
"""Unchanged lines shown beside a change."""

_INKS = {"+": ("leaf", "leaf_tint"), "-": ("bad", "bad_tint")}
_LONGEST = 1_000
"""The most characters shown of one line."""


def diff_lines(hunks: Iterable[Hunk], width: int, glyphs: Glyphs) -> list[list[Span]]:
    """Hunks in lines of exactly `width` cells; one sign stands for the lines between two of them."""
    listed = [(hunk, _renumbered(part)) for hunk in hunks for part in _near(hunk.lines)]
    if not listed:
        return []
    margin = _margin(line.text for _, part in listed for line in part)
    digits = max(2, *(len(str(line.number)) for _, part in listed for line in part))
    numbers = digits + 3
    found: list[list[Span]] = []
    for at, (hunk, part) in enumerate(listed):
        if at:
            found.append([Span(" " * (numbers - cell_len(glyphs.gap)) + glyphs.gap, "faint")])
        for line in part:
            found.extend(_line(line, margin, hunk.exact, width, numbers, glyphs))
        last = at + 1 == len(listed) or listed[at + 1][0] is not hunk
        if hunk.omitted and last:
            words = f"{counted(hunk.omitted, 'more line')} not shown"
            found.append([Span(" " * (numbers + 3), "blank"), Span(words, "nothing")])
    return found


def _near(lines: tuple[HunkLine, ...]) -> list[list[HunkLine]]:
    """The changed lines with a few around them, in separate parts."""
    changed = [at for at, line in enumerate(lines) if line.sign != " "]
    if not changed:
        return [list(lines)] if lines else []
    found: list[list[HunkLine]] = []
    stop = -1
    for at in changed:
        start = max(at - CONTEXT, stop, 0)
        end = min(at + CONTEXT + 1, len(lines))
        if found and start <= stop:
            found[-1].extend(lines[stop:end])
        else:
            found.append(list(lines[start:end]))
        stop = max(stop, end)
    return found


def _renumbered(part: list[HunkLine]) -> list[HunkLine]:
    """The lines of a hunk, those before the first change counted back from it.

    Diffs of early pi versions count those from 1, whatever their place in the file.
    """
    first = next((at for at, line in enumerate(part) if line.sign != " "), 0)
    if not first or part[first - 1].number + 1 >= part[first].number or part[0].number > CONTEXT + 3:
        return part
    start = part[first].number - first
    return [replace(line, number=start + at) if at < first else line for at, line in enumerate(part)]


def _margin(texts: Iterable[str]) -> int:
    """Cells of white space that all lines share: they carry no information here."""
    least: int | None = None
    for text in texts:
        text = expand_tabs(text[:_LONGEST])
        if text.strip():
            indent = len(text) - len(text.lstrip(" "))
            least = indent if least is None else min(least, indent)
    return least or 0


def _line(
    line: HunkLine, margin: int, exact: bool, width: int, numbers: int, glyphs: Glyphs
) -> list[list[Span]]:
    ink, ground = _INKS.get(line.sign, ("sub", ""))
    sign = glyphs.minus if line.sign == "-" else line.sign
    number = f"{line.number:>{numbers}}" if exact else " " * numbers
    lead = [Span(number, "faint", ground), Span(f" {sign} ", f"strong_{ink}" if ground else ink, ground)]
    room = max(8, width - numbers - 3)
    text = expand_tabs(line.text.rstrip("\r")[:_LONGEST])[margin:]
    text = shown(text)
    body = fitted([Span(text, "text" if ground else "sub", ground)], room)
    found: list[list[Span]] = []
    for at, part in enumerate(body):
        head = lead if at == 0 else [Span(" " * (numbers + 3), "blank", ground)]
        spans = [span._replace(ground=ground) for span in part]
        found.append(padded([*head, *spans], width, ground))
    return found
