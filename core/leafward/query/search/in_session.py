"""The search within one session: entries that hold words, or that a query chooses."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.tool_calls import table_of
from leafward.query.grammar import parse_find
from leafward.query.passages import passages
from leafward.query.search.case_folding import folded
from leafward.query.search.text_match import Phrase
from leafward.query.select.evaluator import members_of
from leafward.query.select.sets import entries as entries_of
from leafward.session.entries import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.session.session import Session

_PUBLISH_EVERY = 0.25
"""Seconds between two publications of hits."""


class EntryHits(NamedTuple):
    """The result of a search."""

    entries: Sequence[int]
    """In the order of the file."""
    places: Sequence[int] = ()
    """The number of hits in each of them; empty where a query chose the entries."""
    by_query: bool = False
    """Whether a query chose them."""


def find(
    session: Session,
    text: str,
    stop: Callable[[], bool],
    publish: Callable[[EntryHits], object],
    *,
    literal: bool = False,
) -> EntryHits:
    """Entries that hold a text, or that it chooses where it is a query and not `literal`.

    A text matches prompts, replies, calls, results and summaries, case ignored; `publish` receives the hits so far at most
    four times a second. A stopped search returns its hits so far. Raises Cancelled, QueryError.
    """
    expression = None if literal else parse_find(text)
    if expression is not None:
        members = members_of(session, expression, stop)
        return EntryHits([int(entry) for entry in entries_of(members)], by_query=True)
    phrase = Phrase(text)
    found: list[int] = []
    places: list[int] = []
    published = time.monotonic()
    kinds, table = session.columns.kind, table_of(session)
    for number, (index, body) in enumerate(session.bodies(range(len(session)))):
        if body is not None and (
            count := sum(
                len(phrase.spans(folded(passage.text)))
                for passage in passages(body, Kind(kinds[index]), table)
            )
        ):
            found.append(index)
            places.append(count)
        if number % 256 == 0:
            if stop():
                break
            if time.monotonic() - published >= _PUBLISH_EVERY:
                published = time.monotonic()
                publish(EntryHits(list(found), list(places)))
    return EntryHits(found, places)
