"""The parent session: named in the head, with the row where a fork begins, and opened by a key."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.session.entries import BOOKKEEPING, Kind
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.title import is_subagent

if TYPE_CHECKING:
    from leafward.session.entries import EntryId
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.session_loader import SessionLoader
    from leafward_tui.ui.jobs import Job

_SILENT = BOOKKEEPING | {Kind.INJECTED}
"""Kinds that are not part of the dialogue: a fork begins after them."""


class ParentSession(ExplorerController):
    """Owns `state.parent_title` and `state.own_from`."""

    def __init__(self, means: ExplorerMeans, loader: SessionLoader, navigation: Navigation) -> None:
        super().__init__(means)
        self._loader = loader
        self._navigation = navigation
        self.actions = {"session.parent": self._open}

    @property
    def _path(self) -> str:
        """The path or the id of the parent, as the session records it; empty where it records none."""
        found = self._state.session.header.get("parentSession") if self._state.session is not None else None
        return found if isinstance(found, str) else ""

    def look(self) -> None:
        """Reads the title of the parent, and the first entry of a fork that the parent does not hold.

        A read under way goes on: a session may grow faster than its parent is read.
        """
        self._jobs.after("parent", self._look)

    def _look(self) -> None:
        from leafward.agents.recognition import is_there

        session, path = self._state.session, self._path
        if session is None or self._state.parent_title or not is_there(path):
            return
        # Without the parent's title the head still shows the relation.
        self._jobs.latest(
            "parent", partial(parent_at, session, Path(path)), self._take, lambda _problem: None
        )

    def _take(self, parent: Parent) -> None:
        state = self._state
        state.parent_title, state.own_from = parent.title, parent.own_from
        self._loader.show_title()
        if parent.own_from is not None:
            self._navigation.lay_out()

    def _open(self) -> None:
        """Opens the parent on top of this session; leaving it comes back here."""
        from leafward.agents.recognition import is_there

        path = self._path
        if not path:
            self._view.tell("it is not known which session this one came from", "warn")
        elif not is_there(path):
            self._view.tell(f"the session that this one came from is missing: {safe_line(path, 200)}", "warn")
        else:
            # A fork may have a parent of another agent, which the parent's file tells.
            self._services.screens.session(Path(path))


class Parent(NamedTuple):
    """Facts about the parent of a session."""

    title: str
    own_from: EntryId | None = None
    """The first entry of the fork that the parent does not hold; None where there is none, and for a sub-agent's."""


def parent_at(session: Session, path: Path, job: Job) -> Parent:
    """The parent of `session`, at a path. Raises LeafwardError, OSError."""
    from leafward.agents.recognition import agent_of
    from leafward.session.headlines.session_title import title_of

    job.unwanted()
    with closing(agent_of(path).open(path, job.unwanted)) as parent:
        title = safe_line(title_of(parent) or path.stem, 200)
        return Parent(title, None if is_subagent(session) else _own_from(session, parent))


def _own_from(session: Session, parent: Session) -> EntryId | None:
    """The first entry of the conversation in a fork after the ones at its beginning that its parent holds too."""
    columns, at = session.columns, session.inherited
    if not at:
        ids = map(columns.id, range(len(session)))
        at = next((entry for entry, one in enumerate(ids) if parent.columns.index(one) < 0), len(session))
    own = range(at, len(session)) if at else ()
    return next((columns.id(entry) for entry in own if columns.kind[entry] not in _SILENT), None)
