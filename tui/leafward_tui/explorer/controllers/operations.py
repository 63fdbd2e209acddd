"""Operations on rows and the session: labels, the name, archived branches; undo, redo and the log."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.session.entries import EntryIndex
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.ui.words.write_words import appending, leaf_words, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.restoration.undo_step import StepBack
    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.followed_file import FollowedFile
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.ui.appearance.glyphs import Glyphs


class Operations(ExplorerController):
    """Asks for the content of an operation, writes it, and shows the outcome."""

    def __init__(
        self, means: ExplorerMeans, write: SessionWrite, followed: FollowedFile, navigation: Navigation
    ) -> None:
        super().__init__(means)
        self._write = write
        self._followed = followed
        self._navigation = navigation
        self.actions = {
            "operation.undo": self.undo,
            "operation.redo": self._redo,
            "label.edit": self._edit_label,
            "name.edit": self._edit_name,
            "branch.archive": self._archive,
            "log.open": self._open_log,
        }

    def undo(self, op: str | None = None) -> None:
        """Undoes an operation, without an id the last one, by appending its inverse; restores of files with it too."""
        self._undo(Undo(op, self._services.glyphs))

    def _undo(self, change: Undo) -> None:
        write = self._write
        if not (write.waits_for_summary() or write.is_read_only() or write.waits_for_write()):
            write.start(change.done, change, on_error=partial(self._not_undone, change))

    def _not_undone(self, change: Undo, problem: str) -> None:
        """Shows why nothing was undone; where files are the reason, offers to undo the rest without them."""
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        step, session = change.kept, self._state.session
        if step is None or step.operation is None or session is None or not self._view.on_top:
            self._view.tell(problem, "bad", self._view.key_hints(("log.open", "operations")))
            return
        operation, effect = step.operation, "the files stay as they are now"
        undo = partial(self._undo, Undo(operation.op, self._services.glyphs, files=False))
        choice = Choice("m", "Undo the move only", effect, appending(session), act=undo)
        self._view.open_sheet(ChoiceSheet("Undo", [choice], [SheetLine(problem, "bad", lines=4)]))

    def _redo(self) -> None:
        """Redoes the last undone operation."""
        change = Redo(self._services.glyphs)
        self._write.start(change.done, change)

    def _edit_label(self) -> None:
        """Asks for the label of the row under the cursor."""
        exploration, row = self._state.exploration, self._view.tree.row
        if exploration is None or row < 0:
            return
        session = exploration.session
        spans = exploration.layout.entries_of(row)
        labelled = [entry for entry in session.labels if any(entry in span for span in spans)]
        self.ask_label(EntryIndex(labelled[0] if labelled else exploration.layout.head[row]))

    def ask_label(self, target: EntryIndex, proposed: str = "") -> None:
        """Asks for the label of an entry; `proposed` stands in the field where the entry has none."""
        from leafward.session.journal.session_operations import label
        from leafward_tui.ui.sheets.sheet import TextSheet

        session = self._state.session
        if session is None or self._write.is_read_only() or self._write.waits_for_summary():
            return
        before = session.labels.get(target, "")

        def done(text: str | None) -> None:
            if text is None or text.strip() == before:
                return
            self._write.start_typed((target,), partial(write, text.strip()))

        def write(text: str, found: Sequence[int]) -> None:
            (at,) = found
            what = f"labelled {named(at)}" if text else f"removed the label of {named(at)}"
            self._write.start(what, lambda it, writing: label(it, at, text, writing))

        sheet = TextSheet(
            "Label",
            before or proposed,
            note=named(target),
            placeholder="label (empty removes it)",
            operation_of=lambda _text: appending(session),
            survives_change=True,
        )
        self._view.open_sheet(sheet, done)

    def _edit_name(self) -> None:
        """Asks for the session's name."""
        from leafward.session.journal.session_operations import rename
        from leafward_tui.ui.sheets.sheet import TextSheet

        session = self._state.session
        if session is None or self._write.is_read_only() or self._write.waits_for_summary():
            return
        before = session.name or ""

        def done(text: str | None) -> None:
            if text is not None and text.strip() != before:
                self._write.start_typed((), partial(write, text))

        def write(text: str, _found: Sequence[int]) -> None:
            what = "named" if text.strip() else "removed the name"
            self._write.start(what, lambda it, writing: rename(it, text, writing))

        sheet = TextSheet(
            "Name of this session",
            before,
            placeholder="name (empty removes it)",
            operation_of=lambda _text: appending(session),
            survives_change=True,
        )
        self._view.open_sheet(sheet, done)

    def _archive(self) -> None:
        """Archives the branch under the cursor, or brings it back; nothing of it is removed."""
        from leafward.session.journal.session_operations import archive

        exploration, line, write = self._state.exploration, self._view.tree.line, self._write
        if exploration is None or line is None or write.is_read_only():
            return
        if write.waits_for_summary() or write.waits_for_write():
            return
        layout = exploration.layout
        branch = layout.branches[layout.branch_of(line.row)]
        first = branch.first_entry
        if layout.on_path(first):
            text = "the active path cannot be archived: move the leaf to another branch first"
            self._view.tell(text, "warn")
            return
        archived = first in exploration.findings.archived
        rows = layout.branch_rows[layout.branch_of(line.row)] - branch.first_row
        verb = "unarchived" if archived else "archived"
        exploration.opened.discard(first)
        write.start(
            f"{verb} the branch at {named(first)}, {counted(rows, 'row')}",
            lambda it, writing: archive(it, first, not archived, writing),
        )

    def _open_log(self) -> None:
        """Shows the operations on this session."""
        visit = None if self._write.waits_for_write() else self._followed.visit()
        if visit is None:
            return

        def done(entry: int | None) -> None:
            if self._followed.is_same(visit):
                self._followed.show_grown(visit)
                if entry is not None:
                    self._navigation.show_entry(entry)

        self._services.screens.log(visit.session, done)


class Redo:
    """The redo of the operation undone last; knows its effect in words."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._about = ""

    def __call__(self, session: Session, writing: Writing) -> Write:
        """Redoes the operation, which is looked up here, in the job. Raises LeafwardError."""
        from leafward.files.restoration.undo_step import restores_of
        from leafward.session.journal.operation_log import operations
        from leafward.session.journal.session_operations import redo
        from leafward_tui.ui.words.operation_text import OperationText

        log = operations(session)
        written = redo(session, writing)
        found = next((one for one in log if one.op == written.undoes), None)
        if found is not None:
            operation_text = OperationText(session, log, self._glyphs)
            root = operation_text.root(found)
            self._about = "; ".join(filter(None, (operation_text.short(root), leaf_words(session, written))))
            if any(one.move == root.op for one in restores_of(session)):
                self._about += "; the files stay as they are"
        return written

    def done(self) -> str:
        """The effect in words, once it is written."""
        return f"redid: {self._about}" if self._about else "redid"


class Undo:
    """The undo of an operation, and of the restore that belongs to it; knows its effect in words."""

    def __init__(self, op: str | None, glyphs: Glyphs, *, files: bool = True) -> None:
        self._op = op
        self._glyphs = glyphs
        self._files = files
        self._words: list[str] = []
        self.kept: StepBack | None = None
        """The step that cannot be undone because of its files."""

    def __call__(self, session: Session, writing: Writing) -> Write | None:
        """Undoes the operation. Raises LeafwardError."""
        from leafward.files.restoration.undo_step import step_back, take_back
        from leafward.session.journal.operation_log import operations
        from leafward_tui.ui.words.operation_text import OperationText

        step = step_back(session, self._op)
        log = operations(session)
        self.kept = step if step.restore is not None and self._files else None
        done = take_back(session, step, writing, files=self._files)
        self.kept = None
        if done.write is not None:
            found = next((one for one in log if one.op == done.write.undoes), None)
            text = OperationText(session, log, self._glyphs)
            self._words.append(text.short(text.root(found)) if found is not None else "")
            self._words.append(leaf_words(session, done.write))
        if done.files is not None:
            self._words.append(put_back_words(len(done.files.paths), done.files.record.number))
        elif step.restore is not None:
            self._words.append("the files stay as they are")
        return done.write

    def done(self) -> str:
        """The effect in words, once it is done."""
        words = "; ".join(filter(None, self._words))
        return f"undid: {words}" if words else "undid"


def put_back_words(files: int, number: int) -> str:
    """The effect of the undo of a restore, in words."""
    from leafward.base.figures import counted

    return f"restore {number} ({counted(files, 'file')} put back)"
