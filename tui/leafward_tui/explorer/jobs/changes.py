"""What is appended to a session, and what is written beside it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward.branches.transfer.context_edits import EDITABLE, ContextEdit, draft_edits
from leafward.session.entries import EntryIndex
from leafward.session.journal import Writing
from leafward_tui.ui.saved_files import files_written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from leafward.branches.transfer import EditDraft
    from leafward.session.journal import Write
    from leafward.session.session import Session
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.services import Job

    Change = Callable[[Session, Writing], Write]
    """Appends something to a session, at the time that is given with it."""


class EditDrafts(NamedTuple):
    """What edits of a row would free: left out, then shortened; in place of a draft why it is refused."""

    targets: tuple[EntryIndex, ...]
    omitted: EditDraft | str
    short: EditDraft | str


class Saved(NamedTuple):
    """What became of a file that was asked for, in words; empty where it was cancelled."""

    text: str
    problem: bool = False


class NamedChange:
    """An undo or redo that tells which operation it was about: `undid: label [done]`."""

    def __init__(self, change: Change, verb: str, glyphs: Glyphs) -> None:
        self._change = change
        self._glyphs = glyphs
        self._verb = verb
        self._about = ""

    def __call__(self, session: Session, writing: Writing) -> Write:
        """Appends the change; the operation is looked up here, in the job. Raises LeafwardError."""
        from leafward.session.journal import operations
        from leafward_tui.ui.operation_text import OperationText

        log = operations(session)
        written = self._change(session, writing)
        found = next((one for one in log if one.op == written.undoes), None)
        if found is not None:
            told = OperationText(session, log, self._glyphs)
            self._about = told.short(told.root(found))
        return written

    def done(self) -> str:
        """What it did, once it was written."""
        return f"{self._verb}: {self._about}" if self._about else self._verb


def append(session: Session, change: Change, clock: Callable[[], datetime], _job: Job) -> Write:
    """Appends a change to a session. Raises LeafwardError."""
    return change(session, Writing(now=clock))


def edit_drafts(session: Session, entries: Sequence[int], keep: int, _job: Job) -> EditDrafts:
    """Drafts that leave out the entries of a row, and that shorten each to `keep` tokens."""
    kinds = session.columns.kind
    targets = tuple(EntryIndex(at) for at in entries if kinds[at] in EDITABLE)

    def draft(tokens: int | None) -> EditDraft | str:
        if not targets:
            return "the model reads nothing here that could be edited"
        try:
            return draft_edits(session, [ContextEdit(one, None, tokens) for one in targets])
        except (LeafwardError, OSError) as error:
            return str(error)

    return EditDrafts(targets, draft(None), draft(keep))


def save_files(session: Session, target: int, folder: str, job: Job) -> Saved:
    """Writes the files as they were at an entry."""
    return Saved(*files_written(session, target, folder, None, job.unwanted))


def save_export(
    session: Session, target: int, form: str, path: Path, only: frozenset[int] | None, _job: Job
) -> Saved:
    """Writes a path, or of all branches the entries in `only`."""
    from leafward.export.output_file import write_new_document
    from leafward.export.session_export import export

    try:
        text = export(session, form, target, whole=only is not None, only=only).text
        write_new_document(path, text)
    except (LeafwardError, OSError) as error:
        return Saved(f"not exported: {error}", problem=True)
    return Saved(f"exported to {path}")


def save_text(folder: Path, stem: str, text: str, _job: Job) -> Saved:
    """Writes a text to a new Markdown file of a folder, which only its owner reads."""
    from leafward.export.markdown import harmless
    from leafward.export.output_file import write_new_document

    number = 1
    while os.path.lexists(path := folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")):
        number += 1
    try:
        write_new_document(path, harmless(text.rstrip("\n")) + "\n")
    except OSError as error:
        return Saved(f"not exported: {error}", problem=True)
    return Saved(f"exported to {path}")
