"""Queries that a user types: of sessions, or of the entries of one. A query that cannot be read is shown with the place."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from leafward.base.errors import Refused
from leafward.base.safe_text import safe_line
from leafward.cli.output.page import cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.query.grammar import Expression
    from leafward.query.lexer import QueryError
    from leafward.query.search.query import Query
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_AROUND = 36
"""Code points of a query that are shown on each side of an error."""


class UnreadableQuery(click.UsageError):
    """Raised for a query that cannot be read; the lines of `below` show the place."""

    def __init__(self, query: str, error: QueryError) -> None:
        super().__init__(str(error))
        begin = max(0, error.column - _AROUND)
        # A space at the end is kept, so that the mark is in the right column.
        before = ("... " if begin else "") + safe_line(f"{query[begin : error.column]}^")[:-1]
        rest = safe_line(query[error.column : error.column + _AROUND])
        self.below = f"{before}{rest}".rstrip(), " " * cells(before) + "^"


def session_query(text: str, *, whole: bool = False) -> Query:
    """A parsed query of sessions, or of all their text. Raises UnreadableQuery if a part of it would be ignored."""
    from leafward.query.search.typed_query import parse

    query = parse(text, time.time_ns() // 1_000_000, whole=whole)
    if query.broken_part is not None:
        raise UnreadableQuery(text, query.broken_part)
    return query


def expression_of(query: str) -> Expression:
    """A parsed query of entries. Raises UnreadableQuery."""
    from leafward.query.grammar import parse
    from leafward.query.lexer import QueryError

    try:
        return parse(query)
    except QueryError as error:
        raise UnreadableQuery(query, error) from error


def chosen_entries(session: Session, query: str) -> frozenset[int]:
    """The entries that a query matches. Raises UnreadableQuery."""
    from leafward.query.lexer import QueryError
    from leafward.query.select.evaluator import select

    try:
        return frozenset(select(session, query))
    except QueryError as error:
        raise UnreadableQuery(query, error) from error


def named_or_chosen(session: Session, named: Sequence[str], query: str | None) -> list[EntryIndex]:
    """The named entries, and those that a query matches. Raises a usage error if there is neither, and Refused if none matches."""
    from leafward.session.entries import EntryIndex

    if not named and query is None:
        raise click.UsageError("name entries, or select them with --select QUERY")
    found = [session.find(one) for one in named]
    if query is not None:
        found += sorted(map(EntryIndex, chosen_entries(session, query)))
        if not found:
            raise Refused("no entry matches the query")
    return list(dict.fromkeys(found))
