"""The attempts at one request to a model: what is asked next, and what was left out for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafward.summaries.summarizers.model.requests import Ask


@dataclass(slots=True)
class Attempts:
    """The attempts at one request."""

    ask: Ask
    """What is asked in the next one."""
    items: int
    """The number of items of the first one."""
    failed: int = 0
    shrinks: int = 0
    """How often it was made shorter."""
    gone: int = 0
    """The number of items that were left out by that."""
    reason: str = ""
    """Why the last one failed."""

    def shorten(self, part: float) -> None:
        """Leaves that part of the items out of the next one, the oldest (see `Ask.shorter`)."""
        self.shrinks += 1
        self.ask, dropped = self.ask.shorter(part)
        self.gone += dropped

    def left_out(self) -> str:
        """What was left out, as the beginning of a sentence."""
        what = "summaries of parts" if self.ask.merges else "messages"
        if self.gone:
            return f"the oldest {self.gone:,} of {self.items:,} {what} were"
        return "the beginning of the message was"
