"""Exports of the comparison to files: as a document, one side's changes as a patch, a side's files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.ui.saved_files import (
    FILES_EFFECT,
    Saved,
    folder_sheet,
    free_path,
    named,
    outcome_toasts,
    save_files,
)
from leafward_tui.ui.text.paths import working_folder

if TYPE_CHECKING:
    from leafward.branches.diff.sides import Side, Sides
    from leafward.files.file_replay.bases import Bases
    from leafward_tui.ui.jobs import Job

_FORMATS = (("m", "md", "Markdown"), ("h", "html", "One web page"), ("o", "json", "JSON"))


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
        bases, stem = self._state.bases(), f"{self._state.session.id[:8]}-compared"
        redacted = "secrets are redacted, and the redaction is shown"
        exact = "only files known exactly; files left out are named"

        def document(form: str) -> None:
            work = partial(document_written, seen.sides, form, stem, bases)
            self._services.lasting_jobs.also("export", work, *outcome_toasts(self._services))

        def patch(key: str, side: Side) -> None:
            work = partial(patch_written, seen.sides, side, f"{stem}-{key}", bases)
            self._services.lasting_jobs.also("export", work, *outcome_toasts(self._services))

        choices = [
            Choice(key, title, f"{stem}.{form}", redacted, act=partial(document, form))
            for key, form, title in _FORMATS
        ]
        choices += [
            Choice(
                key,
                f"What {key.upper()} changed, as a patch for git apply",
                f"{stem}-{key}.patch",
                exact,
                act=partial(patch, key, side),
            )
            for key, side in (("a", seen.sides.a), ("b", seen.sides.b))
        ]
        choices += [
            Choice(
                key,
                f"The files as they were at {letter}",
                FILES_EFFECT,
                act=partial(self._ask_folder, letter, entry),
            )
            for key, letter, entry in zip("fg", "AB", self._state.read.ends, strict=True)
        ]
        self._view.open_sheet(ChoiceSheet("Export the comparison", choices, note=working_folder()))

    def _ask_folder(self, letter: str, entry: int) -> None:
        state = self._state

        def done(folder: str | None) -> None:
            if folder is not None and folder.strip():
                work = partial(save_files, state.session, entry, folder.strip(), state.bases())
                self._services.lasting_jobs.also("export", work, *outcome_toasts(self._services))

        title, stem = f"The files as they were at {letter}", f"{state.session.id[:8]}-files-{letter.lower()}"
        self._view.open_sheet(folder_sheet(title, stem, state.session.cwd), done)


def document_written(both: Sides, form: str, stem: str, bases: Bases | None, job: Job) -> Saved:
    """Writes the comparison as a document to the current folder. Raises Cancelled, LeafwardError, OSError."""
    from leafward.base.output_file import write_under_free_name
    from leafward.export.documents.comparison import comparison_of
    from leafward.export.documents.comparison_document import document

    found = comparison_of(both, bases=bases, stop=job.unwanted)
    path = write_under_free_name(partial(free_path, stem, form), document(found, form))
    return Saved(f"exported to {path}")


def patch_written(both: Sides, side: Side, stem: str, bases: Bases | None, job: Job) -> Saved:
    """Writes one side's changes as a patch to the current folder. Raises Cancelled, LeafwardError, OSError."""
    from leafward.base.output_file import write_under_free_name
    from leafward.branches.diff.patches import patch_of

    made = patch_of(both, side, job.unwanted, bases)
    path = write_under_free_name(partial(free_path, stem, "patch"), made.text)
    files, left_out = counted(len(made.files), "file"), [path for path, _ in made.left_out]
    return Saved(
        f"exported to {path}: {files}{named('left out', left_out)}{named('assumed to be new', made.taken_as_new)}"
    )
