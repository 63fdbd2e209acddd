"""What a change of the session does, in words: where the leaf goes, what is appended, what a move leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.cells import count, counted
from leafward_tui.ui.write_target import book_words

if TYPE_CHECKING:
    from leafward.context.price import Price
    from leafward.session.session import Session

__all__ = ["appending", "left_words", "named"]


def named(entry: int) -> str:
    """An entry as it is named on the screen."""
    return f"#{entry}" if entry >= 0 else "the beginning"


def appending(session: Session, what: str = "") -> str:
    """What a write appends."""
    line = f"1 line, {what}," if what else "1 line"
    return f"append {line} to {book_words(session)}"


def left_words(entries: int, price: Price | None) -> str:
    """What a summary would stand for, as far as it is known by now."""
    words = f"summarises {counted(entries, 'entry', 'entries')}"
    if price is not None and price.left.entries == entries:
        # Less than the tokens that the move drops: a summary is not made from system prompts and summaries of compactions.
        words += f", {count(price.left.summarisable)} tokens"
    return words
