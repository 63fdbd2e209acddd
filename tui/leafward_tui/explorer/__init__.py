"""The explorer: a session as a tree, the content of its entries, and the effect of a move of the leaf."""

from __future__ import annotations

from leafward_tui.explorer.screen import ExplorerScreen

__all__ = ["ExplorerScreen"]
