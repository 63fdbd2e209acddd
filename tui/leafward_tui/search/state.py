"""The query of a search, and its results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.query.search.query import Query
from leafward_tui.search.model.finds import Finds

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.query.search.corpus import Corpus


@dataclass(slots=True)
class LeftSearch:
    """A search that was left, to be shown unchanged on return."""

    text: str = ""
    finds: Finds = field(default_factory=Finds)
    cursor: int = 0
    words: tuple[str, str] = ("", "")
    """Remarks on it: the searched places, and the parts it could not search."""


@dataclass(slots=True)
class SearchState:
    """The state of the search. Written by `SearchRun`."""

    paths: tuple[Path, ...]
    corpus: Corpus | None
    """The sessions to search; None where they are not known yet."""
    typed: str
    text: str = ""
    """The text searched for last."""
    query: Query = field(default_factory=Query)
    searching: bool = False
    words: tuple[str, str] = ("", "")
