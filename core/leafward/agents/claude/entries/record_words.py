"""Plain words for Claude Code's own records and for the context it adds: what a screen shows in place of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafward.session.entries import Body

_WORDS = {
    "api-request": "request to the model",
    "api-request-blob": "text that requests share",
    "api-request-shape": "settings that requests share",
    "queue-operation": "change of the prompt queue",
    "file-history-snapshot": "state of the files, for a rewind",
    "file-history-delta": "state of a file, for a rewind",
    "deferred_tools_delta": "tools that are loaded on demand",
    "agent_listing_delta": "kinds of sub-agents",
    "mcp_instructions_delta": "instructions of MCP servers",
    "skill_listing": "skills",
    "total_tokens_reminder": "token budget",
}


def with_words(body: Body) -> Body:
    """A record or an added message with plain words for its name, where there are any."""
    words = _WORDS.get(str(body.get("customType")).rpartition(".")[2])
    return {**body, "says": words} if words else body
