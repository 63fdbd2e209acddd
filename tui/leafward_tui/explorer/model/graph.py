"""Where the rows of a session's tree stand: the same layout as the command line's."""

from __future__ import annotations

from leafward.session.row_layout import DAMAGED, MARKS, Branch, Density, Layout, arrange

__all__ = ["DAMAGED", "MARKS", "Branch", "Density", "Layout", "arrange"]
