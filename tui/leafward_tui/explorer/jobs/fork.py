"""New sessions: where they may end, what would be written, and the writing of it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from leafward import agents
from leafward.base.errors import LeafwardError
from leafward.branches import fork
from leafward_tui.explorer.model import forks

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.agents import Agent
    from leafward.base.config import Config
    from leafward.branches.fork import Fork, ForkPoint
    from leafward.compaction.branch_summary import BranchDraft
    from leafward.session.session import Session
    from leafward_tui.explorer.model.forks import Folder, ForkWish
    from leafward_tui.ui.services import Job


class ForkPoints(NamedTuple):
    """Where each agent's new session would end, and in which folder it would work."""

    wish: ForkWish
    own: str
    """The agent of the session itself."""
    cuts: dict[str, ForkPoint]
    folder: Folder
    copied: bool
    """Whether its own agent's would be a copy."""


class RefusedFolder(NamedTuple):
    """No new session can work in the folder that was typed, and why."""

    wish: ForkWish
    problem: str


def find_cuts(session: Session, wish: ForkWish, job: Job) -> ForkPoints | RefusedFolder:
    """Where new sessions may end. Raises LeafwardError."""
    job.give_way()
    try:
        if wish.cwd:
            wish = replace(wish, cwd=fork.folder_named(wish.cwd, os.environ))
    except LeafwardError as error:
        return RefusedFolder(wish, str(error))
    folder = forks.folder_at(wish.cwd or session.cwd)
    cuts = fork.cuts(session, wish.entry)
    own = agents.agent_behind(session).name
    return ForkPoints(wish, own, cuts, folder, fork.is_copy(session, cuts[own]))


def draft_fork(
    session: Session,
    wish: ForkWish,
    target: Agent,
    summary: BranchDraft | None,
    config: Config,
    clock: Callable[[], datetime],
    job: Job,
) -> Fork:
    """A new session that would be written. Raises LeafwardError."""
    from leafward.compaction.injection.configured import configured_settings

    job.give_way()
    injection = configured_settings(config) if wish.inject else None
    terms = fork.Terms(os.environ, config, clock(), cwd=wish.cwd)
    return fork.fork(session, wish.entry, target, terms, injection=injection, summary=summary)


def store_fork(session: Session, made: Fork, then: str, _job: Job) -> str:
    """Writes a new session, and imports it where that is wanted; returns the problem, empty where there is none."""
    try:
        if then in ("i", "r"):
            fork.store_and_import(session, made.draft, os.environ)
        else:
            fork.store(session, made.draft)
    except (LeafwardError, OSError) as error:
        return str(error)
    return ""
