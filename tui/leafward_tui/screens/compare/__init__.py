"""The Compare screen."""

from __future__ import annotations

from leafward_tui.screens.compare.screen import CompareScreen
from leafward_tui.screens.compare.values import Leaving, Page

__all__ = ["CompareScreen", "Leaving", "Page"]
