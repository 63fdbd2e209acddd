"""Calls that the user did not allow, and what they said instead of allowing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import text_of

if TYPE_CHECKING:
    from leafward.session.entries import Body

DECLINED = "declined"
"""The outcome of a command that the user did not allow."""
_DECLINED = late(
    r"\s*(?:The user (?:doesn't want to (?:proceed with|take) this|rejected permission to use)|(?:\w+ ){0,3}rejected by (?:the )?user\b)"
)
"""The beginning of a result whose call the user did not allow (Claude Code 1.0 to 2.1, opencode 1.18, Codex 0.169)."""
_REASON = late(
    r"(?s)(?:the user said|the following (?:reason|feedback)(?: for the rejection)?):\s*+(?!The user wants to clarify these questions\.)(.+)"
)
"""The user's words, behind that. Claude Code writes a text of its own where they would rather talk about a tool's questions."""
_NOTE = "\n\nNote: The user's next message may contain a correction or preference."
"""The beginning of what Claude Code 2.1 may tell the model behind these words."""


def is_declined(text: str) -> bool:
    """Whether the result of a failed call reports that the user did not allow it."""
    return _DECLINED.match(text) is not None


def reason_in(text: str) -> str | None:
    """The user's words in the result of a declined call; None where there are none."""
    found = _REASON.search(text)
    return found[1].partition(_NOTE)[0] if found is not None else None


def said_against(message: Body) -> str:
    """The user's words in a result whose call they did not allow: a request like any other. Empty in any other message."""
    if message.get("role") != "toolResult" or not message.get("isError"):
        return ""
    text = text_of(message.get("content"))
    return (reason_in(text) or "").strip() if is_declined(text) else ""
