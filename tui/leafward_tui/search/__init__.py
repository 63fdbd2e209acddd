"""The search of all text: results by session, and each hit in its text."""

from __future__ import annotations

from leafward_tui.search.screen import Kept, SearchScreen

__all__ = ["Kept", "SearchScreen"]
