"""Files that are written on request, for their owner only; nothing there is overwritten."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, LeafwardError, Refused, reason_of
from leafward.base.figures import counted, first_few
from leafward.base.safe_text import safe_line
from leafward_tui.ui.text.paths import working_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.files.file_replay.bases import Bases
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.services import AppServices
    from leafward_tui.ui.sheets.sheet import TextSheet

FILES_EFFECT = "those known exactly, to a folder"
"""The effect of writing the files at an entry, in the words of a sheet."""
_UNSAFE = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 60
"""Characters of a name, ending and number apart: of three bytes each they are less than a file system takes."""
_NAMED = 3
"""Number of files that are named; the others are counted."""


def _current_folder() -> Path:
    """The folder that the application runs in. Raises Refused where it is gone."""
    if not (folder := working_folder()):
        raise Refused("the folder that Leafward runs in is gone: start it in another one")
    return Path(folder)


def plain_name(text: str) -> str:
    """A text as the name of a file: the ids of a session and an entry, which it is made of, may be a path as well."""
    return _UNSAFE.sub("-", text).lstrip(".-")[:_LONGEST_NAME] or "session"


def free_path(stem: str, suffix: str = "", outside: str = "") -> Path:
    """A free name in the current folder; without a suffix it is that of a folder.

    Where the current folder lies in `outside`, a project's folder, the name is one beside that folder. Raises Refused where
    the current folder is gone.
    """
    folder, end = _current_folder(), f".{suffix}" if suffix else ""
    project = Path(os.path.realpath(outside)) if os.path.isdir(outside) else None
    if project is not None and folder.is_relative_to(project):
        folder = project.parent
    stem, number = plain_name(stem), 2
    path = folder / f"{stem}{end}"
    # A link that leads nowhere has the name, too.
    while os.path.lexists(path):
        path = folder / f"{stem}-{number}{end}"
        number += 1
    return path


def named(what: str, paths: Sequence[str]) -> str:
    """The first of some files by name, and how many more there are; empty for no files."""
    return f"; {what}: {first_few([safe_line(path, 60) for path in paths], _NAMED)}" if paths else ""


def folder_sheet(title: str, stem: str, project: str) -> TextSheet:
    """A sheet that asks for the folder to write files to; suggests a free one outside the project's."""
    from leafward_tui.ui.sheets.sheet import SheetLine, TextSheet

    about = [
        SheetLine(
            "The folder must be empty or new, and outside the project. Nothing is written elsewhere.", lines=2
        )
    ]
    return TextSheet(
        title,
        str(free_path(stem, outside=project)) if working_folder() else "",
        about,
        placeholder="a folder",
        commit="write",
        operation_of=lambda text: f"write the files to {safe_line(text, 200)}" if text.strip() else "",
        missing="type a folder",
    )


class Saved(NamedTuple):
    """The outcome of a requested file, in words."""

    text: str
    problem: bool = False


def outcome_toasts(services: AppServices) -> tuple[Callable[[Saved], object], Callable[[str], object]]:
    """The two functions that show the outcome of a job that writes a requested file."""
    return (
        lambda saved: services.say(saved.text, problem=saved.problem),
        lambda why: services.say(f"not exported: {why}", problem=True),
    )


def save_text(stem: str, text: str, _job: Job) -> Saved:
    """Writes a text to a new Markdown file of the current folder, which only its owner can read. Raises LeafwardError, OSError."""
    from leafward.base.output_file import write_under_free_name
    from leafward.export.documents.sanitizer import harmless

    path = write_under_free_name(partial(free_path, stem, "md"), harmless(text.rstrip("\n")) + "\n")
    return Saved(f"exported to {path}")


def save_files(session: Session, entry: int, folder: str, bases: Bases | None, job: Job) -> Saved:
    """Writes the files at an entry, as its calls left them, into a folder. Raises Cancelled, LeafwardError, OSError."""
    from leafward.files.file_replay.output_folder import write_rebuilt
    from leafward.files.file_replay.path_files import PathFiles
    from leafward.files.restoration.recorded_files import RecordedFiles
    from leafward.session.entries import EntryIndex

    try:
        target = Path(folder).expanduser()
    except RuntimeError:
        return Saved(f"not written: nobody has the home folder in {safe_line(folder, 200)}", problem=True)
    if not target.is_absolute():
        target = _current_folder() / target
    made = PathFiles(session, entry, bases, job.unwanted).files()
    recorded = RecordedFiles(session, EntryIndex(entry), job.unwanted)
    if job.unwanted():
        raise Cancelled("cancelled")
    try:
        done = write_rebuilt(made, target, session.cwd)
    except (LeafwardError, OSError, ValueError) as error:
        return Saved(f"not written: {reason_of(error)}", problem=True)
    message = f"wrote {counted(len(done.files), 'file')} to {safe_line(str(done.folder), 200)}"
    stored = set(done.files)
    written = [one for one in made if one.path in stored]
    message += named("not certain", [one.path for one in written if recorded.doubt(one)])
    unsure = [one.path for one in written if not one.ends]
    message += named("with newlines, as their line ends are not recorded", unsure)
    if done.failed:
        why = dict(done.left_out)[done.failed[0]]
        message += named(f"not written ({why})", done.failed)
    left_out = [path for path, _ in done.left_out if path not in done.failed]
    return Saved(message + named("left out", left_out), bool(done.failed))
