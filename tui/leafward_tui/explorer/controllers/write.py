"""The one road for writing to the session: one change at a time, in a job, with its effect shown."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.ui.words.write_words import remark_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.followed_file import FollowedFile
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.ui.jobs import Job

    Done = str | Callable[[], str]
    """The effect of a change, in words; some know it only once it is written."""
    Change = Callable[[Session, Writing], Write | None]
    """Appends to a session at the given time; None where only files changed."""
    FilesChange = Callable[[Session, Writing, Job], Write | None]
    """Changes files, and may append something too; reports its progress through the job."""


_SUMMARY = "a summary of this session is still being made"
_CHANGE = "another change is still being written"


class SessionWrite(ExplorerController):
    """Appends to the session, and alone sets whether a write is under way."""

    def __init__(self, means: ExplorerMeans, followed: FollowedFile, navigation: Navigation) -> None:
        super().__init__(means)
        self._followed = followed
        self._navigation = navigation

    # --- obstacles ----------------------------------------------------------------------------------------------------

    def waits_for_summary(self) -> bool:
        """Whether a summary is being made, for which all writes wait; shows so, and the key that cancels it."""
        if self._state.summary is None:
            return False
        self._view.refuse(_SUMMARY, self._view.key_hints(("mode.leave", "cancel")))
        return True

    def is_read_only(self) -> bool:
        """Whether nothing can be written to the session; shows why, before anything is asked."""
        why = self._why_not()
        if why:
            self._view.tell(why, "bad")
        return bool(why)

    def _why_not(self) -> str:
        """The reason why nothing can be written now; permissions may have changed since the session was read."""
        from leafward.session.journal.open_file import why_unwritable

        session = self._state.session
        if session is None or self._state.refusal:
            return f"read only: {self._state.refusal}" if self._state.refusal else ""
        return why_unwritable(session)

    def waits_for_write(self) -> bool:
        """Whether a change is being written, or what others wrote is being read, for which another change waits; shows so."""
        if self._state.busy:
            reads = "what was added to the file is still being read; try again in a moment"
            self._view.tell(
                "the last change is still being written" if self._state.writing else reads, "warn"
            )
        return self._state.busy

    # --- writing ------------------------------------------------------------------------------------------------------

    def start(
        self,
        done: Done,
        change: Change,
        then: Callable[[], object] | None = None,
        on_error: Callable[[str], object] | None = None,
    ) -> None:
        """Writes a change unless one is under way; `done` is its effect in words, `then` is called after it.

        `on_error` gets the reason where nothing was written; without it the reason is shown.
        """
        session = self._state.session
        if session is None or self.waits_for_summary() or self.is_read_only() or self.waits_for_write():
            if on_error is not None:
                on_error(self._why_not() or (_SUMMARY if self._state.summary else _CHANGE))
            return
        self._state.writing = True
        self._jobs.also(
            "write",
            partial(append, session, change, self._services.clock),
            partial(self._end, session, done, then, None),
            partial(self._fail, session, on_error),
        )

    def start_typed(self, entries: Sequence[int], begin: Callable[[list[int]], object]) -> None:
        """Begins the write of what was typed in a sheet; `begin` gets the present indexes of some entries.

        Nothing is read while a sheet is open. Where the agent went on meanwhile, that is read first: a refusal would lose
        what was typed.
        """
        session = self._state.session
        if session is not None and (self._state.growing or session.changed_on_disk()):
            self._followed.reread(entries, begin)
        else:
            begin(list(entries))

    def start_files(
        self,
        done: str,
        change: FilesChange,
        ended: Callable[[], object],
        on_error: Callable[[str], object],
    ) -> None:
        """Changes files, and the session with them, unless a change is under way; calls `ended`, then shows `done`."""
        session = self._state.session
        if session is None or self.waits_for_write():
            on_error(_CHANGE)
            return
        self._state.writing = True
        self._jobs.also(
            "write",
            partial(change_files, session, change, self._services.clock),
            partial(self._end, session, done, None, ended),
            partial(self._fail, session, on_error),
        )

    def _end(
        self,
        session: Session,
        done: Done,
        then: Callable[[], object] | None,
        ended: Callable[[], object] | None,
        written: Write | None,
    ) -> None:
        self._state.writing = False
        if ended is not None:
            ended()
        text = done if isinstance(done, str) else done()
        if written is not None:
            self.show(session, written, text, then)
        elif session is self._state.session:
            # Nothing was appended: only files changed.
            self._view.tell(text, "leaf")
        else:
            session.close()

    def _fail(self, session: Session, on_error: Callable[[str], object] | None, problem: str) -> None:
        self._state.writing = False
        if on_error is not None:
            on_error(problem)
        else:
            unread = not self._state.following and session.changed_on_disk()
            keys = self._view.key_hints(("follow.toggle", "reads what is new")) if unread else ()
            self._view.tell(problem, "bad", keys)
        if session is not self._state.session:
            session.close()
        self._followed.look(problem if on_error is None else "")

    def show(
        self, session: Session, written: Write, done: str, then: Callable[[], object] | None = None
    ) -> None:
        """Shows a write to a session. Where another session was opened meanwhile, that one stays on show."""
        from leafward.session.journal.operation_log import OperationKind

        if session is not self._state.session:
            session.close()
            self._followed.look()
            return
        if not written.changed:
            self._view.tell("nothing to change")
            return
        moved = written.kind in (
            OperationKind.MOVE,
            OperationKind.SUMMARY_MOVE,
            OperationKind.COMPACT,
            OperationKind.GRAFT,
            OperationKind.MERGE,
        )
        before = self._navigation.head_here()
        self._followed.show_changed(to_leaf=moved)
        parts = [done, *map(remark_words, written.remarks)]
        tail = ""
        if written.recent and then is None:
            words, tail = reopening(session)
            parts.append(words)
        if written.kind is OperationKind.EXAM:
            # No agent reads an exam, and there is nothing to undo.
            self._view.tell(done, "leaf")
            if then is not None:
                then()
            return
        undone = written.kind is OperationKind.UNDO
        keys = self._view.key_hints(
            ("operation.redo", "redo") if undone else ("operation.undo", "undo"),
            *([("session.fork", "new session")] if moved and session.what_if else []),
        )
        self._view.tell(
            "; ".join(parts),
            "warn" if written.remarks else "leaf",
            keys,
            stays=moved and self._navigation.head_here() != before,
            tail=tail,
        )
        if then is not None:
            then()


def reopening(session: Session) -> tuple[str, str]:
    """Words on how a running agent gets to see a write, and the command: it holds its own leaf in memory."""
    from leafward.agents.recognition import agent_behind

    agent = agent_behind(session)
    try:
        command = agent.resume(session, os.environ).command()
    except LeafwardError:
        return "restart the agent to pick this up", ""
    return f"restart {agent.title} to pick this up", f": {command}"


def append(session: Session, change: Change, clock: Callable[[], datetime], _job: Job) -> Write | None:
    """Appends a change to a session; None where it changed nothing. Raises LeafwardError."""
    from leafward.session.journal.write import Writing

    return change(session, Writing(now=clock))


def change_files(
    session: Session, change: FilesChange, clock: Callable[[], datetime], job: Job
) -> Write | None:
    """Changes files, and the session with them; None where only files changed. Raises LeafwardError, OSError."""
    from leafward.session.journal.write import Writing

    return change(session, Writing(now=clock), job)
