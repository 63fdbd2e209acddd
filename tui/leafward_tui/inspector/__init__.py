"""The right pane of the explorer: pure builders of pages, and the widget that shows them."""

from __future__ import annotations

from leafward_tui.inspector.model.pages import build
from leafward_tui.inspector.pane import Inspector
from leafward_tui.ui.page import Gauge, Line, Page, Selection, SelectionKind, Tab

__all__ = ["Gauge", "Inspector", "Line", "Page", "Selection", "SelectionKind", "Tab", "build"]
