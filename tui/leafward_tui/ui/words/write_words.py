"""Words for the lines that a write appends and for its effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY
from leafward.session.headlines.entry_headline import place_words
from leafward.session.lines.line_decoding import CURRENT_VERSION

if TYPE_CHECKING:
    from leafward.session.journal.write import Write, WriteRemark
    from leafward.session.session import Session


def book_words(session: Session) -> str:
    """The name of the file that a line is appended to; short, for a place beside the keys of a sheet 80 cells wide."""
    if not session.is_native:
        return "Leafward's own file"
    becomes = f" (becomes version {CURRENT_VERSION})" if session.version < CURRENT_VERSION else ""
    return f"the session's file{becomes}"


_BRIEF = {
    "what-if": "only in Leafward",
    "two-prompts": "your next prompt follows a prompt",
    "migrates": f"the file is of version {CURRENT_VERSION} now, the old one is in the backups",
}
"""Short forms of longer remarks, by their code."""


def remark_words(remark: WriteRemark) -> str:
    """A remark on a write for the price line, in few words, which fit beside its keys in 80 cells."""
    return _BRIEF.get(remark.code, remark.text)


def leaf_words(session: Session, written: Write) -> str:
    """The leaf's place after an undo or redo, not that of the undone operation; empty where the leaf did not move."""
    if written.leaf == written.from_leaf:
        return ""
    index = session.columns.index(written.leaf) if written.leaf is not None else NO_ENTRY
    place = session.tree.content_at(index)
    return f"the leaf is at {named(place)}" if place >= 0 else "the leaf is before everything"


def entry_words(session: Session, entry: int) -> str:
    """The number and place of an entry; a file has its head before the first, so the number is not that of a line."""
    if session.is_kept(entry):
        return f"#{entry:,}, kept by Leafward beside the agent's files"
    of_the_file = " of the file" if session.is_native else ""
    return f"#{entry:,}, at {place_words(session, entry)}{of_the_file}"


def named(entry: int) -> str:
    """The name of an entry on the screen."""
    return f"#{entry:,}" if entry >= 0 else "the beginning"


def appending(session: Session, what: str = "") -> str:
    """The lines that a write appends, in words."""
    line = f"1 line, {what}," if what else "1 line"
    return f"append {line} to {book_words(session)}"
