"""Healing of a session that cannot go on: the changes are shown, and the healed session opened."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.explorer.controllers.controller import (
    ExplorerController,
    ExplorerMeans,
    tell_began,
    tell_not_begun,
)
from leafward_tui.explorer.project_folder_sheet import in_project_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.agents.base import Agent
    from leafward.agents.fork_draft import ForkDraft
    from leafward.base.config import Config
    from leafward.branches.healing.healing import Healing
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job


class Heal(ExplorerController):
    """Shows the changes that would heal the session, and writes the new one."""

    def __init__(self, means: ExplorerMeans) -> None:
        super().__init__(means)
        self.actions = {"session.heal": self._find}

    def look(self) -> None:
        """Checks whether a damaged session has anything to heal, behind a check under way: only then is the key offered."""
        self._jobs.after("healable", self._look)

    def _look(self) -> None:
        session = self._state.session
        if session is None or not session.columns.damaged:
            self._offer(wanted=False)
            return
        work = partial(is_healable, session)
        self._jobs.latest("healable", work, lambda found: self._offer(wanted=found), lambda _problem: None)

    def _offer(self, *, wanted: bool) -> None:
        if self._state.healable != wanted:
            self._state.healable = wanted
            self._view.show_hints()

    def _find(self) -> None:
        session = self._state.session
        if session is None:
            return
        self._find_in(session, session.cwd)

    def _find_in(self, session: Session, folder: str) -> None:
        self._view.tell("looking for what a provider would reject", "faint")
        services = self._services
        work = partial(find_healing, session, folder, services.config, services.clock)
        self._jobs.latest("heal", work, partial(self._show, session), self._view.fail)

    def _show(self, session: Session, healed: Healed) -> None:
        from leafward_tui.explorer.heal_sheet import HealSheet

        if healed.draft is None:
            text, tone = "nothing to heal: no message breaks a known rule of the providers", "leaf"
            if session.columns.damaged:
                text, tone = "nothing to heal for a provider; leafward doctor names what is damaged", "warn"
            obstacle = healed.found.obstacle
            self._view.tell(obstacle.text if obstacle else text, "warn" if obstacle else tone)
            return
        if not self._view.on_top or session is not self._state.session:
            keys = self._view.key_hints(("session.heal", "asks for it again"))
            self._view.tell("the result is not shown: something else was opened", "warn", keys)
            return
        self._view.tell("")
        if not os.path.isdir(healed.draft.resume.cwd):
            about = "the new session works in this folder"
            in_project_folder(self._view, session, about, partial(self._find_in, session), lambda: None)
            return
        self._view.open_sheet(
            HealSheet(healed.found, healed.draft, healed.agent.title), partial(self._begin, session, healed)
        )

    def _begin(self, session: Session, healed: Healed, answer: str | None) -> None:
        draft = healed.draft
        if answer is None or draft is None:
            return
        self._view.tell("writing", "faint")
        work = partial(store_healed, session, draft)
        services, view = self._services, self._view
        # An import takes seconds: it goes on, and tells how it ended, when the explorer is left.
        services.lasting_jobs.also(
            "heal", work, partial(self._open, healed), partial(tell_not_begun, services, view)
        )

    def _open(self, healed: Healed, _none: None) -> None:
        draft = healed.draft
        text = f"began a session of {healed.agent.title}: {draft.path.name}" if draft is not None else ""
        if draft is not None and tell_began(self._services, self._view, text):
            self._services.screens.session(draft.path, healed.agent.name)


class Healed(NamedTuple):
    """The changes that heal a session, and the draft of the new one; None where there is nothing to heal."""

    found: Healing
    draft: ForkDraft | None
    agent: Agent


def is_healable(session: Session, job: Job) -> bool:
    """Whether healing would change something of a session at its leaf. Raises LeafwardError."""
    from leafward.branches.healing.healing import healing

    job.unwanted()
    return bool(healing(session, stop=job.unwanted).changes)


def find_healing(
    session: Session, folder: str, config: Config, clock: Callable[[], datetime], job: Job
) -> Healed:
    """Works out the changes that heal a session at its leaf, for a new session in a folder. Raises LeafwardError."""
    from leafward.agents.fork_draft import ForkTerms
    from leafward.agents.recognition import agent_behind
    from leafward.branches.healing.healing import healing, new_session

    job.unwanted()
    agent, found = agent_behind(session), healing(session, config, job.unwanted)
    terms = ForkTerms(os.environ, config, clock(), cwd="" if folder == session.cwd else folder)
    draft = new_session(session, found, terms, agent) if found.changes else None
    return Healed(found, draft, agent)


def store_healed(session: Session, draft: ForkDraft, _job: Job) -> None:
    """Writes the new session, and has its agent import it where it has to. Raises LeafwardError."""
    from leafward.branches import fork

    if draft.imported is None:
        fork.store(session, draft)
    else:
        fork.store_and_import(session, draft, os.environ)
