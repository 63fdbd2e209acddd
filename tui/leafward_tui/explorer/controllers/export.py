"""Copies and exports: text of an entry, paths and chosen entries as documents, the files at an entry."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import safe
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.ui.saved_files import (
    FILES_EFFECT,
    Saved,
    folder_sheet,
    free_path,
    outcome_toasts,
    plain_name,
    save_files,
)
from leafward_tui.ui.text.paths import working_folder

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.ui.jobs import Job

_FORMATS = {"m": ("md", "Markdown"), "h": ("html", "one web page"), "o": ("json", "JSON")}
"""Formats by key; the capital letter exports the chosen entries."""


class Export(ExplorerController):
    """Writes to the clipboard and to files of the current folder."""

    def __init__(self, means: ExplorerMeans, navigation: Navigation) -> None:
        super().__init__(means)
        self._navigation = navigation
        self.actions = {
            "copy.text": self._copy,
            "export.save": self._ask,
        }

    def _copy(self) -> None:
        """Copies the text of the entry under the cursor."""
        from leafward.session.messages import message_text, messages_of

        session, entry = self._state.session, self._navigation.head_here()
        if session is None or entry < 0:
            return
        body = session.body(entry)
        kind = session.entry(entry).kind
        text = "\n".join(message_text(message) for message in messages_of(body or {}, kind))
        self._services.copy(safe(text) or session.columns.id(entry))

    def _ask(self) -> None:
        """Asks for content and format: the path of the cursor, or the entries of a search or filter.

        The file goes to the current folder.
        """
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet

        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None:
            return
        session = exploration.session
        target = exploration.target(line)
        at = f"-{session.columns.id(target)}" if target >= 0 else ""
        stem, chosen = (plain_name(session.id[:8] + end) for end in (at, "-chosen"))
        filtered = exploration.filter is Filter.CHOSEN
        only = frozenset(exploration.chosen if filtered else self._state.search.entries)

        redacted = "secrets are redacted, and the redaction is shown"

        def save(stem: str, name: str, only: frozenset[int] | None = None) -> None:
            work = partial(save_export, session, target, name, stem, only)
            self._services.lasting_jobs.also("export", work, *outcome_toasts(self._services))

        choices = [
            Choice(
                key, f"The path to here as {title}", f"{stem}.{name}", redacted, act=partial(save, stem, name)
            )
            for key, (name, title) in _FORMATS.items()
        ]
        if target >= 0:
            ask = partial(self._ask_folder, session, target, f"{stem}-files")
            choices.append(Choice("f", "The files as they were here", FILES_EFFECT, act=ask))
        if only:
            entries = counted(len(only), "entry", "entries")
            what = "on show" if filtered else "that the search found"
            choices += [
                Choice(
                    key.upper(),
                    f"The {entries} {what} as {title}",
                    f"{chosen}.{name}",
                    redacted,
                    act=partial(save, chosen, name, only),
                )
                for key, (name, title) in _FORMATS.items()
            ]
        self._view.open_sheet(ChoiceSheet("Export", choices, note=working_folder()))

    def _ask_folder(self, session: Session, target: int, stem: str) -> None:
        def done(folder: str | None) -> None:
            if folder is not None and folder.strip():
                work = partial(save_files, session, target, folder.strip(), None)
                self._services.lasting_jobs.also("export", work, *outcome_toasts(self._services))

        self._view.open_sheet(folder_sheet("The files as they were here", stem, session.cwd), done)


def save_export(
    session: Session, target: int, form: str, stem: str, only: frozenset[int] | None, _job: Job
) -> Saved:
    """Writes a path, or, from all branches, the entries in `only`, to the current folder. Raises LeafwardError, OSError."""
    from leafward.base.output_file import write_under_free_name
    from leafward.export.documents.session_export import export

    made = export(session, form, target, whole=only is not None, only=only)
    path = write_under_free_name(partial(free_path, stem, form), made.text)
    return Saved(f"exported to {path}")
