"""The Files tab: what the path to the selection read and modified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.files.working_set import working_set
from leafward_tui.inspector.model.sheet import INDENT, Sheet, path_spans
from leafward_tui.ui.cells import counted
from leafward_tui.ui.inspector_tab import Tab
from leafward_tui.ui.page import Page, Selection, Span
from leafward_tui.ui.spans import shown_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.files.working_set import FileUse
    from leafward_tui.ui.glyphs import Glyphs

COLUMNS = (7, 9)
"""Cells of the columns times and last."""


def files_page(
    selection: Selection,
    width: int,
    height: int,
    glyphs: Glyphs,
    toggled: frozenset[str] = frozenset(),
    stop: Callable[[], bool] = lambda: False,
) -> Page:
    """The Files tab: enter goes to the entry that touched a file last."""
    at = selection.at
    files = working_set(selection.session, at, stop=stop)
    sheet = Sheet(Tab.FILES, width, height, glyphs, toggled)
    sheet.blank()
    sheet.facts([[Span("Files", "strong")], where(selection)], [[Span(f"up to #{at:,}", "faint")]], gap=2)
    sheet.line(
        [
            Span(f"{len(files.modified):,}", "sub"),
            Span(" modified   ", "faint"),
            Span(f"{len(files.read):,}", "sub"),
            Span(" only read", "faint"),
        ]
    )
    if not files.modified and not files.read:
        sheet.blank()
        sheet.note("no tool has named a file up to here")
    _section(sheet, "Modified", files.modified)
    _section(sheet, "Read", files.read)
    return sheet.page(copy="\n".join(shown_line(file.path, 4_000) for file in (*files.modified, *files.read)))


def where(selection: Selection) -> list[Span]:
    """How the selection lies to the path."""
    return [Span("on the path", "sub") if selection.on_path else Span("off the path", "ghost")]


def _section(sheet: Sheet, title: str, files: Iterable[FileUse]) -> None:
    listed = list(files)
    if not listed:
        return
    heads = sheet.columns([("times", "faint"), ("last", "faint")], COLUMNS)
    sheet.heading(title, counted(len(listed), "file"), heads)
    room = sheet.width - sum(COLUMNS) - INDENT - 2
    for file in listed:
        last = file.entries[-1]
        numbers = sheet.columns([(f"{len(file.entries):,}", "sub"), (f"#{last:,}", "faint")], COLUMNS)
        path = path_spans(file.path, room, sheet.glyphs)
        sheet.row(
            [Span(" " * INDENT, "blank"), *path],
            numbers,
            entry=last,
            copy=shown_line(file.path, 4_000),
            file=file.path,
        )
