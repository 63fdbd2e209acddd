"""The Files tab: the files that the path to the selection read and modified, and the fate of moved ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import split_path
from leafward.files.command_changes import command_changes
from leafward.files.file_names import utf16_order
from leafward.files.working_set import FileUse, working_set
from leafward_tui.inspector.model.sheet import INDENT, Sheet, path_spans
from leafward_tui.ui.text.cells import fit_path
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from leafward.files.command_changes import FileDestination
    from leafward_tui.inspector.page import Page, Selection
    from leafward_tui.inspector.page_request import PageRequest
    from leafward_tui.ui.appearance.glyphs import Glyphs

COLUMNS = (7, 9)
"""Cells of the columns entries and last."""


def files_page(request: PageRequest, stop: Callable[[], bool]) -> Page:
    """The Files tab: enter goes to the entry that touched a file last."""
    selection = request.selection
    at = selection.at
    files = working_set(selection.session, at, stop=stop)
    others = command_changes(selection.session, selection.session.tree.path(at), stop)
    named = {use.path for use in files.modified}
    by_command = [
        FileUse(name, tuple(others.entries[name]))
        for name in sorted(others.entries, key=utf16_order)
        if name not in named
    ]
    read = [use for use in files.read if use.path not in others.entries]
    sheet = Sheet(request)
    sheet.blank()
    sheet.facts([[Span("Files", "strong")], where(selection)], [[Span(f"up to #{at:,}", "faint")]], gap=2)
    sheet.line(
        [
            Span(f"{len(files.modified):,}", "sub"),
            Span(" modified   ", "faint"),
            Span(f"{len(read):,}", "sub"),
            Span(" only read", "faint"),
            *([Span(f"   {len(by_command):,}", "sub"), Span(" by commands", "faint")] if by_command else []),
        ]
    )
    every = (*files.modified, *by_command, *read)
    if not every:
        sheet.blank()
        sheet.note("no tool has named a file up to here")
    _section(sheet, "Modified", files.modified, others.fates)
    _section(sheet, "Made, moved or changed by commands", by_command, {})
    _section(sheet, "Read", read, others.fates)
    return sheet.page(copy="\n".join(safe_line(file.path, 4_000) for file in every))


def where(selection: Selection) -> list[Span]:
    """The place of the selection: on or off the path."""
    return [Span("on the path", "sub") if selection.on_path else Span("off the path", "ghost")]


def _section(
    sheet: Sheet, title: str, files: Iterable[FileUse], fates: Mapping[str, FileDestination]
) -> None:
    listed = list(files)
    if not listed:
        return
    heads = sheet.columns([("entries", "faint"), ("last", "faint")], COLUMNS)
    sheet.heading(title, counted(len(listed), "file"), heads)
    room = sheet.width - sum(COLUMNS) - INDENT - 2
    for file in listed:
        last = file.entries[-1]
        numbers = sheet.columns([(f"{len(file.entries):,}", "sub"), (f"#{last:,}", "faint")], COLUMNS)
        own = min(cell_len(safe_line(file.path, 4_000)), room // 2)
        fate = _fate(file.path, fates.get(file.path), room - own, sheet.glyphs)
        path = path_spans(file.path, room - cell_len(fate), sheet.glyphs)
        sheet.row(
            [Span(" " * INDENT, "blank"), *path, Span(fate, "warn")],
            numbers,
            entry=last,
            copy=safe_line(file.path, 4_000),
            file=file.path,
        )


def _fate(path: str, fate: FileDestination | None, width: int, glyphs: Glyphs) -> str:
    """The new place of a file, after its name; only the folder where the name is the same, empty where it is still there."""
    if fate is None:
        return ""
    at = f" #{fate.entry:,}"
    if not fate.to:
        return f"  removed{at}"
    lead = f"  {glyphs.arrow} "
    folder, name = split_path(safe_line(fate.to, 4_000))
    to = folder if folder and name == split_path(safe_line(path, 4_000))[1] else folder + name
    return lead + fit_path(to, max(8, width - cell_len(lead + at)), gap=glyphs.gap) + at
