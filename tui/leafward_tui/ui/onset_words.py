"""When an agent compacts by itself, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.cells import count

if TYPE_CHECKING:
    from leafward.compaction.onset import Onset


def compacts_at(onset: Onset) -> str:
    """`compacts at about 167.0k`; without `about` where that is certain."""
    return f"compacts at {_about(onset)}{count(onset.tokens, zero='0')}"


def compacts_in(onset: Onset, tokens: int) -> str:
    """`compacts in about 12.4k`: how much more a context of so many tokens takes."""
    return f"compacts in {_about(onset)}{count(onset.tokens - tokens, zero='0')}"


def compacts_now(onset: Onset) -> str:
    """`compacts about now`."""
    return f"compacts {_about(onset)}now"


def _about(onset: Onset) -> str:
    return "about " if onset.about else ""
