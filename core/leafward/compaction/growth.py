"""A compaction that makes the context larger, which nobody compacts for: when that is so, and how it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.division import Diagnostic

__all__ = ["GROWS", "growth_words", "planned_growth"]

GROWS = "grows"
"""The code of the diagnostic."""


def growth_words(before: int, after: int, about: str = "") -> str:
    """That a context of so many tokens becomes larger; empty where it does not. `about` stands before an estimate."""
    if after <= before:
        return ""
    return f"this compaction makes the context larger: {about}{after:,} tokens instead of {before:,}"


def planned_growth(remarks: Sequence[Diagnostic]) -> str:
    """What the diagnostics of a plan say of it; empty where it does not grow the context."""
    return next((one.text for one in remarks if one.code == GROWS), "")
