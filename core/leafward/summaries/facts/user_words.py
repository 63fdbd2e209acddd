"""What the user said, wherever they typed it: in a prompt, or instead of allowing a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import text_of
from leafward.session.messages import as_typed
from leafward.summaries.facts.calls.declined_calls import said_against

if TYPE_CHECKING:
    from leafward.session.entries import Body


def user_words(message: Body) -> str | None:
    """The user's words in a message; None in a message of anybody else."""
    typed = as_typed(message)
    if typed.get("role") == "user":
        return text_of(typed.get("content"))
    return said_against(typed) or None
