"""The compaction lab: what a compaction at some point would do, before and without doing it."""

from __future__ import annotations

from leafward_tui.lab.screen import LabScreen

__all__ = ["LabScreen"]
