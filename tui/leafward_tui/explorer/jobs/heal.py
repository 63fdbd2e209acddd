"""A session that its agent or the provider refuses: what would heal it, and the new session of that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from leafward import agents
from leafward.agents.fork import Terms
from leafward.branches import fork

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.agents import Agent
    from leafward.agents.fork import Draft
    from leafward.base.config import Config
    from leafward.branches.healing import Healing
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job

__all__ = ["Healed", "find_healing", "store_healed"]


class Healed(NamedTuple):
    """What would heal a session, and the new one that would be written; None where there is nothing to heal."""

    found: Healing
    draft: Draft | None
    agent: Agent


def find_healing(session: Session, config: Config, clock: Callable[[], datetime], job: Job) -> Healed:
    """Works out what would heal a session at its leaf. Raises LeafwardError."""
    from leafward.branches.healing import healing, new_session

    job.give_way()
    agent, found = agents.agent_behind(session), healing(session, config, job.unwanted)
    draft = new_session(session, found, Terms(os.environ, config, clock()), agent) if found.changes else None
    return Healed(found, draft, agent)


def store_healed(session: Session, draft: Draft, _job: Job) -> None:
    """Writes the new session, and has its agent import it where it has to. Raises LeafwardError."""
    if draft.imported is None:
        fork.store(session, draft)
    else:
        fork.store_and_import(session, draft, os.environ)
