"""The Compare screen."""

from __future__ import annotations

from leafward_tui.compare.screen import CompareScreen
from leafward_tui.compare.values import Leaving, Page

__all__ = ["CompareScreen", "Leaving", "Page"]
