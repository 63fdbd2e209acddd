"""A search as it is typed; the grammar is loaded with the first one that is not empty."""

from __future__ import annotations

from leafward.query.search.query import Query


def parse(text: str, now: int, *, whole: bool = False) -> Query:
    """A query as typed; `now` in milliseconds since 1970. Never fails: see `problems` and `wrong`.

    Where `whole`, it searches all text; else only cards, which have neither patterns nor functions.
    """
    if not text.strip():
        return Query(now=now)
    # The grammar is loaded on the first query, not when sessions are listed.
    from leafward.query.search.conjunction import query_of

    return query_of(text, now, whole=whole)
