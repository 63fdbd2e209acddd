"""Messages that cross the borders of a screen. A message that only one widget posts is defined in that widget."""

from __future__ import annotations

from textual.message import Message


class IntentPressed(Message):
    """Something that names an intent was clicked; the screen runs its action."""

    def __init__(self, intent_id: str) -> None:
        super().__init__()
        self.intent_id = intent_id
