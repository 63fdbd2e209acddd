"""The agents we know, by name. Everything above asks here and knows none of them itself."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from leafward.agents.base import (
    Agent,
    Candidate,
    Glimpse,
    Listing,
    Resume,
    Stamp,
    Touch,
    Trouble,
    own_variables,
)
from leafward.agents.claude import Claude
from leafward.agents.codex import Codex
from leafward.agents.pi import Pi
from leafward.errors import NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.config import Config

HEAD_SIZE = 4096
"""Bytes that are enough to recognise a session file."""

_AGENTS: tuple[Agent, ...] = (Pi(), Codex(), Claude())
_BY_NAME = {agent.name: agent for agent in _AGENTS}


def all_agents() -> tuple[Agent, ...]:
    """Every agent, the native one first."""
    return _AGENTS


def native() -> Agent:
    """The agent whose format is ours: what opens a file that nobody recognises."""
    return _AGENTS[0]


def agent_named(name: str) -> Agent:
    """An agent by name. Raises NotFound with the nearest name."""
    found = _BY_NAME.get(name)
    if found is None:
        close = get_close_matches(name, _BY_NAME, 1, 0.4)
        raise NotFound(
            f"no agent {name!r}; known: {', '.join(_BY_NAME)}"
            + (f" (did you mean {close[0]}?)" if close else "")
        )
    return found


def recognised(head: bytes) -> Agent | None:
    """The agent that a file beginning with these bytes belongs to; None where no agent knows it."""
    return next((agent for agent in _AGENTS if agent.recognises(head)), None)


def agent_of(path: Path) -> Agent:
    """The agent of a session file, by its first bytes; the native one where none knows it or it cannot be read."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return recognised(file.read(HEAD_SIZE)) or native()
    except OSError:
        return native()
    return native()


def unknown_roots(config: Config) -> list[str]:
    """Names under `[roots]` that are no agents, each with the nearest one that is, ready to be shown."""
    found = []
    for name in config.roots:
        if name not in _BY_NAME:
            close = get_close_matches(name, _BY_NAME, 1, 0.4)
            found.append(f"roots.{name}: no such agent" + (f" (did you mean {close[0]!r}?)" if close else ""))
    return found


__all__ = [
    "HEAD_SIZE",
    "Agent",
    "Candidate",
    "Glimpse",
    "Listing",
    "Resume",
    "Stamp",
    "Touch",
    "Trouble",
    "agent_named",
    "agent_of",
    "all_agents",
    "native",
    "own_variables",
    "recognised",
    "unknown_roots",
]
