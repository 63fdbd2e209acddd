"""What is appended to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.journal import Writing

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.session.journal import Write
    from leafward.session.session import Session
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.services import Job

    Change = Callable[[Session, Writing], Write | None]
    """Appends something to a session, at the time that is given with it; None where it changed files only."""


class NamedChange:
    """An undo or redo that tells which operation it was about: `undid: label [done]`."""

    def __init__(self, change: Callable[[Session, Writing], Write], verb: str, glyphs: Glyphs) -> None:
        self._change = change
        self._glyphs = glyphs
        self._verb = verb
        self._about = ""

    def __call__(self, session: Session, writing: Writing) -> Write:
        """Appends the change; the operation is looked up here, in the job. Raises LeafwardError."""
        from leafward.files.restoration import restores_of
        from leafward.session.journal import operations
        from leafward_tui.ui.operation_text import OperationText

        log = operations(session)
        written = self._change(session, writing)
        found = next((one for one in log if one.op == written.undoes), None)
        if found is not None:
            operation_text = OperationText(session, log, self._glyphs)
            root = operation_text.root(found)
            self._about = operation_text.short(root)
            if any(one.move == root.op for one in restores_of(session)):
                self._about += "; the files stay as they are"
        return written

    def done(self) -> str:
        """What it did, once it was written."""
        return f"{self._verb}: {self._about}" if self._about else self._verb


def append(session: Session, change: Change, clock: Callable[[], datetime], _job: Job) -> Write | None:
    """Appends a change to a session. Raises LeafwardError."""
    return change(session, Writing(now=clock))
