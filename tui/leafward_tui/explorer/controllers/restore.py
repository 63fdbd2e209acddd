"""Files of the project as they were at an entry, from the key to the write: planned, chosen one by one, restored.

Alone or together with a move. `leafward.files.restoration.plan` works out the change of each file, and
`leafward.files.restoration.write` writes it; the sheet only draws this state.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.base.errors import Refused
from leafward.base.safe_text import safe_line
from leafward.session.entries import EntryIndex
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans, single_row
from leafward_tui.explorer.model.restored_files import action_words, listed, outcome_words
from leafward_tui.explorer.project_folder_sheet import in_project_folder
from leafward_tui.ui.sheets.row_choice import RowChoicePort
from leafward_tui.ui.words.write_words import appending, named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.files.restoration.plan import RestoredFile, RestorePlan
    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.ui.jobs import Job, Jobs
    from leafward_tui.ui.routed_screen import RoutedScreen


class FileRestore(ExplorerController):
    """Opens the sheet of a restore, and writes the chosen files."""

    def __init__(
        self,
        means: ExplorerMeans,
        write: SessionWrite,
        details: CursorDetails,
        sheet_of: Callable[[RestoreChoice, str, str], RoutedScreen[str | None]],
    ) -> None:
        """`sheet_of` makes the sheet of a choice, with its title and a note."""
        super().__init__(means)
        self._write = write
        self._details = details
        self._sheet_of = sheet_of
        self.actions = {"files.restore": self._ask_here}

    def _ask_here(self) -> None:
        """Restores the files as they were at the row of the cursor; the leaf stays."""
        shown = single_row(self._state, self._view)
        if shown is not None:
            exploration, line = shown
            self.ask(exploration.target(line))

    def ask(self, entry: int, *, moved: str = "", on_accept: Callable[[], object] = lambda: None) -> None:
        """Shows the effect of restoring the files at an entry, and restores them.

        With `moved`, a text in the past tense, the leaf moves to the entry as well. `on_accept` is called before the
        write. Where the project's folder is missing, asks for the one that it is in now.
        """
        session = self._state.session
        if session is None or self._write.waits_for_summary() or self._write.waits_for_write():
            return
        if moved and self._write.is_read_only():
            return
        show = partial(self._show, session, entry, moved, on_accept)
        about = "you see each file before anything is written"
        in_project_folder(self._view, session, about, show, self._details.settle)

    def _show(
        self, session: Session, entry: int, moved: str, on_accept: Callable[[], object], folder: str
    ) -> None:
        """Shows the files that a restore in a folder would write."""

        def write(choice: RestoreChoice) -> None:
            if choice.plan is None:
                return
            if session is not self._state.session:
                # The entries of the reloaded session have other indexes.
                choice.fail("the session was reloaded meanwhile; nothing was written")
                return
            on_accept()
            work = partial(
                write_files, choice.plan, choice.changes, choice.stop, choice.tell, entry if moved else None
            )
            left = sum(one.path not in choice.chosen for one in choice.files)
            then = f"as at {named(entry)}"
            done = outcome_words(moved, then, choice.changes, len(choice.files), left)
            self._write.start_files(done, work, choice.done, choice.fail)

        title = "Move and restore the files" if moved else "Restore the files"
        choice = RestoreChoice(session, entry, folder, write, appending(session) if moved else "")
        sheet = self._sheet_of(choice, title, f"as at {named(entry)}")
        self._view.open_sheet(sheet, lambda answer: None if answer else self._details.settle())


# --- the choice -------------------------------------------------------------------------------------------------------


class RestorePort(RowChoicePort, Protocol):
    """The sheet as the choice sees it. The key of a row is `file:` and the path."""

    def say(self, text: str) -> None:
        """Shows why a key did nothing; an empty text removes the message."""

    def dismiss(self, answer: str | None, /) -> object:
        """Closes the sheet."""


class RestoreChoice:
    """The files as they were at an entry, and the choice among them.

    Only safe files are chosen beforehand.
    """

    def __init__(
        self,
        session: Session,
        entry: int,
        folder: str,
        write: Callable[[RestoreChoice], object],
        moves: str = "",
    ) -> None:
        """`write` begins to write the chosen files; `moves` is the append that goes with it, empty for none."""
        self.session, self._entry, self.folder, self._write = session, entry, folder, write
        self.view: RestorePort
        """Set by the sheet that shows it."""
        self._jobs: Jobs
        self.moves = moves
        self.plan: RestorePlan | None = None
        self.files: list[RestoredFile] = []
        self.same = 0
        """Number of files that are unchanged already."""
        self.chosen: frozenset[str] = frozenset()
        self.changes: tuple[RestoredFile, ...] = ()
        """The changes to be made."""
        self.state = "reading the recorded calls"
        """The present work; empty where the files are there to choose from."""
        self.problem = ""
        self.writing = False
        self.stop = Event()
        """Set when nothing more of the present write may be written."""
        self.in_diff = False
        """Whether keys go to the diff."""
        self._diffs: dict[str, list[str]] = {}
        self._comparing = ""
        self._safe: frozenset[str] = frozenset()
        self.actions = {
            "restore.toggle": self.toggle,
            "restore.all": self.choose_all,
            "restore.accept": self.accept,
            "pane.next": self.switch_pane,
            "pane.previous": self.switch_pane,
            "mode.leave": self.leave,
            "app.back": self.leave,
        }

    def begin(self, jobs: Jobs) -> None:
        """Begins to plan the changes."""
        self._jobs = jobs
        work = partial(plan_files, self.session, self._entry, self.folder, self.tell)
        self._jobs.latest("restore", work, self._planned, self.fail)

    # --- values -------------------------------------------------------------------------------------------------------

    @property
    def file(self) -> RestoredFile | None:
        """The file of the cursor."""
        path = self.view.key.removeprefix("file:")
        return next((one for one in self.files if one.path == path), None)

    @property
    def operation(self) -> str:
        """The write in words, or why there is none."""
        if self.plan is None or self.writing:
            return ""
        missing = "nothing is chosen" if self._can_choose else "nothing to restore"
        return ", ".join(filter(None, (action_words(self.changes), self.moves))) or missing

    @property
    def _can_choose(self) -> bool:
        """Whether any of the files can be put back."""
        return any(one.is_possible for one in self.files)

    def diff(self) -> Sequence[str] | None:
        """The diff of the file of the cursor; None while it is computed."""
        file = self.file
        if file is None:
            return []
        known = self._diffs.get(file.path)
        if known is None and self._comparing != file.path:
            self._comparing = file.path
            compared = partial(self._compared, file.path)
            self._jobs.latest(
                "diff", partial(diff_of_file, file), compared, lambda why: compared(no_diff(why))
            )
        return known

    # --- progress -----------------------------------------------------------------------------------------------------

    def tell(self, state: str) -> None:
        """Shows the progress."""
        self.state = state
        self.view.draw()

    def fail(self, problem: str) -> None:
        """Shows the problem."""
        self.state, self.problem, self.writing = "", problem, False
        self.view.draw()

    def _planned(self, found: PlannedFiles) -> None:
        self.plan, self.state = found.plan, ""
        self.files, self.same, self._safe = found.files, found.same, found.safe
        self._choose(found.safe)

    def _compared(self, path: str, diff: list[str]) -> None:
        self._diffs[path] = diff
        self.view.draw()

    # --- keys ---------------------------------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Chooses the file of the cursor, or takes it out; then goes to the next."""
        file = self.file
        if self.switch(self.view.key):
            self.view.next_row()
        elif file is not None and not self.writing:
            self.view.say(f"{safe_line(file.path, 60)} cannot be chosen, for the reason above")

    def switch(self, key: str) -> bool:
        """Chooses the file with a key, or takes it out; whether there is one that can be chosen."""
        path = key.removeprefix("file:")
        file = next((one for one in self.files if one.path == path), None)
        if self.writing or file is None or not file.is_possible:
            return False
        self._choose(self.chosen ^ {path})
        return True

    def choose_all(self) -> None:
        """Chooses all safe files, or none."""
        if self.writing:
            return
        if self._safe:
            self._choose(frozenset() if self.chosen == self._safe else self._safe)
        else:
            offered = any(file.is_offered for file in self.files)
            self.view.say("no file is safe" + (": choose one by one" if offered else " to restore"))

    def _choose(self, chosen: frozenset[str]) -> None:
        self.chosen, self.problem = chosen, ""
        self.changes = self.plan.chosen(chosen, overwrite=True) if self.plan is not None and chosen else ()
        self.view.say("")
        self.view.draw()

    def switch_pane(self) -> None:
        """Gives the keys to the diff, or back to the list."""
        self.in_diff = not self.in_diff
        self.view.draw()

    def accept(self) -> None:
        """Writes the chosen files."""
        if self.plan is None or self.writing:
            return
        if not (self.changes or self.moves):
            self.view.say(
                "nothing is chosen: choose a file first" if self._can_choose else "no file can be restored"
            )
            return
        self.writing, self.problem, self.stop = True, "", Event()
        self.state = "copying the files that change"
        self.view.draw()
        self._write(self)

    def leave(self) -> None:
        """Leaves the diff, then the sheet; while files are copied, nothing is written."""
        if self.writing:
            self.stop.set()
        elif self.in_diff:
            self.switch_pane()
        else:
            self.view.dismiss(None)

    def done(self) -> None:
        """Closes the sheet after the write."""
        self.view.dismiss("written")


# --- jobs -------------------------------------------------------------------------------------------------------------


class PlannedFiles(NamedTuple):
    """A plan, in the order in which it is shown."""

    plan: RestorePlan
    files: list[RestoredFile]
    same: int
    """Number of files that are unchanged already."""
    safe: frozenset[str]
    """Paths of the files that are chosen beforehand."""


def plan_files(
    session: Session, entry: int, within: str, progress: Callable[[str], object], job: Job
) -> PlannedFiles:
    """The plan to restore the files at an entry in a folder; `progress` gets its steps. Raises Refused."""
    from leafward.agents.rewrites import refuse_rewritten
    from leafward.files.file_replay.bases import WorkspaceBases
    from leafward.files.restoration.plan import plan_restore
    from leafward.files.restoration.record import interrupted, last_left
    from leafward.files.restoration.write import project_of

    def looked(number: int, total: int) -> None:
        job.report(lambda: progress(f"comparing with the files on disk: {number:,} of {total:,} files"))

    refuse_rewritten(session)
    with project_of(session, within) as folder:
        halfway = interrupted(folder.path)
        if halfway is not None:
            raise Refused(
                f"restore {halfway.number} of this project stopped halfway; undo it first, in the log of its session"
            )
        bases = WorkspaceBases(Path(folder.path))
        plan = plan_restore(
            session,
            EntryIndex(entry),
            folder,
            last_left(folder.path),
            bases.committed,
            bases,
            job.unwanted,
            looked,
        )
    files = listed(plan)
    safe = frozenset(one.path for one in files if one.is_safe)
    return PlannedFiles(plan, files, len(plan.changes) - len(files), safe)


def diff_of_file(change: RestoredFile, job: Job) -> list[str]:
    """Lines of the diff from the file on disk to the restored one."""
    from leafward.branches.diff.patches import restore_diff

    job.unwanted()
    return restore_diff(change)


def no_diff(why: str) -> list[str]:
    """The lines in place of a diff that cannot be made: two for the names of the file, then the reason."""
    return ["", "", f"cannot be compared: {safe_line(why)}"]


def write_files(
    plan: RestorePlan,
    chosen: Sequence[RestoredFile],
    stop: Event,
    progress: Callable[[str], object],
    to: int | None,
    session: Session,
    writing: Writing,
    job: Job,
) -> Write | None:
    """Writes chosen changes of a plan, and moves the leaf to the entry `to`; None leaves it. Raises Refused, OSError.

    `stop` is checked until the first file is written; `progress` gets the steps.
    """
    from leafward.files.restoration.write import last_entry, move_with_files, project_of, restore

    total = len(chosen)

    def copied(number: int) -> None:
        if stop.is_set():
            raise Refused("cancelled; nothing was written")
        words = f"copied {number:,} of {total:,} files" if number < total else f"writing {total:,} files"
        job.report(lambda: progress(words))

    if to is not None:
        return move_with_files(session, to, plan, chosen, writing, copied)
    with project_of(session, plan.folder) as folder:
        restore(folder, session.id, plan.entry, chosen, last_entry(session), copied)
    return None
