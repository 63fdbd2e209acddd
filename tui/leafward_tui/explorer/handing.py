"""Handing a session on: copied text, an export, the agent's own resume command, the operation log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.resting import Resting
from leafward_tui.explorer.results import Exported
from leafward_tui.ui.cells import counted
from leafward_tui.ui.saved_files import FILES_EFFECT, files_written, folder_sheet, free_path

if TYPE_CHECKING:
    from leafward.agents import Resume
    from leafward.session.columns import Columns
    from leafward.session.session import Session

_FORMATS = {"m": ("md", "Markdown"), "h": ("html", "one web page"), "o": ("json", "JSON")}
"""By key; the capital letter exports what was chosen."""


class Handing(Resting):
    """Actions that take something out of the session, into the clipboard, a file or an agent."""

    def action_copy_text(self) -> None:
        """Copies the text of the entry under the cursor."""
        from leafward.session.messages import message_text, messages_of

        session, exploration = self.session, self.exploration
        if session is None or exploration is None:
            return
        if self.graph.row < 0:
            return
        entry = exploration.layout.head[self.graph.row]
        body = session.body(entry)
        kind = session.entry(entry).kind
        said = "\n".join(message_text(message) for message in messages_of(body or {}, kind))
        self.shell.copy(safe(said) or session.columns.id(entry))

    def action_export_save(self) -> None:
        """Asks what to write and how: the path of the cursor, or what a search or filter chose. It goes to the current folder."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet

        session, exploration, line = self.session, self.exploration, self.graph.line
        if session is None or exploration is None or line is None:
            return
        target = exploration.target(line)
        stem = f"{session.id[:8]}-{session.columns.id(target)}" if target >= 0 else session.id[:8]
        chosen = f"{session.id[:8]}-chosen"

        only = frozenset(exploration.chosen if exploration.filter is Filter.CHOSEN else self.found_entries)

        def done(key: str | None) -> None:
            if key is None:
                return
            if key == "f":
                self._ask_files_folder(session, target, f"{stem}-files")
                return
            name, _ = _FORMATS[key.lower()]
            if key.islower():
                self._export(session, target, name, free_path(stem, name))
            else:
                self._export(session, target, name, free_path(chosen, name), only)

        redacted = "secrets are redacted, and the redaction is shown"
        choices = [
            Choice(key, f"The path to here as {title}", f"{stem}.{name}", redacted)
            for key, (name, title) in _FORMATS.items()
        ]
        if target >= 0:
            choices.append(Choice("f", "The files as they were here", FILES_EFFECT))
        if only:
            entries = counted(len(only), "entry", "entries")
            what = "on show" if exploration.filter is Filter.CHOSEN else "that the search found"
            choices += [
                Choice(key.upper(), f"The {entries} {what} as {title}", f"{chosen}.{name}", redacted)
                for key, (name, title) in _FORMATS.items()
            ]
        self.app.push_screen(ChoiceSheet("Export", choices, note=str(Path.cwd())), done)

    def _ask_files_folder(self, session: Session, target: int, stem: str) -> None:
        def done(folder: str | None) -> None:
            if folder is not None and folder.strip():
                self._write_files(session, target, folder.strip())

        self.app.push_screen(folder_sheet("The files as they were here", stem), done)

    @work(thread=True, exclusive=True, group="export", exit_on_error=False)
    def _write_files(self, session: Session, target: int, folder: str) -> None:
        worker = get_current_worker()
        text, problem = files_written(session, target, folder, None, lambda: worker.is_cancelled)
        if text:
            self.post_message(Exported(text, problem=problem))

    @work(thread=True, exclusive=True, group="export", exit_on_error=False)
    def _export(
        self, session: Session, target: int, form: str, path: Path, only: frozenset[int] | None = None
    ) -> None:
        """Writes a path, or of all branches the entries in `only`."""
        from leafward.export.output_file import write_new_document
        from leafward.export.session_export import export

        try:
            write_new_document(path, export(session, form, target, whole=only is not None, only=only).text)
        except (LeafwardError, OSError) as error:
            self.post_message(Exported(f"not exported: {error}", problem=True))
        else:
            self.post_message(Exported(f"exported to {path}"))

    def on_exported(self, message: Exported) -> None:
        """Says where the file is."""
        self.shell.say(message.text, problem=message.problem)

    def action_agent_resume(self) -> None:
        """Runs the agent's own command on this session, and comes back when it ends."""
        from leafward.agents import agent_behind

        session = self.session
        if session is None:
            return
        try:
            command = agent_behind(session).resume(session, os.environ).ready()
        except LeafwardError as error:
            self.tell(str(error), "bad", self.key_hints(("session.fork", "goes on in a new session")))
            return
        if session.what_if:
            self._ask_resume(command)
        else:
            self.run_in_place(command)

    def _ask_resume(self, command: Resume) -> None:
        """Where the leaf is a what-if: the agent knows nothing of it."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

        about = [SheetLine("the leaf here is a what-if that Leafward keeps; a fork makes it real", "warn")]
        choices = [
            Choice("n", "New session from here", "an agent goes on at the what-if leaf"),
            Choice("r", "Resume all the same", "the agent goes on at its own leaf", command.command()),
        ]

        def done(key: str | None) -> None:
            if key == "r":
                self.run_in_place(command)
            elif key == "n":
                self.action_session_fork()

        self.app.push_screen(ChoiceSheet("Resume", choices, about), done)

    def run_in_place(self, command: Resume) -> None:
        """Hands the terminal to an agent, and takes it back when it ends; where that cannot be, its command is copied."""
        from leafward_tui.ui.agent_run import run_in_agent

        problem = run_in_agent(self.app, command)
        if problem is not None:
            self.shell.copy(command.line())
            self.tell(f"{problem}; its command is copied", "bad")
        self.look()

    def action_log_open(self) -> None:
        """Shows the operations on this session."""
        from leafward_tui.log.screen import LogScreen

        session = self.session
        if session is None or self.refuse_while_writing():
            return
        scan, known = session.scan, len(session)

        def done(entry: int | None) -> None:
            # The log took lines in itself, its own and others', so a look at the file would find nothing new.
            if session.scan is not scan:
                self.read_anew(scan.columns)
                return
            if len(session) != known:
                self.session_changed(to_leaf=True)
            if entry is not None:
                self.go_to_entry(entry)

        self.app.push_screen(LogScreen(session), done)

    def look(self) -> None:
        """Looks whether the file has grown."""
        raise NotImplementedError

    def read_anew(self, before: Columns | None) -> None:
        """Reads the session anew, which was known by other columns before."""
        raise NotImplementedError

    def session_changed(self, *, to_leaf: bool) -> None:
        """Lays out anew after the session grew."""
        raise NotImplementedError
