"""The X-ray: a compaction before and after, and two summaries compared."""

from __future__ import annotations

from leafward_tui.xray.screen import XRayScreen

__all__ = ["XRayScreen"]
