"""Screens that close once, whatever was typed or clicked before they had closed."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType

__all__ = ["ClosesOnce"]


class ClosesOnce(Screen[ScreenResultType]):
    """A screen with a result, given once.

    Textual pops whichever screen is on top each time a screen is dismissed, and calls back each time: a second enter that was
    queued behind the first would close the screen below, or end the application.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Closes with a result; nothing where it is closed already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        return super().dismiss(result)
