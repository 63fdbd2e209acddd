"""What is searched for, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.query.search import Query
from leafward_tui.search.model.finds import Finds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from leafward.catalog import Card


@dataclass(slots=True)
class LeftSearch:
    """A search that was left: it stands as it was when one comes back."""

    text: str = ""
    finds: Finds = field(default_factory=Finds)
    cursor: int = 0
    words: tuple[str, str] = ("", "")
    """What was said of it: where it looked, and what it could not do."""


@dataclass(slots=True)
class SearchState:
    """Written by `SearchRun`."""

    paths: tuple[Path, ...]
    cards: Sequence[Card] | None
    """The sessions to search; None where they are not known yet."""
    typed: str
    text: str = ""
    """What was searched for last."""
    query: Query = field(default_factory=Query)
    searching: bool = False
    words: tuple[str, str] = ("", "")
