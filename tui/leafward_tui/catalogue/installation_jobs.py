"""What Leafward would put into the agents' files, or take out of them, and the writing of it: beside the screen. May raise LeafwardError."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.export.installation import Change
    from leafward_tui.ui.services import Job

__all__ = ["AgentFile", "agent_files", "write_change"]


class AgentFile(NamedTuple):
    """What can be done in one agent."""

    name: str
    title: str
    installed: bool
    change: Change | None
    """The installation, or where that is done the removal."""
    refused: str
    """Why neither can be done."""


def agent_files(_job: Job) -> tuple[AgentFile, ...]:
    """Every agent that can run Leafward around a compaction."""
    from leafward import agents
    from leafward.base.errors import LeafwardError
    from leafward.export.installation import installation, is_installed, removal

    found = []
    for agent in agents.all_agents():
        installed = is_installed(agent.name)
        change, refused = None, ""
        try:
            change = removal(agent.name) if installed else installation(agent.name)
        except LeafwardError as error:
            refused = str(error)
        found.append(AgentFile(agent.name, agent.title, installed, change, refused))
        if change is not None and change.installs:
            with suppress(LeafwardError):
                # Most agents take no summary from elsewhere, and refuse.
                change = installation(agent.name, summary=True)
                title = f"{agent.title}, with summaries"
                found.append(AgentFile(agent.name, title, installed, change, ""))
    return tuple(found)


def write_change(change: Change, _job: Job) -> Change:
    """Writes what was shown. Raises Refused where the file changed since."""
    from leafward.export.installation import apply

    apply(change)
    return change
