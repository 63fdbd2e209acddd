"""The Compare screen: two entries of a session over their common ancestor, in files, contents, contexts, summaries and outcome.

It hands back what is wanted of the explorer, which alone writes.
"""

from __future__ import annotations

from leafward_tui.compare.screen import CompareScreen
from leafward_tui.compare.state import Page

__all__ = ["CompareScreen", "Page"]
