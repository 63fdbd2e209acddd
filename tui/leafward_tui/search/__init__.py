"""The search of all text: results by session, and each hit in its text.

`SearchScreen` is the entrance for other features; it hands back a `LeftSearch`, with which the next one goes on.
"""

from __future__ import annotations

from leafward_tui.search.screen import SearchScreen
from leafward_tui.search.state import LeftSearch

__all__ = ["LeftSearch", "SearchScreen"]
