"""A message of opencode's as entries are made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.agents.opencode.storage.records import StoredRow
    from leafward.session.entries import Body


class SpokenMessage(NamedTuple):
    """A message that is being added, with its parts in the order of its records."""

    name: str
    body: Body
    record: int
    """Its own record; those of its parts follow."""
    parts: list[StoredRow]
    decoded: list[Body | None]

    @property
    def low(self) -> int:
        """The record of its first part."""
        return self.record + 1

    @property
    def high(self) -> int:
        """The record behind its last part."""
        return self.low + len(self.parts)
