"""The session that this one came from: named in the head of a sub-agent's, and opened by a key."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward_tui.explorer.model.title import is_subagent

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents import Agent
    from leafward_tui.explorer.controllers.session_loader import SessionLoader
    from leafward_tui.explorer.ports import ExplorerView
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.services import AppServices, Job, Jobs


class ParentSession:
    """Owns `state.parent_title`."""

    def __init__(
        self,
        state: ExplorerState,
        view: ExplorerView,
        services: AppServices,
        jobs: Jobs,
        loader: SessionLoader,
    ) -> None:
        self._state = state
        self._view = view
        self._services = services
        self._jobs = jobs
        self._loader = loader
        self.actions: dict[str, Callable[[], object]] = {"session.parent": self._open}

    @property
    def _path(self) -> str:
        """The path or the id of the parent, as the session says it; empty where it says none."""
        found = self._state.session.header.get("parentSession") if self._state.session is not None else None
        return found if isinstance(found, str) else ""

    def look(self) -> None:
        """Reads what the parent of a sub-agent's session is called."""
        from leafward.agents import agent_behind, is_there

        session, path = self._state.session, self._path
        if session is None or not is_subagent(session) or self._state.parent_title or not is_there(path):
            return
        work = partial(title_at, agent_behind(session), Path(path))
        # Without its name the head still says that it is a sub-agent's.
        self._jobs.latest("parent", work, self._name, lambda _problem: None)

    def _name(self, title: str) -> None:
        self._state.parent_title = title
        self._loader.show_title()

    def _open(self) -> None:
        """The parent on top of this session; leaving it comes back here."""
        from leafward.agents import agent_behind, is_there

        session, path = self._state.session, self._path
        if session is None:
            return
        if not path:
            self._view.tell("no session is known that this one came from", "warn")
        elif not is_there(path):
            self._view.tell(
                f"the session that this one came from is not here: {safe_line(path, 200)}", "warn"
            )
        else:
            self._services.screens.session(Path(path), agent_behind(session).name)


def title_at(agent: Agent, path: Path, job: Job) -> str:
    """What the session at a path is called. Raises LeafwardError, OSError."""
    from leafward.session.session_title import title_of

    job.give_way()
    with closing(agent.open(path, job.unwanted)) as session:
        return safe_line(title_of(session) or path.stem, 200)
