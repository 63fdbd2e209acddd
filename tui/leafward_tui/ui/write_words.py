"""What a write appends and what it did, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entry_headline import place_words

if TYPE_CHECKING:
    from leafward.session.journal import Remark
    from leafward.session.session import Session


def book_words(session: Session) -> str:
    """What a line is appended to; short, as it stands beside the keys of a sheet that may be 80 cells wide."""
    return "the session's file" if session.is_native else "Leafward's own file"


def remark_words(remark: Remark) -> str:
    """A remark on a write as the price line says it: of a preview only whose it is, which has room in 80 cells with its keys."""
    return "only in Leafward" if remark.code == "what-if" else remark.text


def line_words(session: Session, line: int) -> str:
    """Which line of which file an entry is."""
    if session.is_kept(line):
        return f"#{line}, kept by Leafward beside the agent's files"
    of_the_file = " of the file" if session.is_native else ""
    return f"#{line}{of_the_file}, at {place_words(session, line)}"


def named(entry: int) -> str:
    """An entry as it is named on the screen."""
    return f"#{entry}" if entry >= 0 else "the beginning"


def appending(session: Session, what: str = "") -> str:
    """What a write appends."""
    line = f"1 line, {what}," if what else "1 line"
    return f"append {line} to {book_words(session)}"
