"""The comparison handed on: as a document for readers, or one side's changes as a patch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.base.errors import Cancelled, LeafwardError
from leafward_tui.compare.search import CompareHunting
from leafward_tui.compare.values import Exported
from leafward_tui.ui.cells import counted
from leafward_tui.ui.saved_files import FILES_EFFECT, files_written, folder_sheet, free_path, named

if TYPE_CHECKING:
    from leafward.branches.diff.sides import Sides
    from leafward.files.file_replay import Bases

__all__ = ["CompareExporting"]

_FORMATS = {"m": ("md", "Markdown"), "h": ("html", "One web page"), "o": ("json", "JSON")}
_PATCHES = {"a": "A", "b": "B"}
_FILES = {"f": "A", "g": "B"}


class CompareExporting(CompareHunting):
    """Actions that write files beside the session, never into it."""

    def action_comparison_save(self) -> None:
        """Asks for a form, and writes the comparison to a file in the current folder."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet

        seen = self.overall
        if seen is None:
            return
        stem = f"{self.session.id[:8]}-compared"
        redacted = "secrets are redacted, and the redaction is shown"
        choices = [Choice(key, title, f"{stem}.{name}", redacted) for key, (name, title) in _FORMATS.items()]
        exact = "only files whose contents are known exactly; it is said which are left out"
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
            elif key in _FORMATS:
                name = _FORMATS[key][0]
                self._export(seen.sides, name, free_path(stem, name), self.bases())
            elif key is not None:
                self._export(seen.sides, key, free_path(f"{stem}-{key}", "patch"), self.bases())

        self.app.push_screen(ChoiceSheet("Export the comparison", choices, note=str(Path.cwd())), done)

    def _ask_folder(self, letter: str) -> None:
        node = self.ends["AB".index(letter)]

        def done(folder: str | None) -> None:
            if folder is not None and folder.strip():
                self._write_files(node, folder.strip(), self.bases())

        title, stem = f"The files as they were at {letter}", f"{self.session.id[:8]}-files-{letter.lower()}"
        self.app.push_screen(folder_sheet(title, stem), done)

    @work(thread=True, exclusive=True, group="export", exit_on_error=False)
    def _write_files(self, node: int, folder: str, bases: Bases | None) -> None:
        worker = get_current_worker()
        text, problem = files_written(self.session, node, folder, bases, lambda: worker.is_cancelled)
        if text:
            self.post_message(Exported(text, problem=problem))

    @work(thread=True, exclusive=True, group="export", exit_on_error=False)
    def _export(self, sides: Sides, form: str, path: Path, bases: Bases | None) -> None:
        from leafward.branches.diff.patches import patch_of
        from leafward.export.comparison import comparison_of, document
        from leafward.export.output_file import write_new_document

        worker = get_current_worker()
        told = ""
        try:
            if form in _PATCHES:
                side = sides.a if form == "a" else sides.b
                made = patch_of(sides, side, lambda: worker.is_cancelled, bases)
                text = made.text
                told = f": {counted(len(made.files), 'file')}{named('left out', [path for path, _ in made.left_out])}"
                told += named("taken to be new", made.taken_as_new)
            else:
                found = comparison_of(sides, bases=bases, stop=lambda: worker.is_cancelled)
                text = document(found, form)
            write_new_document(path, text)
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(Exported(f"not exported: {error}", problem=True))
        else:
            self.post_message(Exported(f"exported to {path}{told}"))

    def on_exported(self, message: Exported) -> None:
        """Says where the file is."""
        self.shell.say(message.text, problem=message.problem)
