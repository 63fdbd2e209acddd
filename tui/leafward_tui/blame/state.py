"""The state of the blame besides the lines on show. Written by `BlameReading`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward_tui.ui.screens.session_watch import FileState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from leafward.branches.line_reason import Reason
    from leafward.catalogue.cards.card import Card


@dataclass(slots=True)
class BlameState:
    """The file, and the reasons read for its authors."""

    path: Path
    cards: Sequence[Card] | None
    """All sessions; None where they are still to be looked for."""
    session: Path | None = None
    """The session that it was opened from: it counts even where it lies in no store."""
    reasons: dict[int, Reason | str] = field(default_factory=dict)
    """By author: the purpose of the turn, or why that cannot be read."""
    problem: str = ""
    """The reason why there are no lines."""
    file: FileState = field(default_factory=lambda: FileState("file"))
