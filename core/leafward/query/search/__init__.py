"""Finding sessions: by their cards on every key press, and by all the text in them."""

from __future__ import annotations

from leafward.query.search.cards import Match, Shelf, matches
from leafward.query.search.query import PARTS, TERMS, TEXT_TERMS, Query, QueryProblem, parse

__all__ = [
    "PARTS",
    "TERMS",
    "TEXT_TERMS",
    "Match",
    "Query",
    "QueryProblem",
    "Shelf",
    "matches",
    "parse",
]
