"""The compaction lab: the effect of a compaction at some point, before and without compacting."""

from __future__ import annotations

from leafward_tui.lab.screen import LabScreen

__all__ = ["LabScreen"]
