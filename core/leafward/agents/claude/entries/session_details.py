"""Facts that single rows of a transcript hold about the session as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.claude.entries.records import CHAINED, INHERITS, Role, key_of, orders_in
from leafward.session.headlines.session_title import title_or_none

if TYPE_CHECKING:
    from leafward.session.entries import Body

_NAMES = 64
"""Different session ids and folders that are remembered."""


class SessionDetails:
    """Collects facts about the session from single rows."""

    def __init__(self) -> None:
        self.ids: dict[str, None] = {}
        """Session ids, in order of occurrence."""
        self.others: set[int] = set()
        """The first row of each session but the first."""
        self.folders: dict[str, None] = {}
        self.created: object = None
        self.version: object = None
        self.branch: object = None
        self.agent: str | None = None
        """The sub-agent that the rows belong to."""
        self.title: str | None = None
        self.agent_name: str | None = None
        self.ai_title: str | None = None
        self.summaries: list[tuple[bytes, str]] = []
        self.last_prompt: str | None = None
        self.source: str | None = None
        """The session that rows name as their source."""
        self.copied = -1
        """The row behind the last one that names a source."""
        self.inherits = False
        """Whether a sub-agent goes on in its parent's conversation, and has not yet repeated the reply that started it."""
        self.inherited = -1
        """The row of that reply; -1 without one."""
        self.types: dict[str, int] = {}
        """Unknown types, with the number of their rows."""

    def note(self, body: Body, role: Role, row: int = 0) -> None:
        """Notes the facts of one row."""
        kind = body.get("type")
        if (isinstance(kind, str) and kind in CHAINED) or role in (Role.PROMPT, Role.REPLY):
            self._chained(body, row)
            if self.inherits and role is Role.REPLY:
                self.inherits, self.inherited = False, row
                self.note_prompt(orders_in(body))
        elif role is Role.TITLE:
            self.title = _text(body.get("customTitle")) or self.title
        elif role is Role.BOOKS:
            self._books(kind, body)
        elif role is Role.UNKNOWN:
            self.types[str(kind)] = self.types.get(str(kind), 0) + 1

    def note_prompt(self, prompt: object) -> None:
        """Notes the last prompt."""
        self.last_prompt = _text(prompt) or self.last_prompt

    def _chained(self, body: Body, row: int) -> None:
        session, folder = body.get("sessionId"), body.get("cwd")
        if isinstance(session, str) and session and session not in self.ids and len(self.ids) < _NAMES:
            if self.ids:
                self.others.add(row)
            self.ids[session] = None
        if isinstance(folder, str) and folder and folder not in self.folders and len(self.folders) < _NAMES:
            self.folders[folder] = None
        if self.created is None:
            self.created = body.get("timestamp")
        self.version = body.get("version", self.version)
        self.branch = body.get("gitBranch", self.branch)
        if self.agent is None and body.get("isSidechain") is True and isinstance(body.get("agentId"), str):
            self.agent = body["agentId"]
        copied: Any = body.get("forkedFrom")
        copied = copied.get("sessionId") if isinstance(copied, dict) else body.get("requestSessionId")
        if isinstance(copied, str) and copied:
            self.source = self.source or copied
            self.copied = row + 1

    def _books(self, kind: object, body: Body) -> None:
        if kind == "agent-name":
            self.agent_name = _text(body.get("agentName")) or self.agent_name
        elif kind == "ai-title":
            self.ai_title = title_or_none(body.get("aiTitle") or body.get("title")) or self.ai_title
        elif kind == "summary":
            text = title_or_none(body.get("summary"))
            if text:
                self.summaries.append((key_of(body.get("leafUuid")), text))
        elif kind == INHERITS:
            self.inherits = True
        elif kind == "last-prompt":
            self.note_prompt(body.get("lastPrompt"))


def _text(value: object) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None
