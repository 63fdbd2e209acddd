"""Messages of a context as columns: entry, role and tokens of each, the edit that applies, and whether it is sent."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, overload

from leafward.session.entries import NATIVE_ROLE, NO_ENTRY, Body, EntryIndex, Kind
from leafward.session.messages import NEVER_SENT, edit_message, messages_of

if TYPE_CHECKING:
    from leafward.session.session import Session

ROLE_OF_KIND: dict[int, str] = {
    **NATIVE_ROLE,
    Kind.CUSTOM_MESSAGE: "custom",
    Kind.INJECTED: "custom",
    Kind.BRANCH_SUMMARY: "branchSummary",
    Kind.COMPACTION: "compactionSummary",
}
"""The role of an entry's messages, unless the entry itself records another."""


class LedgerSection(StrEnum):
    """The four parts of the ledger."""

    SYSTEM = "system"
    SUMMARY = "summary"
    KEPT = "kept"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """One message of a context."""

    entry: EntryIndex
    role: str
    """pi's role; `compactionSummary` for the summary of a compaction, `branchSummary` for that of a branch."""
    kind: Kind
    """Kind of the entry that it comes from."""
    tokens: int
    """Estimated tokens."""
    section: LedgerSection
    edited: EntryIndex = NO_ENTRY
    """The context edit that replaced its content; -1 if there is none."""
    sent: bool = True
    """False for messages that pi counts but never sends: a user's `!!` command, or a reply that was aborted or failed."""


class EditInForce(NamedTuple):
    """A context edit that changes what the model receives."""

    entry: EntryIndex
    edit: EntryIndex
    removed: bool
    """Whether the edit leaves nothing of the entry."""
    freed: int
    """Estimated tokens that the edit saves; negative if the new text is longer."""


class Messages(Sequence[ContextMessage]):
    """The messages of a context, in order, as columns; a message object is made only on access."""

    def __init__(self, kinds: bytearray) -> None:
        self.kinds = kinds
        """Kinds of the session's entries."""
        self.entry: array[int] = array("i")
        self.tokens: array[int] = array("i")
        self.first_after = 0
        """Position from which on messages come after the compaction (0 without one)."""
        self.apart: list[int] = []
        """Positions of system messages and of the compaction's summary."""
        self.roles: dict[int, str] = {}
        """Roles that differ from the one of the entry's kind, by position."""
        self.edited: dict[int, EntryIndex] = {}
        """The edit that applies to a message, by position."""
        self.edits: list[EditInForce] = []
        """The edits that apply, in the order of the messages; edits that remove a whole entry are included."""
        self.unsent: set[int] = set()
        """Positions of messages that are counted but not sent."""

    def __len__(self) -> int:
        return len(self.entry)

    def role(self, position: int) -> str:
        """The role of the message at a position."""
        own_role = self.roles.get(position)
        return own_role if own_role is not None else ROLE_OF_KIND.get(self.kinds[self.entry[position]], "")

    def section(self, position: int) -> LedgerSection:
        """The part of the ledger that the message at a position belongs to."""
        role = self.role(position)
        if role == "system":
            return LedgerSection.SYSTEM
        if role == "compactionSummary":
            return LedgerSection.SUMMARY
        return LedgerSection.KEPT if position < self.first_after else LedgerSection.AFTER

    @overload
    def __getitem__(self, position: int) -> ContextMessage: ...
    @overload
    def __getitem__(self, position: slice) -> list[ContextMessage]: ...
    def __getitem__(self, position: int | slice) -> ContextMessage | list[ContextMessage]:
        if isinstance(position, slice):
            return [self[at] for at in range(*position.indices(len(self)))]
        position = range(len(self))[position]
        entry = self.entry[position]
        return ContextMessage(
            EntryIndex(entry),
            self.role(position),
            Kind(self.kinds[entry]),
            self.tokens[position],
            self.section(position),
            self.edited.get(position, NO_ENTRY),
            position not in self.unsent,
        )

    def note(
        self,
        index: EntryIndex,
        message: Body,
        edit: tuple[EntryIndex, object] | None = None,
        broken_off: tuple[str, ...] = (),
    ) -> None:
        """Records the facts about the next message that the columns do not hold."""
        position = len(self)
        role = message.get("role")
        if role != ROLE_OF_KIND.get(self.kinds[index]):
            self.roles[position] = role if isinstance(role, str) else ""
        if edit is not None:
            self.edited[position] = edit[0]
        if role in ("system", "compactionSummary"):
            self.apart.append(position)
        if (role == "assistant" and message.get("stopReason") in broken_off) or (
            message.get("excludeFromContext") if role == "bashExecution" else message.get(NEVER_SENT) is True
        ):
            self.unsent.add(position)


def message_body(session: Session, message: ContextMessage) -> Body:
    """The whole message, decoded now, with edits applied."""
    body = session.body(message.entry) or {}
    for candidate in messages_of(body, message.kind):
        if candidate.get("role", "") == message.role:
            if message.edited >= 0:
                edit = session.body(message.edited) or {}
                return edit_message(candidate, edit.get("replacement")) or {}
            return candidate
    return {}
