"""The search of all text: results by session, and each hit in its text.

`SearchScreen` is what others open; it hands back a `LeftSearch`, with which it goes on where it was left.
"""

from __future__ import annotations

from leafward_tui.search.screen import SearchScreen
from leafward_tui.search.state import LeftSearch

__all__ = ["LeftSearch", "SearchScreen"]
