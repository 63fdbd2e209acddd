"""Searches of sessions: by their cards on every key press, and by all text in them."""

from __future__ import annotations

from leafward.query.search.cards import Shelf, matches
from leafward.query.search.query import Query

__all__ = ["Query", "Shelf", "matches", "parse"]


def parse(text: str, now: int, *, whole: bool = False) -> Query:
    """A query as typed; `now` in milliseconds since 1970. Never fails: see `problems` and `wrong`.

    Where `whole`, it searches all text; else only cards, which have neither patterns nor functions.
    """
    if not text.strip():
        return Query(now=now)
    # The grammar is loaded on the first query, not when sessions are listed.
    from leafward.query.search.conjunction import query_of

    return query_of(text, now, whole=whole)
