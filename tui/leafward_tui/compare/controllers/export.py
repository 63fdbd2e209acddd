"""Exports of the comparison to files: as a document, one side's changes as a patch, a side's files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.ui.saved_files import FILES_EFFECT, files_written, folder_sheet, free_path, named
from leafward_tui.ui.text.cells import counted

if TYPE_CHECKING:
    from leafward.branches.diff.sides import Side, Sides
    from leafward.files.file_replay.bases import Bases
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job

_FORMATS = {"m": ("md", "Markdown"), "h": ("html", "One web page"), "o": ("json", "JSON")}
_PATCHES = {"a": "A", "b": "B"}
_FILES = {"f": "A", "g": "B"}


class Export(CompareController):
    """Reads the state and writes none of it."""

    def __init__(self, means: CompareMeans) -> None:
        super().__init__(means)
        self.actions = {"comparison.save": self.ask}

    def ask(self) -> None:
        """Asks for a form, and writes the comparison to a file in the current folder."""
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet

        seen = self._state.read.overall
        if seen is None:
            return
        stem = f"{self._state.session.id[:8]}-compared"
        redacted = "secrets are redacted, and the redaction is shown"
        choices = [Choice(key, title, f"{stem}.{name}", redacted) for key, (name, title) in _FORMATS.items()]
        exact = "only files known exactly; files left out are named"
        choices += [
            Choice(key, f"What {letter} changed, as a patch for git apply", f"{stem}-{key}.patch", exact)
            for key, letter in _PATCHES.items()
        ]
        choices += [
            Choice(key, f"The files as they were at {letter}", FILES_EFFECT) for key, letter in _FILES.items()
        ]

        def done(key: str | None) -> None:
            if key in _FILES:
                self._ask_folder(_FILES[key])
            elif key is not None:
                self._write(seen.sides, key, stem)

        sheet = ChoiceSheet("Export the comparison", choices, note=str(Path.cwd()))
        self._view.open_sheet(sheet, done)

    def _write(self, sides: Sides, key: str, stem: str) -> None:
        bases = self._state.bases()
        if key in _FORMATS:
            form = _FORMATS[key][0]
            work = partial(document_written, sides, form, free_path(stem, form), bases)
        else:
            side = sides.a if key == "a" else sides.b
            work = partial(patch_written, sides, side, free_path(f"{stem}-{key}", "patch"), bases)
        self._jobs.latest(
            "export",
            work,
            self._services.say,
            lambda text: self._services.say(f"not exported: {text}", problem=True),
        )

    def _ask_folder(self, letter: str) -> None:
        state = self._state
        entry = state.read.ends["AB".index(letter)]

        def done(folder: str | None) -> None:
            if folder is not None and folder.strip():
                work = partial(files_saved, state.session, entry, folder.strip(), state.bases())
                self._jobs.latest("export", work, self._saved)

        title, stem = f"The files as they were at {letter}", f"{state.session.id[:8]}-files-{letter.lower()}"
        self._view.open_sheet(folder_sheet(title, stem, state.session.cwd), done)

    def _saved(self, outcome: tuple[str, bool]) -> None:
        text, problem = outcome
        if text:
            self._services.say(text, problem=problem)


def document_written(both: Sides, form: str, path: Path, bases: Bases | None, job: Job) -> str:
    """Writes the comparison as a document. Raises Cancelled, LeafwardError, OSError."""
    from leafward.export.comparison import comparison_of
    from leafward.export.comparison_document import document
    from leafward.export.output_file import write_new_document

    found = comparison_of(both, bases=bases, stop=job.unwanted)
    write_new_document(path, document(found, form))
    return f"exported to {path}"


def patch_written(both: Sides, side: Side, path: Path, bases: Bases | None, job: Job) -> str:
    """Writes one side's changes as a patch. Raises Cancelled, LeafwardError, OSError."""
    from leafward.branches.diff.patches import patch_of
    from leafward.export.output_file import write_new_document

    made = patch_of(both, side, job.unwanted, bases)
    write_new_document(path, made.text)
    files, left_out = counted(len(made.files), "file"), [path for path, _ in made.left_out]
    return f"exported to {path}: {files}{named('left out', left_out)}{named('assumed to be new', made.taken_as_new)}"


def files_saved(session: Session, entry: int, folder: str, bases: Bases | None, job: Job) -> tuple[str, bool]:
    """Writes the files at an entry into a folder; the outcome in words, and whether it is a problem."""
    return files_written(session, entry, folder, bases, job.unwanted)
