"""Text that nobody typed, added behind a conversation.

Behind a message of a user, Claude Code 2.1 adds a made-up reply before it sends the next prompt, whatever the row says about
itself. An attachment is sent with that prompt, as a reminder, and stays in the conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from leafward.base.times import iso_time

if TYPE_CHECKING:
    from leafward.agents.fork_draft import ForkTerms
    from leafward.session.entries import Body

_SHARED = ("cwd", "gitBranch", "version", "userType", "entrypoint")


def attachment_row(text: str, terms: ForkTerms, session: str, last: Body) -> Body:
    """A row with an added text behind the `last` row, from which it takes folder, branch and version."""
    return {
        "parentUuid": last.get("uuid"),
        "isSidechain": False,
        "attachment": {"type": "critical_system_reminder", "content": text},
        "type": "attachment",
        "uuid": str(uuid4()),
        "timestamp": iso_time(round(terms.now.timestamp() * 1000)),
        "sessionId": session,
        **{name: last[name] for name in _SHARED if name in last},
    }
