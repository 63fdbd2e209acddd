"""The explorer: a session as a tree, what its entries say, and where the leaf would go."""

from __future__ import annotations

from leafward_tui.explorer.screen import ExplorerScreen

__all__ = ["ExplorerScreen"]
