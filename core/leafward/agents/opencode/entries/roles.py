"""The sources of a session's entries, and the kinds of entries."""

from __future__ import annotations

from enum import IntEnum

from leafward.agents.opencode.storage import newer_engine as newer
from leafward.session.entries import Kind


class Role(IntEnum):
    """The source of an entry."""

    USER = 0
    INJECTED = 1
    """A message that opencode itself added: the model answers it."""
    REQUEST = 2
    """A user message that asks for a compaction."""
    REPLY = 3
    RESULT = 4
    SUMMARY = 5
    SYSTEM = 6
    PRUNED = 7
    DROPPED = 8
    REVERT = 9
    OTHER = 10
    """A message of an unknown role."""
    PART = 11
    """A part of an unknown type."""
    BROKEN = 12
    BROKEN_PART = 13
    ADDED = 14
    """opencode's addition to a message of the user."""
    SHELL = 15
    """A command that the user ran; in the newer engine a message of its own."""
    AGENT = 16
    MODEL = 17
    """Another agent, another model from here on; in the newer engine messages of their own."""
    COMMAND = 18
    """The message ahead of a command that the user ran: the command is in the reply behind it."""


KINDS = {
    Role.USER: Kind.USER,
    Role.INJECTED: Kind.CUSTOM_MESSAGE,
    Role.ADDED: Kind.INJECTED,
    Role.REQUEST: Kind.INJECTED,
    Role.REPLY: Kind.ASSISTANT,
    Role.RESULT: Kind.TOOL_RESULT,
    Role.SUMMARY: Kind.COMPACTION,
    Role.SYSTEM: Kind.SYSTEM,
    Role.PRUNED: Kind.CONTEXT_EDIT,
    Role.DROPPED: Kind.CONTEXT_EDIT,
    Role.REVERT: Kind.UNKNOWN,
    Role.OTHER: Kind.UNKNOWN,
    Role.PART: Kind.UNKNOWN,
    Role.BROKEN: Kind.MALFORMED,
    Role.BROKEN_PART: Kind.MALFORMED,
    Role.SHELL: Kind.BASH,
    Role.COMMAND: Kind.USER,
    Role.AGENT: Kind.CUSTOM,
    Role.MODEL: Kind.MODEL_CHANGE,
}
OF_ITS_OWN = {newer.SHELL: Role.SHELL, newer.AGENT_SWITCHED: Role.AGENT, newer.MODEL_SWITCHED: Role.MODEL}
"""Messages of the newer engine that are one entry, by the name of their role."""
OF_PARTS = frozenset({Role.RESULT, Role.PART, Role.BROKEN_PART})
"""Entries that begin with a part, not with its message."""
EDITS = frozenset({Role.PRUNED, Role.DROPPED})
"""Entries that change earlier ones."""
