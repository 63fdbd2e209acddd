"""What is written beside a session: files as they were at an entry, documents, texts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward_tui.ui.saved_files import files_written

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session
    from leafward_tui.ui.services import Job


class Saved(NamedTuple):
    """What became of a file that was asked for, in words; empty where it was cancelled."""

    text: str
    problem: bool = False


def save_files(session: Session, target: int, folder: str, job: Job) -> Saved:
    """Writes the files as they were at an entry."""
    return Saved(*files_written(session, target, folder, None, job.stop))


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
