"""What a change of the session does, in words: where the leaf goes, what is appended, what a move leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.write_target import book_words

if TYPE_CHECKING:
    from leafward.session.session import Session

__all__ = ["appending", "named"]


def named(entry: int) -> str:
    """An entry as it is named on the screen."""
    return f"#{entry}" if entry >= 0 else "the beginning"


def appending(session: Session, what: str = "") -> str:
    """What a write appends."""
    line = f"1 line, {what}," if what else "1 line"
    return f"append {line} to {book_words(session)}"
