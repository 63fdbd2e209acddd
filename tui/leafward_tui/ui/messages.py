"""Messages that cross the borders of a screen. What a widget posts is defined in the widget."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

__all__ = ["IntentPressed"]


@dataclass(eq=False, repr=False)
class IntentPressed(Message):
    """Something that names an intent was clicked; the screen runs its action."""

    intent_id: str
