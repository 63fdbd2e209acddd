"""The files of two branches as lines: three columns beside each other, or one list with headings."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import split_path
from leafward.branches.diff.contents import differs
from leafward_tui.ui.panes.pane_lines import MadeLines, SpanLine, blanks
from leafward_tui.ui.text.cells import fit, fit_path, right
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.branches.diff.file_sets import BranchFileUse, FileDifference, FileSets
    from leafward_tui.ui.appearance.glyphs import Glyphs

HUES = {"A": "ghost", "B": "leaf"}
"""The hue of each side; its letter always stands beside it."""
FOLD = "fold:same"
"""Key of the line that stands for the untouched files."""
_NUMBER = 5
"""Cells of a column of lines added or removed."""
_LEAST_PATH = 26
"""Cells that flags leave to a path."""


class Column(StrEnum):
    """A column of files."""

    A = "Only on A's path"
    BOTH = "On both paths"
    B = "Only on B's path"

    @property
    def letter(self) -> str:
        """The letter of its side; empty for both."""
        return "" if self is Column.BOTH else self.name


class FileItem(NamedTuple):
    """A row of a column: a file, a heading, or a fold."""

    file: FileDifference | None = None
    key: str = ""
    heading: str = ""
    folded: tuple[FileDifference, ...] = ()


def _key(column: Column, place: int) -> str:
    return f"file:{column.name}:{place}"


def arranged(sets: FileSets, column: Column, *, unfolded: bool) -> list[FileItem]:
    """The rows of a column: changed files, then files that were only read.

    Untouched files of both sides are one row, unless `unfolded`.
    """
    files = {Column.A: sets.only_a, Column.BOTH: sets.both, Column.B: sets.only_b}[column]
    items = [FileItem(file, _key(column, place)) for place, file in enumerate(files)]
    changed = [item for item in items if item.file is not None and item.file.changed]
    others = items[len(changed) :]
    if column is not Column.BOTH:
        if not others:
            return changed
        gap = [FileItem()] if changed else []
        return [*changed, *gap, FileItem(heading="only read"), *others]
    used = [item for item in others if item.file is not None and (item.file.a or item.file.b)]
    idle = [item for item in others if item.file is not None and not (item.file.a or item.file.b)]
    if len(idle) < 2 or unfolded:
        return [*changed, *used, *idle, *([FileItem(key=FOLD)] if len(idle) >= 2 else [])]
    return [*changed, *used, FileItem(key=FOLD, folded=tuple(item.file for item in idle if item.file))]


def listed(sets: FileSets, *, unfolded: bool) -> list[FileItem]:
    """All columns below each other, each under its heading; empty ones are left out."""
    found: list[FileItem] = []
    for column in (Column.BOTH, Column.A, Column.B):
        items = arranged(sets, column, unfolded=unfolded)
        if items:
            found += [*([FileItem()] if found else []), FileItem(heading=column.value), *items]
    return found


def short(amount: int) -> str:
    """A large number in four cells: `150k`, `9.9M`."""
    if amount < 1_000_000:
        return f"{amount // 1_000}k"
    return f"{amount / 1_000_000:.1f}M" if amount < 10_000_000 else f"{amount // 1_000_000}M"


def _numbers(use: BranchFileUse | None, glyphs: Glyphs) -> Iterator[Span]:
    """Lines added and removed by one side."""
    for amount, sign, ink in (
        (use.added if use else 0, "+", "leaf"),
        (use.removed if use else 0, glyphs.minus, "bad"),
    ):
        number = f"{sign}{amount if amount < 10_000 else short(amount)}" if amount else glyphs.zero
        yield Span(right(number, _NUMBER), ink if amount else "edge")


def _path(path: str, width: int, glyphs: Glyphs, *, quiet: bool) -> list[Span]:
    folder, name = split_path(fit_path(safe_line(path, 400), width, gap=glyphs.gap))
    return [Span(folder, "faint"), Span(name, "sub" if quiet else "text")]


def _flags(file: FileDifference, column: Column | None) -> list[str]:
    """Notable facts about a file; a column of one side does not name it."""
    fates = [fate.rpartition(" in ")[0] if column and column.letter else fate for fate in file.fates]
    return [*fates, *(flag.words for flag in file.flags)]


def _moved(names: Sequence[str], room: int, flag: int, glyphs: Glyphs) -> str:
    """New names after the old one, beside a flag where file names stay readable then; empty where there is no room."""
    if not names:
        return ""
    lead = f" {glyphs.arrow} "
    least = sum(cell_len(lead) + cell_len(split_path(name)[1]) + 2 for name in names)
    room -= flag if least <= room - flag else 0
    if room < least:
        return ""
    each = room // len(names) - cell_len(lead)
    return "".join(lead + fit_path(name, each, gap=glyphs.gap) for name in names)


def _row(
    file: FileDifference, width: int, glyphs: Glyphs, numbers: list[Span], flags: list[str]
) -> list[Span]:
    """Path, flags where they fit, numbers."""
    room = max(8, width - sum(cell_len(span.text) for span in numbers) - 1)
    first, *later = (safe_line(one, 400) for one in file.names)
    moved = _moved(later, room - cell_len(first), cell_len(flags[0]) + 2 if flags else 0, glyphs)
    path = first + moved
    name = cell_len(split_path(first)[1]) + cell_len(moved) + 2
    # The first flag may cost the folders, further flags only room beside a path with its folders.
    while flags and cell_len("  ".join(flags)) + 2 > room - min(
        cell_len(path), name if len(flags) == 1 else _LEAST_PATH
    ):
        flags.pop()
    remarks = "  ".join(flags)
    some = room - (cell_len(remarks) + 2 if remarks else 0)
    spans = _path(first, max(8, some - cell_len(moved)), glyphs, quiet=not file.changed)
    if moved:
        left = some - sum(cell_len(span.text) for span in spans)
        spans.append(Span(fit(moved, left, ellipsis=glyphs.ellipsis), "sub"))
    used = sum(cell_len(span.text) for span in spans)
    return [*spans, blanks(room - used - cell_len(remarks)), Span(remarks, "warn"), blanks(1), *numbers]


class FileLines(MadeLines):
    """The rows of a column in lines of `width` cells, each made when it is drawn; all columns where `column` is None."""

    def __init__(
        self,
        items: Sequence[FileItem],
        width: int,
        glyphs: Glyphs,
        column: Column | None,
        same: Mapping[str, bool | None] = MappingProxyType({}),
    ) -> None:
        """`same` holds the known results of `SideContents.same`, by path; it may grow while the lines are shown."""
        self._items = items
        self._same = same
        self._width = width
        self._glyphs = glyphs
        self._column = column
        self.made = 0
        """Lines made so far; work counted for tests."""

    def __len__(self) -> int:
        return max(1, len(self._items))

    def find(self, key: str) -> int:
        """The line with a key; -1 where there is none."""
        return next((y for y, item in enumerate(self._items) if item.key == key), -1)

    def files(self) -> Iterator[tuple[int, FileDifference]]:
        """The files, each with its line; no line is made."""
        return ((y, item.file) for y, item in enumerate(self._items) if item.file is not None)

    def _line(self, y: int) -> SpanLine:
        if not self._items:
            return SpanLine((Span("none", "nothing"),))
        self.made += 1
        item, width, glyphs, column = self._items[y], self._width, self._glyphs, self._column
        file = item.file
        if item.key == FOLD:
            more = " more" if any(one.file for one in self._items) else ""
            words = (
                f"{len(item.folded):,}{more}, not touched by either"
                if item.folded
                else "fold what is not touched"
            )
            doubts = any(self._differs(one) is None for one in item.folded)
            sign = _UNSURE if doubts else glyphs.same
            return SpanLine((Span(f"{sign} ", "faint"), Span(fit(words, width - 2), "nothing")), FOLD)
        if file is None:
            return SpanLine((Span(item.heading, "faint"),) if item.heading else ())
        if column is Column.A or column is Column.B:
            use = file.a if column is Column.A else file.b
            return SpanLine(
                tuple(_row(file, width, glyphs, [*_numbers(use, glyphs)], _flags(file, column))), item.key
            )
        return SpanLine(tuple(_both(file, width, glyphs, self._differs(file))), item.key)

    def _differs(self, file: FileDifference) -> bool | None:
        return differs(file, self._same.get(file.path, not file.changed))


_UNSURE = "?"
"""The sign of a file that a command may have changed without naming it."""


def _both(file: FileDifference, width: int, glyphs: Glyphs, different: bool | None) -> list[Span]:
    numbers = [*_numbers(file.a, glyphs), blanks(2), *_numbers(file.b, glyphs)]
    sign = {True: glyphs.differs, False: glyphs.same, None: _UNSURE}[different]
    lead = Span(f"{sign} ", "warn" if different else "faint")
    also = ["may differ"] if different is None else []
    return [lead, *_row(file, width - 2, glyphs, numbers, [*_flags(file, None), *also])]


def column_head(column: Column | None, sets: FileSets, width: int, glyphs: Glyphs) -> SpanLine:
    """The name of a column, the number of its files, and the heads of its numbers; None heads the whole list."""
    number = {
        Column.A: len(sets.only_a),
        Column.BOTH: len(sets.both),
        Column.B: len(sets.only_b),
        None: len(sets),
    }[column]
    name = column.value if column is not None else "Files"
    hue = HUES.get(column.letter, "") if column is not None else ""
    left = [Span(name, f"strong_{hue}" if hue else "strong"), Span(f"   {counted(number, 'file')}", "faint")]
    signs = [Span(right("+", _NUMBER), "faint"), Span(right(glyphs.minus, _NUMBER), "faint")]
    if column is Column.BOTH or column is None:
        heads = []
        for letter in "AB":
            heads += [
                Span(letter, f"strong_{HUES[letter]}"),
                Span(right("+", _NUMBER - 1), "faint"),
                Span(right(glyphs.minus, _NUMBER), "faint"),
                *([blanks(2)] if letter == "A" else []),
            ]
        signs = heads
    used = sum(cell_len(span.text) for span in (*left, *signs))
    if used > width:
        left, used = left[:1], used - cell_len(left[1].text)
    return SpanLine((*left, blanks(width - used), *signs))
