"""The sessions of sub-agents that calls of a session made, each with the entry of its call's result and its title."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.base import SessionCandidate
from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe_line
from leafward.session.headlines.session_title import title_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.base import Agent
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_LONGEST = 200
"""Characters of a title."""


class SubAgent(NamedTuple):
    """The session of a sub-agent."""

    entry: EntryIndex
    """The result of the call that made it."""
    path: str
    title: str
    """Its title, safe to show; empty where it cannot be read."""


def sub_agents_of(
    agent: Agent, session: Session, since: int, stop: Callable[[], bool] = lambda: False
) -> tuple[SubAgent, ...]:
    """The sub-agents that calls from the entry `since` on made, in the order of their entries.

    Only the agent's own files count, and only sub-agents whose session still exists.
    """
    found = []
    for entry, path in sorted(agent.spawned(session, since, stop)):
        title = ""
        try:
            size = os.stat(path).st_size if os.path.isfile(path) else 0
            look = agent.peek(SessionCandidate(path, [size, 0], agent.name))
            if look is not None:
                title = look.name or title_or_none(look.title) or look.prompt
        except (OSError, LeafwardError):
            title = ""
        found.append(SubAgent(entry, path, safe_line(title, _LONGEST)))
    return tuple(found)
