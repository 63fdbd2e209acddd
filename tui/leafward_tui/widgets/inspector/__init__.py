"""The right pane of the explorer: pure builders of pages, and the widget that shows them."""

from __future__ import annotations

from leafward_tui.widgets.inspector.model import Gauge, Line, Page, Selection, SelectionKind, Span, Tab
from leafward_tui.widgets.inspector.pages import build
from leafward_tui.widgets.inspector.widget import Inspector

__all__ = ["Gauge", "Inspector", "Line", "Page", "Selection", "SelectionKind", "Span", "Tab", "build"]
