"""What the blame knows beside the lines on show. Written by `BlameReading`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from leafward.branches.reason import Reason
    from leafward.catalog import Card


@dataclass(slots=True)
class BlameState:
    """The file, and what was read of its authors."""

    path: Path
    cards: Sequence[Card] | None
    """All sessions; None where they are still to be looked for."""
    session: Path | None = None
    """The session that it was opened from: it counts, whether it lies in a store or not."""
    reasons: dict[int, Reason | str] = field(default_factory=dict)
    """By author: what the turn was for, or why that cannot be read."""
    problem: str = ""
    """Why there are no lines."""
