"""Times as they are shown in the panes."""

from __future__ import annotations

from leafward_tui.moments import moment

__all__ = ["moment"]
