"""The file of the session: whether it has changed, and reading it anew."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import EntryIndex
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.ui.screens.session_watch import NOT_IN_IT, SessionWatch

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward_tui.lab.controllers.path import PathReader
    from leafward_tui.ui.jobs import Job


class SessionFile(LabController):
    """Owns `state.file`."""

    def __init__(self, means: LabMeans, path: PathReader) -> None:
        super().__init__(means)
        self._path = path
        self.watch = SessionWatch(
            means.state.session,
            means.state.file.since,
            means.view,
            means.services.keymap,
            advice="the session has changed: reload it before you accept",
        )
        self.actions = {"session.reload": self.reload}

    def look(self) -> None:
        """Checks whether the file has changed; costs one stat. Nothing is read: plan and draft stay unchanged."""
        if not (self._state.append.running or self._state.file.reading):
            self.watch.look()

    def reload(self) -> None:
        """Reads the new lines of the file, and measures again; the choices stay."""
        state = self._state
        if state.busy or state.drafts.amending:
            self._view.tell(state.busy or "counting what survives the edit; read again in a moment", "warn")
            return
        state.file.reading = True
        self._path.forget()
        self._jobs.also("read", partial(reread, state.session, state.entry), self._reread, self._failed)

    def _reread(self, again: Reread) -> None:
        self._state.file.reading = self._state.file.since.changed = False
        if again.entry is None:
            self._path.fail(NOT_IN_IT)
            return
        self._state.entry = again.entry
        self._view.tell("reloaded" if again.changed else "the session has not changed", "leaf")
        self._path.measure()

    def _failed(self, text: str) -> None:
        self._state.file.reading = False
        self._path.go_on()
        self._view.tell(text, "bad")


class Reread(NamedTuple):
    """A session that was read anew."""

    entry: EntryIndex | None
    """The new place of an entry; None where it is gone."""
    changed: bool
    """Whether anything in the session is new."""


def reread(session: Session, entry: int, _job: Job) -> Reread:
    """Reads the file anew. Raises LeafwardError."""
    name = session.columns.id(entry) if entry >= 0 else ""
    growth = session.refresh()
    if growth is not None and growth.replaced and name:
        entry = session.columns.index(name)
        return Reread(EntryIndex(entry) if entry >= 0 else None, changed=True)
    return Reread(EntryIndex(entry), changed=growth is not None)
