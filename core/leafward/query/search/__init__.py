"""Finding sessions: by their cards on every key press, and by all the text in them."""

from __future__ import annotations

from leafward.query.search.cards import Match, Shelf, matches
from leafward.query.search.query import Query, parse

__all__ = ["Match", "Query", "Shelf", "matches", "parse"]
