"""The X-ray screen: what the model saw before a compaction beside what it sees after it, and summaries compared.

It hands back what is wanted of whoever opened it.
"""

from __future__ import annotations

from leafward_tui.xray.screen import XRayScreen

__all__ = ["XRayScreen"]
