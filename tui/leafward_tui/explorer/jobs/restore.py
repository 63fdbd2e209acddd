"""Files of the project put back: worked out, shown as diffs, written together with a move, and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Refused
from leafward.session.entries import EntryIndex
from leafward.session.journal import Writing
from leafward_tui.explorer.model.restore_lines import is_safe, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from threading import Event

    from leafward.files.restoration import FileChange, RestorePlan, StepBack
    from leafward.session.journal import Write
    from leafward.session.session import Session
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.services import Job


class PlannedFiles(NamedTuple):
    """A plan, in the order in which it is shown."""

    plan: RestorePlan
    files: list[FileChange]
    same: int
    """Files that are as they were already."""
    safe: frozenset[str]
    """Paths of those that are chosen beforehand."""


def plan_files(session: Session, entry: int, told: Callable[[str], object], job: Job) -> PlannedFiles:
    """What restoring the files at an entry would do; `told` hears how far it is. Raises Refused."""
    from leafward.files.file_replay import WorkspaceBases
    from leafward.files.restoration import interrupted, last_left, plan_restore, project_of

    def looked(number: int, total: int) -> None:
        job.report(lambda: told(f"comparing with what lies on disk: {number:,} of {total:,} files"))

    with project_of(session) as folder:
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
    safe = frozenset(one.path for one in files if is_safe(one))
    return PlannedFiles(plan, files, len(plan.changes) - len(files), safe)


def diff_of_file(change: FileChange, job: Job) -> list[str]:
    """Lines of the diff from what lies on disk to what would be written."""
    from leafward.branches.diff.patches import restore_diff

    job.give_way()
    return restore_diff(change)


class FileWrite(NamedTuple):
    """What is written."""

    plan: RestorePlan
    chosen: Sequence[FileChange]
    to: int | None
    """The entry that the leaf moves to as well; None where it stays."""
    stop: Event
    """Set where nothing is to be written any more; heeded until the first file is."""
    told: Callable[[str], object]
    """Hears how far it is."""


def write_files(session: Session, wish: FileWrite, clock: Callable[[], datetime], job: Job) -> Write | None:
    """Writes chosen changes of a plan, and moves the leaf where that is wanted. Raises Refused, OSError."""
    from leafward.files.restoration import move_with_files, project_of, restore
    from leafward.files.restoration.operation import last_entry

    entry, chosen, total = wish.plan.entry, wish.chosen, len(wish.chosen)

    def copied(number: int) -> None:
        if wish.stop.is_set():
            raise Refused("cancelled; nothing was written")
        words = f"copied {number:,} of {total:,} files" if number < total else f"writing {total:,} files"
        job.report(lambda: wish.told(words))

    if wish.to is not None:
        return move_with_files(session, wish.to, entry, chosen, Writing(now=clock), copied)
    with project_of(session) as folder:
        restore(folder, session.id, entry, chosen, last_entry(session), copied)
    return None


class Undo:
    """The undo of an operation, and of the restore that belongs to it; says what it did."""

    def __init__(self, op: str | None, glyphs: Glyphs, *, files: bool = True) -> None:
        self._op = op
        self._glyphs = glyphs
        self._files = files
        self._words: list[str] = []
        self.kept: StepBack | None = None
        """What cannot be taken back with its files."""

    def __call__(self, session: Session, writing: Writing) -> Write | None:
        """Takes it back. Raises LeafwardError."""
        from leafward.files.restoration import step_back, take_back
        from leafward.session.journal import operations
        from leafward_tui.ui.operation_text import OperationText

        step = step_back(session, self._op)
        log = operations(session)
        self.kept = step if step.restore is not None and self._files else None
        done = take_back(session, step, writing, files=self._files)
        self.kept = None
        if done.write is not None:
            found = next((one for one in log if one.op == done.write.undoes), None)
            text = OperationText(session, log, self._glyphs)
            self._words.append(text.short(text.root(found)) if found is not None else "")
        if done.files is not None:
            self._words.append(put_back_words(len(done.files.paths), done.files.record.number))
        elif step.restore is not None:
            self._words.append("the files stay as they are")
        return done.write

    def done(self) -> str:
        """What it did, once it was done."""
        words = "; ".join(filter(None, self._words))
        return f"undid: {words}" if words else "undid"


def put_back_words(files: int, number: int) -> str:
    """What the undo of a restore did."""
    from leafward_tui.ui.cells import counted

    return f"restore {number}, {counted(files, 'file')} put back"
