"""Where a session opens: the entry that a search found, or the first place to look."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.session.entries import EntryId


class OpenTarget(NamedTuple):
    """Where somebody comes to in a session: an entry that a search found."""

    entry: EntryId
    words: str = ""
    """What is searched for there at once; empty where nothing is."""
    in_turn: bool = False
    """Whether the entry is seen only where each has a row of its own."""
