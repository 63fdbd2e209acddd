"""The place where a session opens: the entry that a search found, or the first place to look."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.session.entries import EntryId


class OpenTarget(NamedTuple):
    """A place to open in a session: an entry that a search found."""

    entry: EntryId
    words: str = ""
    """Words to search for at once in the session; empty for none."""
    in_turn: bool = False
    """Whether the entry is visible only where each entry has a row of its own."""
