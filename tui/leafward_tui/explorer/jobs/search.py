"""The search of a session: entries that hold words, or that a query chooses."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.tool_calls import table_of
from leafward.query.grammar import parse_find
from leafward.query.search.case_folding import folded
from leafward.query.search.passages import passages
from leafward.query.search.text_match import Phrase
from leafward.query.select import members_of
from leafward.query.select.sets import entries as entries_of
from leafward.session.entries import Kind
from leafward_tui.explorer.jobs.session import PUBLISH_EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.session.session import Session
    from leafward_tui.ui.services import Job


class Found(NamedTuple):
    """What a search found."""

    entries: Sequence[int]
    """In the order of the file."""
    by_query: bool = False
    """Whether a query chose them."""


def find(session: Session, text: str, literal: str, found_more: Callable[[Found], object], job: Job) -> Found:
    """Entries that hold a text or, where it asks for more than that and is not `literal`, that it chooses.

    Raises Cancelled, QueryError.
    """
    expression = parse_find(text) if text != literal else None
    if expression is not None:
        members = members_of(session, expression, job.unwanted)
        return Found([int(entry) for entry in entries_of(members)], by_query=True)
    return Found(
        search(session, text, job.unwanted, lambda some: job.report(partial(found_more, Found(some))))
    )


def search(
    session: Session, text: str, stop: Callable[[], bool], publish: Callable[[list[int]], object]
) -> list[int]:
    """Entries whose full text holds `text`, case ignored: prompts, replies, calls, results and summaries.

    `publish` hears what was found so far at most four times a second.
    """
    wanted = Phrase(text)
    found: list[int] = []
    reported = time.monotonic()
    kinds, table = session.columns.kind, table_of(session)
    for number, (index, body) in enumerate(session.bodies(range(len(session)))):
        if body is not None and any(
            wanted.is_in(folded(passage.text)) for passage in passages(body, Kind(kinds[index]), table)
        ):
            found.append(index)
        if number % 256 == 0:
            if stop():
                break
            if time.monotonic() - reported >= PUBLISH_EVERY:
                reported = time.monotonic()
                publish(list(found))
    return found
